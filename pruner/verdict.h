/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict: what the pruner says of one race. */
#ifndef OUTRIDER_PRUNER_VERDICT_H
#define OUTRIDER_PRUNER_VERDICT_H

enum verdict_class {
	/* A harmful candidate: no benign pattern fits. */
	VERDICT_HARMFUL,
	/* A pattern fits that hides real bugs too often, or that fits on too little evidence. */
	VERDICT_UNCLEAR,
	/* Both sides are marked accesses. By the kernel's own rules this is no race. */
	VERDICT_SYNCHRONISATION,
	/* A benign pattern fits. */
	VERDICT_BENIGN,
};

#define VERDICT_EVIDENCE_MAX 1024

struct verdict {
	enum verdict_class class;
	/* The pattern's name, for example "safe-flag-update". It is a string constant. */
	const char *rule;
	/* From 0 to 99. A race with a higher rank is more likely to be harmful. The ranks of two classes do not overlap. */
	int rank;
	/* One sentence that a maintainer can check, printable. */
	char evidence[VERDICT_EVIDENCE_MAX];
};

/* Returns "harmful candidate", "unclear", "synchronisation" or "benign". */
const char *verdict_class_word(enum verdict_class class);

/* Append to the evidence of a verdict, and make it printable. What does not fit is cut off. */
void verdict_evidence(struct verdict *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
