// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "hv/export/locks.h"

static const struct {
	const char *key, *words;
} left_out[PROTECT_LEFT_OUT] = {
	[PROTECT_UNPUBLISHED] = {"unpublished", "only its creator had come to the object"},
	[PROTECT_PER_CPU] = {"per-cpu", "the datum is a CPU's own"},
	[PROTECT_MARKED] = {"marked", "both accesses are marked, or the datum needs no lock by the lists"},
	[PROTECT_RCU] = {"rcu", "the reader is in an RCU section"},
	[PROTECT_APART] = {"apart", "the two were never seen at the same time"},
	[PROTECT_MAYBE] = {"maybe", "it is not known whether a lock was held"},
	[PROTECT_HANDED] = {"handed-over", "one side had done with the datum before the other came"},
};

const char *export_left_out_words(unsigned reason)
{
	return left_out[reason].words;
}

const char *export_left_out_key(unsigned reason)
{
	return left_out[reason].key;
}

void export_proof(const struct suspicion *s, char out[EXPORT_PROOF_MAX])
{
	static const char *const words[] = {
		[PROOF_OPEN] = "the run ended while both sites were aimed at, which CPUs had reached",
		[PROOF_GIVEN_UP] = "not seen as a race, though CPUs had reached the sites",
	};

	out[0] = '\0';
	if (s->proof == PROOF_SEEN)
		snprintf(out, EXPORT_PROOF_MAX, "the race was seen");
	else if (s->proof != PROOF_NONE)
		snprintf(out, EXPORT_PROOF_MAX, "%s %" PRIu64 " and %" PRIu64 " times", words[s->proof], s->reached[0],
			 s->reached[1]);
}
