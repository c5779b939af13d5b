// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the course of a window to JSON and back. */
#include "hv/report/json/window_json.h"

#define NS_PER_US 1000u

/*
 * Returns the time in microseconds, rounded up: rounded down, a time below 1 us would become 0, and 0 means that there was no
 * hold, or no watchpoint.
 */
static json_t *us_json(uint64_t ns)
{
	return json_whole(ns / NS_PER_US + (ns % NS_PER_US != 0));
}

json_t *window_json(struct json_builder *b, const struct race_window *window)
{
	json_t *o = json_object(), *times = json_array();

	for (uint32_t i = 0; i < window->returns && i < RACE_RETURNS_MAX; i++)
		json_append(b, times, json_whole(window->return_ns[i] / NS_PER_US));
	json_put(b, o, "hold_us", us_json(window->hold_ns));
	json_put(b, o, "watched_us", window->watched_ns ? us_json(window->watched_ns) : json_null());
	json_put(b, o, "returns", json_whole(window->returns));
	json_put(b, o, "return_us", times);
	return o;
}

static uint64_t read_us(struct json_reader *r, const json_t *o, const char *key)
{
	return json_read_number(r, o, key, INT64_MAX / NS_PER_US) * NS_PER_US;
}

/*
 * Read the times at which the held context returned from an interrupt to its access. Their number must be min(returns,
 * RACE_RETURNS_MAX), and no time may be earlier than the time before it.
 */
static void read_returns(struct json_reader *r, const json_t *o, struct race_window *window)
{
	const json_t *times = json_read_array(r, o, "return_us", RACE_RETURNS_MAX);
	size_t n = json_array_size(times);

	window->returns = (uint32_t)json_read_number(r, o, "returns", UINT32_MAX);
	if (times && n != (window->returns < RACE_RETURNS_MAX ? window->returns : RACE_RETURNS_MAX)) {
		json_read_wrong(r, "return_us", "as long as the number of returns says");
		window->returns = 0;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		json_int_t us = json_integer_value(json_array_get(times, i));

		if (!json_is_integer(json_array_get(times, i)) || us < 0 || us > INT64_MAX / NS_PER_US ||
		    (i && (uint64_t)us * NS_PER_US < window->return_ns[i - 1]))
			json_read_wrong(r, "return_us", "a list of times in their order");
		else
			window->return_ns[i] = (uint64_t)us * NS_PER_US;
	}
}

void window_read(struct json_reader *r, const json_t *race, struct race_window *window)
{
	const json_t *o;

	*window = (struct race_window){0};
	o = json_read_optional(race, "window") ? json_read_object(r, race, "window") : NULL;
	if (!o)
		return;
	window->known = true;
	window->hold_ns = read_us(r, o, "hold_us");
	window->watched_ns = json_read_optional(o, "watched_us") ? read_us(r, o, "watched_us") : 0;
	read_returns(r, o, window);
}
