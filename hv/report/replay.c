// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/report/words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const outcome_words[REPLAY_OUTCOMES] = {
	[REPLAY_NO_STATE_CHANGE] = "no-state-change",
	[REPLAY_STATE_CHANGE] = "state-change",
	[REPLAY_FAILURE] = "replay-failure",
};

static const char *const failure_words[REPLAY_FAILURES] = {
	[REPLAY_NO_FAILURE] = NULL,	[REPLAY_FAULT] = "fault",     [REPLAY_WARNING] = "warning",
	[REPLAY_DEADLOCK] = "deadlock", [REPLAY_ENDLESS] = "endless", [REPLAY_CANNOT_LOAD] = "cannot-load",
};

static const char *const end_words[REPLAY_ENDS] = {
	[REPLAY_END_NOT_RUN] = "not-run", [REPLAY_END_RETURN] = "return", [REPLAY_END_BLOCKED] = "blocked",
	[REPLAY_END_LIMIT] = "limit",	  [REPLAY_END_FAULT] = "fault",
};

static const char *const machine_words[REPLAY_MACHINES] = {
	[REPLAY_MACHINE_NOT_RUN] = "not-run",
	[REPLAY_MACHINE_RUNS] = "runs",
	[REPLAY_MACHINE_OFF] = "off",
	[REPLAY_MACHINE_PANIC] = "panic",
	[REPLAY_MACHINE_TRIPLE_FAULT] = "triple-fault",
	[REPLAY_MACHINE_HANG] = "hang",
};

static int find_word(const char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (words[i] && strcmp(words[i], word) == 0)
			return (int)i;
	}
	return -1;
}

const char *replay_outcome_word(enum replay_outcome outcome)
{
	return outcome_words[outcome];
}

const char *replay_failure_word(enum replay_failure why)
{
	return failure_words[why];
}

const char *replay_end_word(enum replay_end end)
{
	return end_words[end];
}

const char *replay_machine_word(enum replay_machine machine)
{
	return machine_words[machine];
}

int replay_outcome_from_word(const char *word)
{
	return find_word(outcome_words, COUNT(outcome_words), word);
}

int replay_failure_from_word(const char *word)
{
	return find_word(failure_words, COUNT(failure_words), word);
}

int replay_end_from_word(const char *word)
{
	return find_word(end_words, COUNT(end_words), word);
}

int replay_machine_from_word(const char *word)
{
	return find_word(machine_words, COUNT(machine_words), word);
}

const char *replay_order_word(unsigned order)
{
	return order ? "second" : "first";
}

const char *replay_trouble(const struct replay_order *order)
{
	if (order->trouble[0] || !replay_in_trouble(order))
		return order->trouble;
	if (order->machine == REPLAY_MACHINE_HANG)
		return "the machine hung";
	return order->machine == REPLAY_MACHINE_PANIC ? "the kernel panicked" : "the machine triple-faulted";
}

void replay_datum(const struct replay_difference *difference, char out[REPLAY_DATUM_MAX])
{
	if (difference->name[0] && !difference->is_register)
		snprintf(out, REPLAY_DATUM_MAX, "%s", difference->name);
	else if (difference->is_register)
		snprintf(out, REPLAY_DATUM_MAX, "register %s of side %u", difference->name, difference->side + 1u);
	else if (difference->gva)
		snprintf(out, REPLAY_DATUM_MAX, "memory at 0x%016" PRIx64, difference->gva);
	else
		snprintf(out, REPLAY_DATUM_MAX, "memory at physical 0x%" PRIx64, difference->gpa);
}

static void outcomes_line(const struct race_replay *replay, char line[REPLAY_LINE_MAX])
{
	static const struct {
		enum replay_outcome outcome;
		const char *phrase;
	} parts[] = {
		{REPLAY_STATE_CHANGE, "state change"},
		{REPLAY_FAILURE, "replay failure"},
		{REPLAY_NO_STATE_CHANGE, "no state change"},
	};
	uint64_t instances = replay_instances(replay);
	const char *separator = ":";
	int used = snprintf(line, REPLAY_LINE_MAX, "both orders run %" PRIu64 " time%s", instances, instances == 1 ? "" : "s");

	for (size_t i = 0; i < COUNT(parts); i++) {
		uint64_t count = replay->count[parts[i].outcome];

		if (!count)
			continue;
		used += snprintf(line + used, REPLAY_LINE_MAX - (size_t)used, "%s %s in %" PRIu64, separator, parts[i].phrase,
				 count);
		separator = ",";
	}
	if (replay->not_run)
		used += snprintf(line + used, REPLAY_LINE_MAX - (size_t)used,
				 "; %" PRIu64 " of these could not be run and say nothing about the race", replay->not_run);
	if (replay->last_moments)
		snprintf(line + used, REPLAY_LINE_MAX - (size_t)used,
			 "; %" PRIu64 " from the last moments before a complaint of the kernel", replay->last_moments);
}

static void trouble_line(const struct race *race, char line[REPLAY_LINE_MAX])
{
	const struct replay_instance *telling = &race->replay->telling;
	int order = replay_troubled_order(telling);

	snprintf(line, REPLAY_LINE_MAX,
		 "%s order (%s first) ends in trouble, the other one does not, in %" PRIu64 " of %" PRIu64 ": %s",
		 replay_order_word((unsigned)order), race->site[order], race->replay->one_troubled,
		 replay_instances(race->replay), replay_trouble(&telling->orders[order]));
}

static void difference_line(const struct replay_instance *telling, char line[REPLAY_LINE_MAX])
{
	const struct replay_difference *difference = &telling->differences[0];
	char datum[REPLAY_DATUM_MAX], value[2][VALUE_TEXT_MAX];
	uint64_t more = telling->difference_count - 1;
	int used;

	replay_datum(difference, datum);
	for (int i = 0; i < 2; i++)
		value_text(difference->bytes[i], difference->len, value[i]);
	used = snprintf(line, REPLAY_LINE_MAX, "%s is %s after the first order, %s after the second", datum, value[0],
			value[1]);
	if (more)
		snprintf(line + used, REPLAY_LINE_MAX - (size_t)used, "; %" PRIu64 " more difference%s", more,
			 more == 1 ? "" : "s");
}

static void failure_line(const struct replay_instance *telling, char line[REPLAY_LINE_MAX])
{
	snprintf(line, REPLAY_LINE_MAX, "replay failure: %s%s%s", replay_failure_word(telling->why),
		 telling->why_text[0] ? ": " : "", telling->why_text);
}

unsigned replay_lines(const struct race *race, char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX])
{
	const struct race_replay *replay = race->replay;
	unsigned n = 0;

	if (!replay)
		return 0;
	outcomes_line(replay, lines[n++]);
	if (replay->one_troubled)
		trouble_line(race, lines[n++]);
	if (replay->telling.kept)
		difference_line(&replay->telling, lines[n++]);
	else if (replay->telling.outcome == REPLAY_FAILURE)
		failure_line(&replay->telling, lines[n++]);
	return n;
}
