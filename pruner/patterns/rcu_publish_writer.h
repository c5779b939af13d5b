/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer's code, as the parts of rcu_publish_of() analyse it. The root of a pointer (struct flow_pointer) identifies the
 * object that the pointer points into. If a root is not known, the functions below return false.
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_RCU_PUBLISH_WRITER_H
#define OUTRIDER_PRUNER_PATTERNS_RCU_PUBLISH_WRITER_H

#include "pruner/patterns/rcu_publish_facts.h"

#define WRITER_REMOVED_MAX 4

struct writer {
	const struct view *v;
	const struct view_side *s;
	/* The index of the store. */
	unsigned at;
	/* The address and the value of the store. */
	struct flow_pointer where, what;
	/* Pointers into the objects that the store removes. */
	struct flow_pointer removed[WRITER_REMOVED_MAX];
	unsigned removed_count;
	/*
	 * If an object is removed from a list: the address of its link to the next entry. Otherwise the root of `link` is
	 * unknown.
	 */
	struct flow_pointer link;
	/*
	 * after[]: the instructions that may run after the store. before_grace[]: those of them that may run without a grace
	 * period in between.
	 */
	bool after[RACE_CODE_MAX], before_grace[RACE_CODE_MAX];
};

/* Returns whether the pointer's root identifies an object. */
static inline bool writer_is_object(const struct flow_pointer *p)
{
	return p->root != FLOW_POINTER_UNKNOWN && p->root != FLOW_POINTER_FIXED;
}

/* Returns whether both pointers surely point into the same object. */
static inline bool writer_same_object(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return writer_is_object(a) && a->root == b->root;
}

/* Returns whether both pointers are surely equal. */
static inline bool writer_same_address(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return a->root != FLOW_POINTER_UNKNOWN && a->root == b->root && a->disp == b->disp;
}

/* Returns the name of the function that instruction `i` calls or jumps to, if the list `kind` has it, or NULL. */
const char *writer_callee(const struct writer *w, unsigned i, enum list_kind kind);

/*
 * Set out[] to the instructions that may run after `from`. Paths end at instruction `barrier` (-1: none). With
 * `stop_at_grace`, paths also end at a call that waits for a grace period. The instruction at which a path ends is in out[],
 * and `from` only if a path leads back to it.
 */
void writer_reachable(const struct writer *w, unsigned from, int barrier, bool stop_at_grace, bool out[RACE_CODE_MAX]);

/* Returns whether the store may run after instruction `i`. */
bool writer_reaches_store(const struct writer *w, unsigned i);

/* Returns whether the pointer was loaded by a plain load of 8 bytes. Sets *from to the address of that load. */
bool writer_loaded(const struct writer *w, const struct flow_pointer *p, struct flow_pointer *from);

/* Returns whether instruction `i` is a plain store of 8 bytes. */
bool writer_is_plain_store(const struct writer *w, unsigned i);

/*
 * Returns whether instruction `i` stores a pointer that was loaded from another object's link: code that removes that object
 * from a list does so. Sets *link to the address of the link.
 */
bool writer_unlinks(const struct writer *w, unsigned i, struct flow_pointer *link);

/* Find the objects that the store removes, and set w->removed, w->link and the members of *out about the old pointer. */
void writer_find_removed(struct writer *w, struct rcu_publish *out);

/* Return rcu_publish.prepares, rcu_publish.leaves_link and rcu_publish.links_table. w->link must be set. */
bool writer_prepares(const struct writer *w);
bool writer_leaves_link(const struct writer *w);
bool writer_links_table(const struct writer *w);

/* Find the calls that free, or wait for a grace period, and set the members of *out about them. w->removed must be set. */
void writer_find_frees(const struct writer *w, struct rcu_publish *out);

/* Returns whether the pointer, at instruction `i` after the store, points into a removed object. */
bool writer_is_removed(const struct writer *w, const struct flow_pointer *object, unsigned i);

/*
 * Returns whether the pointer, at instruction `i` after the store, still has the value that it had at the store. A loop that
 * runs the pointer's definition again gives it a new value.
 */
bool writer_lasts_until(const struct writer *w, const struct flow_pointer *p, unsigned i);

/* Return rcu_publish.escapes and rcu_publish.completes_late. w->removed must be set. */
bool writer_escapes(const struct writer *w);
bool writer_completes_late(const struct writer *w);

/* Returns rcu_publish.reused. w->removed must be set. */
bool writer_reuses(const struct writer *w);

#endif
