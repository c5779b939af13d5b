/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer's code, as the files behind publish_of() look at it. Objects are told from one another by where the pointers to
 * them came from (flow_pointer). Where that is not seen, nothing is claimed.
 */
#ifndef OUTRIDER_PRUNER_PUBLISH_WRITER_H
#define OUTRIDER_PRUNER_PUBLISH_WRITER_H

#include "pruner/publish_facts.h"

#define WRITER_REMOVED_MAX 4

struct writer {
	const struct view *v;
	const struct view_side *s;
	/* The store. */
	unsigned at;
	/* The address that is stored to, and what is stored. */
	struct flow_pointer where, what;
	/* Pointers to what the store takes out. */
	struct flow_pointer removed[WRITER_REMOVED_MAX];
	unsigned removed_count;
	/* With one that is taken out of a list: the address of its link to the next one. Its root is unknown otherwise. */
	struct flow_pointer link;
	/* Instructions that the store may lead to, and those that it may lead to with no grace period in between. */
	bool behind[RACE_CODE_MAX], at_once[RACE_CODE_MAX];
};

/* Whether the pointer is into an object that can be told from others. */
static inline bool writer_is_object(const struct flow_pointer *p)
{
	return p->root != FLOW_POINTER_UNKNOWN && p->root != FLOW_POINTER_FIXED;
}

/* Whether both pointers are into the same object. False when that is not known. */
static inline bool writer_same_object(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return writer_is_object(a) && a->root == b->root;
}

/* Whether both pointers are equal. False when that is not known. */
static inline bool writer_same_address(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return a->root != FLOW_POINTER_UNKNOWN && a->root == b->root && a->disp == b->disp;
}

/* Returns the name of what instruction `i` calls or jumps to, if the list `kind` has it, or NULL. */
const char *writer_callee(const struct writer *w, unsigned i, enum list_kind kind);

/*
 * Set out[] for all instructions behind `from`. What is only behind instruction `barrier` is left out, and with `stop_at_grace`
 * also what is only behind a call that waits for a grace period. -1: there is no barrier.
 */
void writer_spread(const struct writer *w, unsigned from, int barrier, bool stop_at_grace, bool out[RACE_CODE_MAX]);

/* Whether instruction `i` may lead to the store. */
bool writer_leads_to_store(const struct writer *w, unsigned i);

/* Whether the pointer is what a plain load put into a register. *from becomes the address that was loaded from. */
bool writer_loaded(const struct writer *w, const struct flow_pointer *p, struct flow_pointer *from);

/* Whether instruction `i` is a plain store of 8 bytes. */
bool writer_is_plain_store(const struct writer *w, unsigned i);

/*
 * Whether instruction `i` stores what an object's link leads to, as taking the object out of a list does. *link becomes that
 * link's address.
 */
bool writer_unlinks(const struct writer *w, unsigned i, struct flow_pointer *link);

/* Find what the store takes out, for w->removed and w->link, and what it makes reachable. */
void writer_find_removed(struct writer *w, struct publish *out);

/* Find what is freed, and when. w->removed must have been found. */
void writer_find_frees(const struct writer *w, struct publish *out);

/* Whether the pointer is into what the store takes out, and at instruction `i` behind the store still is. */
bool writer_is_removed(const struct writer *w, const struct flow_pointer *object, unsigned i);

/*
 * Whether the pointer at instruction `i` behind the store is still the value that it was at the store. An instruction that
 * makes a value makes another one when a loop comes back to it.
 */
bool writer_lasts_until(const struct writer *w, const struct flow_pointer *p, unsigned i);

/* For publish.hands_on and publish.completes_late. w->removed must have been found. */
bool writer_hands_on(const struct writer *w);
bool writer_completes_late(const struct writer *w);

/* Whether an object is used again that readers may still be at. w->removed must have been found. */
bool writer_reuses(const struct writer *w);

#endif
