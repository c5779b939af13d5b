// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts between the enums of store.h and their words. */
#include <string.h>

#include "hv/campaign/store/store.h"

static const char *const outcomes[STORE_OUTCOMES] = {
	[STORE_OK] = "ok",
	[STORE_PANIC] = "panic",
	[STORE_HANG] = "hang",
	[STORE_LOCKUP] = "lockup",
	[STORE_CRASH] = "crash",
	[STORE_LIMIT] = "limit",
	[STORE_FAILED] = "failed",
	[STORE_NO_REPORT] = "no-report",
	[STORE_TRUNCATED] = "truncated",
	[STORE_UNSAMPLED] = "unsampled",
	[STORE_COMPLAINT] = "complaint",
};

static const char *const triages[STORE_TRIAGES] = {
	[STORE_TRIAGE_NEW] = "new",
	[STORE_TRIAGE_KNOWN] = "known",
	[STORE_TRIAGE_FIXED] = "fixed",
	[STORE_TRIAGE_WONTFIX] = "wontfix",
};

static const char *const changes[STORE_CHANGES] = {
	[STORE_CHANGE_NEW] = "new",   [STORE_CHANGE_BACK] = "back",   [STORE_CHANGE_VERDICT] = "changed",
	[STORE_CHANGE_GONE] = "gone", [STORE_CHANGE_AGAIN] = "again", [STORE_CHANGE_NONE] = "same",
};

static int find(const char *const *words, int count, const char *word)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -1;
}

const char *store_outcome_word(enum store_outcome outcome)
{
	return outcomes[outcome];
}

int store_outcome_from_word(const char *word)
{
	return find(outcomes, STORE_OUTCOMES, word);
}

const char *store_triage_word(enum store_triage triage)
{
	return triages[triage];
}

bool store_race_is_atomicity(const struct store_race *r)
{
	return strcmp(r->sides[0].kind, STORE_SECTIONS) == 0 || strcmp(r->sides[1].kind, STORE_SECTIONS) == 0;
}

int store_triage_from_word(const char *word)
{
	return find(triages, STORE_TRIAGES, word);
}

const char *store_change_word(enum store_change change)
{
	return changes[change];
}
