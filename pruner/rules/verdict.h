/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict: the pruner's judgement of one race. */
#ifndef OUTRIDER_PRUNER_RULES_VERDICT_H
#define OUTRIDER_PRUNER_RULES_VERDICT_H

enum verdict_class {
	/* A harmful candidate: no benign pattern fits. */
	VERDICT_HARMFUL,
	/* A pattern fits, but it also fits real bugs too often, or the evidence is too weak. */
	VERDICT_UNCLEAR,
	/* Both sides are marked accesses. By the kernel's own rules they are no race. */
	VERDICT_SYNCHRONISATION,
	/* A benign pattern fits. */
	VERDICT_BENIGN,
};

#define VERDICT_EVIDENCE_MAX 1024

struct verdict {
	enum verdict_class class;
	/* The name of the rule, for example "safe-flag-update". A string constant. */
	const char *rule;
	/* 0 to 99. A race with a higher rank is more likely to be harmful. The ranks of two classes do not overlap. */
	int rank;
	/* A sentence that a maintainer can check. Printable. */
	char evidence[VERDICT_EVIDENCE_MAX];
};

/* Returns "harmful candidate", "unclear", "synchronisation" or "benign". */
const char *verdict_class_word(enum verdict_class class);

/* Append to the evidence of a verdict, and replace unprintable bytes. Text that does not fit is cut off. */
void verdict_evidence(struct verdict *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
