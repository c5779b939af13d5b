/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A race as the rules look at it: everything that more than one of them wants to know, found out once. Pruner's own. */
#ifndef OUTRIDER_PRUNER_VIEW_H
#define OUTRIDER_PRUNER_VIEW_H

#include "hv/report/datum.h"
#include "pruner/flow/flow.h"
#include "pruner/lists.h"
#include "pruner/verdict.h"

enum lock_held {
	LOCK_UNKNOWN,
	LOCK_NONE, /* the function takes none on any way to the access, and may be preempted there */
	LOCK_HELD, /* on every way there; or preemption or interrupts are off */
};

#define MARK_MAX 96
#define VIEW_NAMES 3

struct view_side {
	const struct race_side *side;
	const struct datum_name *datum; /* or NULL */
	bool reads, writes;		/* over all instances */
	struct code code;
	struct flow *flow;
	bool followed; /* the accessing instruction is there: read and write say what it does */
	unsigned at;   /* its index */
	struct flow_read read;
	struct flow_write write;
	enum lock_held lock;
	bool marked;
	char mark[MARK_MAX]; /* how: "atomic_read()", "READ_ONCE() at fs/inode.c:12" */
};

struct view {
	const struct prune_rules *rules;
	const struct race *race;
	struct datum_name by_memory; /* what the guest's own tables call the datum */
	char datum[DATUM_TEXT_MAX];  /* by the best that is known of it, for people */
	struct view_side side[2];
};

/* NULL: out of memory. `rules` and `race` must last. */
struct view *view_new(const struct prune_rules *rules, const struct race *race);
void view_free(struct view *v);

/* Whether the side stores to the datum, or may: a side nobody saw did, and so does a load that is written back later. */
bool view_changes(const struct view_side *s);

/* The datum's names, as `which` side's code calls it first; then the other's, then the guest's own tables. NULL: it has none.
 */
void view_names(const struct view *v, unsigned which, const struct datum_name *out[VIEW_NAMES]);

/*
 * The first entry of a list that has the datum, by any of its names: as each side's code calls it, or as the guest's tables do;
 * *name, if not NULL, is that. Lists that say why a race is meant to be must be good for two writers if there are two.
 */
const struct list_entry *view_listed(const struct view *v, enum list_kind kind, const struct datum_name **name);

/* As the evidence of a verdict that a list gave. */
void view_evidence(struct verdict *out, const struct list_entry *e, const struct datum_name *name);

/* The side's function, or "an unknown function". */
const char *view_function(const struct view_side *s);

/* The instance's values as numbers. False: they do not fit in 8 bytes, or there are none. */
bool view_values(const struct race_instance *instance, uint64_t *before, uint64_t *after);

#endif
