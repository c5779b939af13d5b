/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tell likely bugs from races that do no harm, from the records of a run alone (DataCollider, section 3.3; the replay paper,
 * table 2). Nothing is ever thrown away: a verdict orders the list, names the pattern and says by what it was told, in a
 * sentence that a maintainer can check. This header is all a caller needs.
 *
 * Rules only look at records and at lists from files, so a verdict is the same on every machine. A struct prune_rules is for
 * one thread.
 */
#ifndef OUTRIDER_PRUNER_PRUNE_H
#define OUTRIDER_PRUNER_PRUNE_H

#include "hv/base/err.h"
#include "hv/race/store.h"

enum verdict_class {
	VERDICT_HARMFUL,	 /* candidate: no benign pattern fits */
	VERDICT_UNCLEAR,	 /* a pattern fits that hides real bugs too often, or not on enough evidence */
	VERDICT_SYNCHRONISATION, /* both sides are marked accesses: no race by the kernel's own rules */
	VERDICT_BENIGN,
};

#define VERDICT_EVIDENCE_MAX 512

struct verdict {
	enum verdict_class class;
	const char *rule; /* the pattern's name, "safe-flag-update"; a string constant */
	int rank;	  /* 0 to 99, likely harmful first; classes do not overlap */
	char evidence[VERDICT_EVIDENCE_MAX];
};

/* "harmful candidate", "unclear", "synchronisation", "benign". */
const char *verdict_class_word(enum verdict_class class);

/* Every rule's name and what it looks for, one after the other; NULL behind the last. */
struct prune_rule_help {
	const char *name, *what;
};
extern const struct prune_rule_help prune_rule_help[];

struct prune_rules;

/* With the lists that this program was built with (pruner/ *.conf). NULL: see err. */
struct prune_rules *prune_rules_new(struct err *err);
void prune_rules_free(struct prune_rules *rules);

/* More lists, in the format of docs/pruning.md. 0, or -1 with EXIT_INPUT and the line. */
int prune_rules_add(struct prune_rules *rules, const char *path, struct err *err);

/*
 * A folder with the guest kernel's source, where marked accesses are looked for that leave no trace in machine code.
 * Copied; 0, or -1 with EXIT_INPUT: there is no such folder, or memory ran out.
 */
int prune_rules_set_sources(struct prune_rules *rules, const char *folder, struct err *err);

/* The kernel that the races are of, by its banner ("Linux version 6.1.0-..."), or NULL: then every kernel range fits. */
void prune_rules_set_kernel(struct prune_rules *rules, const char *banner);

/* The races are of that kernel too, unless it is the first: of several versions, only what is good for any kernel fits. */
void prune_rules_add_kernel(struct prune_rules *rules, const char *banner);

/* The verdict of one race, from all of its instances. When memory runs out it is unclear, and says so. */
void prune_race(const struct prune_rules *rules, const struct race *race, struct verdict *out);

#endif
