/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view is a race as the rules look at it. It has everything that more than one rule asks for, found out once. Only the pruner
 * uses this header.
 */
#ifndef OUTRIDER_PRUNER_VIEW_H
#define OUTRIDER_PRUNER_VIEW_H

#include "hv/report/datum.h"
#include "hv/report/device.h"
#include "pruner/company.h"
#include "pruner/flow/flow.h"
#include "pruner/lists.h"
#include "pruner/verdict.h"

/* Where locks were followed (struct race_locks), the known set says it. Else the function's code does, as far as it can. */
enum lock_held {
	LOCK_UNKNOWN,
	/* The context holds no lock; or the function takes none on any way to the access, and may be preempted at the access.
	 */
	LOCK_NONE,
	/*
	 * The context holds a lock; or the function takes one on every way to the access; or preemption or interrupts are off
	 * at the access.
	 */
	LOCK_HELD,
};

#define MARK_MAX 96
#define VIEW_NAMES 3

struct view_side {
	const struct race_side *side;
	const struct datum_name *datum; /* What the side's own code calls the datum, or NULL. */
	bool reads, writes;		/* What the side does over all instances. */
	char device[DEVICE_TEXT_MAX];	/* The device and the kind of its request, or "". */
	struct code code;
	struct flow *flow;
	bool followed; /* The accessing instruction is in `code`, and `at`, `read` and `write` are set. */
	unsigned at;   /* The index of the accessing instruction. */
	struct flow_read read;
	struct flow_write write;
	enum lock_held lock;
	bool marked;	     /* The access is a marked one. */
	char mark[MARK_MAX]; /* What marks it, for example "atomic_read()" or "READ_ONCE() at fs/inode.c:12". */
};

struct view {
	const struct prune_rules *rules;
	const struct race *race;
	const struct company *company; /* The other races of the record, or NULL. */
	struct datum_name by_memory;   /* What the guest's own tables call the datum. */
	char datum[DATUM_TEXT_MAX];    /* The best name that is known of the datum, for people. */
	struct view_side side[2];
};

/* Look at a race. `rules`, `company` and `race` must outlive the view. Returns NULL when memory ran out. */
struct view *view_new(const struct prune_rules *rules, const struct company *company, const struct race *race);
void view_free(struct view *v);

/*
 * Returns whether the side stores to the datum, or may. A side that nobody saw has stored. Of a device it is known. A load
 * whose value is written back later counts as a store.
 */
bool view_changes(const struct view_side *s);

/* Returns whether the side stores to the datum what it made of an old value of it, in one instruction or in several. */
bool view_updates(const struct view_side *s);

/*
 * Set out[] to the datum's names: first what the code of side `which` calls the datum, then what the other side's code calls
 * it, then what the guest's own tables call it. A NULL stands for a name that is not known.
 */
void view_names(const struct view *v, unsigned which, const struct datum_name *out[VIEW_NAMES]);

/*
 * Returns the first entry of the list `kind` that has the datum by any of its names, or NULL. *name becomes the name that
 * fitted, unless `name` is NULL. A name that is a guess fits no entry. When both sides write, an entry of LIST_SPECIAL,
 * LIST_APPROXIMATE or LIST_BOTH_VALID must say that it is good for two writers.
 */
const struct list_entry *view_listed(const struct view *v, enum list_kind kind, const struct datum_name **name);

/* Append to the evidence of a verdict that the entry `e` gave. */
void view_evidence(struct verdict *out, const struct list_entry *e, const struct datum_name *name);

/* Returns the name of the side's function, or the device with the kind of its request, or "an unknown function". */
const char *view_function(const struct view_side *s);

/* Returns how many bytes instruction `i` is behind the function's start, or behind the kept code's when that is not known. */
uint64_t view_offset(const struct view_side *s, unsigned i);

/* Read the values of an instance as numbers. Returns false when there are none, or when they do not fit into 8 bytes. */
bool view_values(const struct race_instance *instance, uint64_t *before, uint64_t *after);

#endif
