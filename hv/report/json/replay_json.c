// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the results of running a race in both orders to JSON and back. */
#include "hv/report/json/replay_json.h"

#include <stdio.h>

#include "hv/report/replay.h"

static const char *const count_keys[REPLAY_OUTCOMES] = {
	[REPLAY_NO_STATE_CHANGE] = "no_state_change",
	[REPLAY_STATE_CHANGE] = "state_change",
	[REPLAY_FAILURE] = "replay_failure",
};

static const char *const byte_keys[2] = {"first_order", "second_order"};

/* ---- writing ---- */

static json_t *region_json(struct json_builder *b, const struct replay_region *region)
{
	json_t *o = json_object();

	json_put(b, o, "end", json_string(replay_end_word(region->end)));
	json_put(b, o, "instructions", json_whole(region->instructions));
	return o;
}

json_t *replay_order_json(struct json_builder *b, const struct replay_order *order)
{
	json_t *o = json_object(), *regions = json_array();

	for (int i = 0; i < 2; i++)
		json_append(b, regions, region_json(b, &order->regions[i]));
	json_put(b, o, "regions", regions);
	json_put(b, o, "machine", json_string(replay_machine_word(order->machine)));
	json_put(b, o, "trouble", json_clean(order->trouble, sizeof(order->trouble)));
	return o;
}

static json_t *difference_json(struct json_builder *b, const struct replay_difference *difference)
{
	bool memory = !difference->is_register;
	json_t *o = json_object();

	json_put(b, o, "name", json_clean(difference->name, sizeof(difference->name)));
	json_put(b, o, "register_of", memory ? json_null() : json_integer(difference->side));
	json_put(b, o, "physical", memory ? json_hex(difference->gpa) : json_null());
	json_put(b, o, "address", memory && difference->gva ? json_hex(difference->gva) : json_null());
	for (int i = 0; i < 2; i++)
		json_put(b, o, byte_keys[i], json_bytes(difference->bytes[i], difference->len));
	return o;
}

json_t *replay_instance_json(struct json_builder *b, const struct replay_instance *instance)
{
	const char *why = replay_failure_word(instance->why);
	json_t *o = json_object(), *orders = json_array(), *differences = json_array();

	json_put(b, o, "outcome", json_string(replay_outcome_word(instance->outcome)));
	json_put(b, o, "why", why ? json_string(why) : json_null());
	json_put(b, o, "why_text", json_clean(instance->why_text, sizeof(instance->why_text)));
	for (int i = 0; i < 2; i++)
		json_append(b, orders, replay_order_json(b, &instance->orders[i]));
	json_put(b, o, "orders", orders);
	json_put(b, o, "difference_count", json_whole(instance->difference_count));
	for (uint32_t i = 0; i < instance->kept; i++)
		json_append(b, differences, difference_json(b, &instance->differences[i]));
	json_put(b, o, "differences", differences);
	return o;
}

json_t *replay_json(struct json_builder *b, const struct race_replay *replay)
{
	json_t *o = json_object(), *counts = json_object();

	for (int i = 0; i < REPLAY_OUTCOMES; i++)
		json_put(b, counts, count_keys[i], json_whole(replay->count[i]));
	json_put(b, o, "outcome", json_string(replay_outcome_word(replay_outcome(replay))));
	json_put(b, o, "counts", counts);
	json_put(b, o, "not_run", json_whole(replay->not_run));
	json_put(b, o, "one_order_in_trouble", json_whole(replay->one_troubled));
	json_put(b, o, "last_moments", json_whole(replay->last_moments));
	json_put(b, o, "telling", replay_instance_json(b, &replay->telling));
	return o;
}

/* ---- reading ---- */

/* Read a member that is the word for an enum value. Returns the value that lookup() gives for the word, or 0 on error. */
static unsigned read_word(struct json_reader *r, const json_t *o, const char *key, int (*lookup)(const char *word))
{
	int value = lookup(json_read_string(r, o, key));

	if (value >= 0)
		return (unsigned)value;
	json_read_wrong(r, key, "a known word");
	return 0;
}

static void read_region(struct json_reader *r, const json_t *o, struct replay_region *out)
{
	out->end = (enum replay_end)read_word(r, o, "end", replay_end_from_word);
	out->instructions = json_read_number(r, o, "instructions", INT64_MAX);
}

static void read_order(struct json_reader *r, const json_t *o, struct replay_order *out)
{
	const json_t *regions = json_read_array(r, o, "regions", 2);

	for (size_t i = 0; i < 2; i++)
		read_region(r, json_array_get(regions, i), &out->regions[i]);
	out->machine = (enum replay_machine)read_word(r, o, "machine", replay_machine_from_word);
	json_read_text(r, o, "trouble", out->trouble, sizeof(out->trouble));
}

static void read_difference(struct json_reader *r, const json_t *o, struct replay_difference *out)
{
	json_read_text(r, o, "name", out->name, sizeof(out->name));
	out->is_register = json_read_optional(o, "register_of") != NULL;
	if (out->is_register)
		out->side = (uint8_t)json_read_number(r, o, "register_of", 1);
	else
		out->gpa = json_read_hex(r, o, "physical");
	if (!out->is_register && json_read_optional(o, "address"))
		out->gva = json_read_hex(r, o, "address");
	out->len = (uint8_t)json_read_bytes(r, o, byte_keys[0], out->bytes[0], REPLAY_BYTES_MAX);
	if (json_read_bytes(r, o, byte_keys[1], out->bytes[1], REPLAY_BYTES_MAX) != out->len)
		json_read_wrong(r, byte_keys[1], "as long as the bytes of the other order");
}

static void read_instance(struct json_reader *r, const json_t *o, struct replay_instance *out)
{
	const json_t *orders = json_read_array(r, o, "orders", 2);
	const json_t *differences = json_read_array(r, o, "differences", REPLAY_DIFFERENCES_MAX);

	out->outcome = (enum replay_outcome)read_word(r, o, "outcome", replay_outcome_from_word);
	if (json_read_optional(o, "why"))
		out->why = (enum replay_failure)read_word(r, o, "why", replay_failure_from_word);
	json_read_text(r, o, "why_text", out->why_text, sizeof(out->why_text));
	for (size_t i = 0; i < 2; i++)
		read_order(r, json_array_get(orders, i), &out->orders[i]);
	out->difference_count = json_read_number(r, o, "difference_count", INT64_MAX);
	for (size_t i = 0; i < json_array_size(differences); i++)
		read_difference(r, json_array_get(differences, i), &out->differences[out->kept++]);
}

void replay_read(struct json_reader *r, const json_t *object, struct race *race)
{
	const json_t *o = json_read_optional(object, "replay") ? json_read_object(r, object, "replay") : NULL;
	const json_t *counts = o ? json_read_object(r, o, "counts") : NULL,
		     *telling = o ? json_read_object(r, o, "telling") : NULL;
	struct race_replay *replay;
	char consistent[128];
	const char *wrong;

	if (!counts || !telling)
		return;
	if (race_have_replay(race) < 0) {
		json_read_wrong(r, "replay", "small enough for the memory there is");
		return;
	}
	replay = race->replay;
	for (int i = 0; i < REPLAY_OUTCOMES; i++)
		replay->count[i] = json_read_number(r, counts, count_keys[i], INT64_MAX);
	replay->not_run = json_read_number(r, o, "not_run", INT64_MAX);
	replay->one_troubled = json_read_number(r, o, "one_order_in_trouble", INT64_MAX);
	if (json_read_optional(o, "last_moments"))
		replay->last_moments = json_read_number(r, o, "last_moments", INT64_MAX);
	read_instance(r, telling, &replay->telling);
	wrong = replay_wrong(replay);
	if (wrong) {
		snprintf(consistent, sizeof(consistent), "consistent: %s", wrong);
		json_read_wrong(r, "replay", consistent);
	}
}
