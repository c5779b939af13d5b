/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view: one race with all facts that more than one rule needs, computed once. Only the pruner uses this header. */
#ifndef OUTRIDER_PRUNER_PATTERNS_VIEW_H
#define OUTRIDER_PRUNER_PATTERNS_VIEW_H

#include "hv/base/path_text.h"
#include "hv/report/datum.h"
#include "hv/report/device.h"
#include "pruner/code/flow/flow.h"
#include "pruner/lists/lists.h"
#include "pruner/patterns/related.h"

/*
 * Whether a side holds a lock. The recorded lockset decides if locks were followed (struct race_locks). Otherwise the kept
 * code decides, as far as it can.
 */
enum lock_held {
	LOCK_UNKNOWN,
	/*
	 * The context holds no lock. If the run recorded no lockset: the function takes no lock on any path to the access, and
	 * the context can be preempted at the access.
	 */
	LOCK_NONE,
	/*
	 * The context holds a lock. If the run recorded no lockset: the function takes a lock on every path to the access, or
	 * preemption or interrupts are off at the access.
	 */
	LOCK_HELD,
};

#define MARK_MAX (SOURCE_FUNCTION_MAX + PATH_TEXT_MAX + 32)
#define LOCK_WHY_MAX (LOCK_NAME_MAX + 64)
#define VIEW_NAMES 3

struct view_side {
	const struct race_side *side;
	/* The datum's name in the side's own code, or NULL. */
	const struct datum_name *datum;
	/* The kinds of the access, over all instances. */
	bool reads, writes;
	/* The device and the kind of its request, or "" for a CPU. */
	char device[DEVICE_TEXT_MAX];
	struct code code;
	struct flow *flow;
	/* `code` contains the accessing instruction, and `at`, `read` and `write` are set. */
	bool followed;
	unsigned at; /* The index of the accessing instruction. */
	struct flow_read read;
	struct flow_write write;
	enum lock_held lock;
	/*
	 * What shows that the side holds a lock, in words that follow the function's name in the evidence: "holds i_lock
	 * (--locks)", "called mutex_lock()", "has preemption off (preempt_count 0x1)". "" unless `lock` is LOCK_HELD.
	 */
	char lock_why[LOCK_WHY_MAX];
	bool marked; /* The access is a marked access. */
	/*
	 * The statement that makes the access was found in the source, and the datum's name is known. So the source decides
	 * whether the access is marked.
	 */
	bool source_read;
	/* What marks the access, for example "atomic_read()" or "READ_ONCE() at fs/inode.c:12". */
	char mark[MARK_MAX];
};

struct view {
	const struct prune_rules *rules;
	const struct race *race;
	/* The other races of the report, or NULL. */
	const struct related *related;
	/* The datum's name by the guest's own tables: kallsyms, slab caches and BTF. No debug file is needed for this name. */
	struct datum_name by_memory;
	/* The best known name of the datum, for messages. */
	char datum[DATUM_TEXT_MAX];
	struct view_side side[2];
};

/*
 * Make the view of a race. `rules`, `related` and `race` must outlive the view. The caller gives the result to view_free().
 * Returns NULL if memory ran out.
 */
struct view *view_new(const struct prune_rules *rules, const struct related *related, const struct race *race);
void view_free(struct view *v);

/*
 * Returns whether the side stores to the datum, or may store to it. An unseen writer stores. A load whose value the code writes
 * back later counts as a store.
 */
bool view_changes(const struct view_side *s);

/* Returns whether a vCPU made the access, the value flow could follow the kept code, and this code only reads the datum. */
bool view_only_reads(const struct view_side *s);

/*
 * Returns whether the side stores a value that it computed from an old value of the datum, in one instruction or in several.
 * False if the side is no vCPU, or its code could not be followed.
 */
bool view_updates(const struct view_side *s);

/*
 * Set out[] to the datum's names, NULL for each that is not known: first by the code of side `which`, then by the other side's
 * code, then by the guest's own tables.
 */
void view_names(const struct view *v, unsigned which, const struct datum_name *out[VIEW_NAMES]);

/*
 * Returns the first entry of the list `kind` that fits the datum by any of its names, or NULL. Sets *name to the name that
 * fits; `name` may be NULL. A name that is a guess fits no entry. If both sides write, an entry of LIST_SPECIAL,
 * LIST_APPROXIMATE or LIST_BOTH_VALID must allow two writers.
 */
const struct list_entry *view_listed(const struct view *v, enum list_kind kind, const struct datum_name **name);

/* Returns the name of the side's function, or the device with the kind of its request, or "an unknown function". */
const char *view_function(const struct view_side *s);

/*
 * Returns the offset of instruction `i` from the function's start, in bytes. If the function is not known: from the start of
 * the kept code.
 */
uint64_t view_offset(const struct view_side *s, unsigned i);

/*
 * Set *before and *after to the datum's values before and after an instance, as numbers. Returns false if the instance has no
 * values, or values longer than 8 bytes.
 */
bool view_values(const struct race_instance *instance, uint64_t *before, uint64_t *after);

#endif
