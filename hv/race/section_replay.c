// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/section_replay.h"

#include <string.h>

#include "hv/base/clean.h"

static const char *const verdict_words[SECTION_VERDICTS] = {
	[SECTION_VERDICT_NONE] = "not-run",
	[SECTION_VERDICT_UNKNOWN] = "unknown",
	[SECTION_VERDICT_NOT_CONFIRMED] = "not-confirmed",
	[SECTION_VERDICT_CONFIRMED] = "confirmed",
};

static const char *const outcome_words[SECTION_OUTCOMES] = {
	[SECTION_OUTCOME_UNKNOWN] = "unknown",
	[SECTION_OUTCOME_SAME] = "same",
	[SECTION_OUTCOME_AS_A_FIRST] = "as_function_first",
	[SECTION_OUTCOME_AS_B_FIRST] = "as_other_first",
	[SECTION_OUTCOME_MIXED] = "mixed",
	[SECTION_OUTCOME_CONFIRMED] = "confirmed",
};

uint64_t section_replay_told(const struct section_replay *r)
{
	return r->count[SECTION_OUTCOME_SAME] + r->count[SECTION_OUTCOME_AS_A_FIRST] + r->count[SECTION_OUTCOME_AS_B_FIRST];
}

enum section_verdict section_verdict(const struct section_replay *r)
{
	if (!r)
		return SECTION_VERDICT_NONE;
	if (r->count[SECTION_OUTCOME_CONFIRMED])
		return SECTION_VERDICT_CONFIRMED;
	if (r->count[SECTION_OUTCOME_MIXED])
		return SECTION_VERDICT_UNKNOWN;
	return section_replay_told(r) ? SECTION_VERDICT_NOT_CONFIRMED : SECTION_VERDICT_UNKNOWN;
}

const char *section_verdict_word(enum section_verdict verdict)
{
	return verdict_words[verdict];
}

int section_verdict_from_word(const char *word)
{
	for (int i = 0; i < SECTION_VERDICTS; i++) {
		if (strcmp(word, verdict_words[i]) == 0)
			return i;
	}
	return -1;
}

const char *section_outcome_word(enum section_outcome outcome)
{
	return outcome_words[outcome];
}

static unsigned weight(const struct section_replay_instance *instance)
{
	return 2 * (unsigned)instance->outcome + (instance->trouble[0] != '\0');
}

static bool is_first(const struct section_replay *r)
{
	for (unsigned i = 0; i < SECTION_OUTCOMES; i++) {
		if (r->count[i])
			return false;
	}
	return true;
}

void section_replay_count(struct section_replay *into, const struct section_replay_instance *instance)
{
	if (is_first(into) || weight(instance) > weight(&into->telling))
		into->telling = *instance;
	into->count[instance->outcome]++;
}

const char *section_replay_wrong(const struct section_replay_instance *instance)
{
	bool confirmed = instance->outcome == SECTION_OUTCOME_CONFIRMED;

	if ((unsigned)instance->outcome >= SECTION_OUTCOMES)
		return "an unknown outcome";
	if (instance->kept > SECTION_REPLAY_DIFFERENCES_MAX || instance->kept > instance->difference_count)
		return "more differences than there can be";
	if (confirmed != (instance->kept || instance->trouble[0]))
		return "an outcome that does not fit its differences";
	for (uint32_t i = 0; i < instance->kept; i++) {
		const struct replay_difference *d = &instance->differences[i].serial;

		if (!d->len || d->len > sizeof(instance->differences[i].between) || d->side > 1)
			return "an impossible difference";
	}
	return NULL;
}

void section_replay_clean(struct section_replay_instance *instance)
{
	clean_field(instance->why, sizeof(instance->why));
	clean_field(instance->trouble, sizeof(instance->trouble));
	for (uint32_t i = 0; i < instance->kept; i++)
		clean_field(instance->differences[i].serial.name, sizeof(instance->differences[i].serial.name));
}

const struct section_replay *section_replay_find(const struct section_replay *list, size_t n, uint64_t first, uint64_t second,
						 uint64_t between)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].first == first && list[i].second == second && list[i].between == between)
			return &list[i];
	}
	return NULL;
}
