// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines for each way in which a run can end whether the run is ok, has a finding, or failed. */
#include "hv/campaign/store/ends.h"

bool ends_is_finding(enum store_outcome outcome)
{
	return outcome == STORE_PANIC || outcome == STORE_HANG || outcome == STORE_LOCKUP || outcome == STORE_CRASH ||
	       outcome == STORE_LIMIT || outcome == STORE_COMPLAINT;
}

static int weight(enum store_outcome outcome)
{
	static const enum store_outcome order[] = {STORE_OK,	 STORE_LIMIT, STORE_FAILED, STORE_COMPLAINT,
						   STORE_LOCKUP, STORE_HANG,  STORE_PANIC,  STORE_CRASH};

	for (int i = 0; i < (int)(sizeof(order) / sizeof(order[0])); i++) {
		if (order[i] == outcome)
			return i;
	}
	return 0;
}

bool ends_is_worse(enum store_outcome a, enum store_outcome b)
{
	return weight(a) > weight(b);
}

bool ends_is_failure(enum store_outcome outcome)
{
	return outcome != STORE_OK && !ends_is_finding(outcome);
}

/* Returns why a run failed, or STORE_OK if it did not. */
static enum store_outcome failure_of(enum store_outcome outcome, enum store_outcome failure, uint64_t hits)
{
	if (ends_is_failure(failure))
		return failure;
	if (ends_is_failure(outcome))
		return outcome;
	/*
	 * Stores of older versions have no entry for a missing or truncated report. A run with such a report has no hits in the
	 * store, and so counts as unsampled, unless its coverage file has hits.
	 */
	return hits ? STORE_OK : STORE_UNSAMPLED;
}

void ends_count(struct store_ends *ends, enum store_outcome outcome, enum store_outcome failure, uint64_t hits)
{
	enum store_outcome why = failure_of(outcome, failure, hits);

	ends->ended++;
	ends->of_outcome[outcome == STORE_OK ? why : outcome]++;
	ends->broke += ends_is_finding(outcome);
	ends->limited += outcome == STORE_LIMIT;
	ends->failed += why != STORE_OK;
	ends->of_failure[why] += why != STORE_OK;
	ends->ok += outcome == STORE_OK && why == STORE_OK;
}

void ends_add(struct store_ends *ends, const struct store_ends *more)
{
	ends->ended += more->ended;
	ends->ok += more->ok;
	ends->broke += more->broke;
	ends->failed += more->failed;
	ends->limited += more->limited;
	for (int i = 0; i < STORE_OUTCOMES; i++) {
		ends->of_outcome[i] += more->of_outcome[i];
		ends->of_failure[i] += more->of_failure[i];
	}
}
