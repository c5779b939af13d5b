/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a side that stores a pointer does with the objects around it, by the code that was kept of it: which object becomes
 * reachable by the store, which one is taken out, and when that one is freed or used again. RCU's rules are of this kind
 * (Documentation/RCU/whatisRCU.rst and checklist.rst in Linux).
 */
#ifndef OUTRIDER_PRUNER_PUBLISH_H
#define OUTRIDER_PRUNER_PUBLISH_H

#include "pruner/view.h"

struct publish {
	/* The store is a plain or an exchanging one of 8 bytes, and all code that it may go on to was kept. */
	bool known;
	/* The function that returned the object which the store makes reachable. NULL: not a new one, as far as can be seen. */
	const char *maker;
	/* The new object leads to what was there before, as an entry that is added to a list does. */
	bool keeps;
	/* The function has tested that NULL was there. */
	bool over_null;
	/* An object is taken out: the one that was there, or the one whose successor is stored. */
	bool removes;
	/* The function called behind the store that waits for a grace period, or frees after one. NULL: none is called. */
	const char *grace;
	/* `grace` is given the object that is taken out; or it waits, and what frees that object is called behind it. */
	bool grace_of_removed;
	/* A function that may be called behind the store, and that frees at once, without a grace period before it. */
	const char *freed;
	/* `freed` is given the object that is taken out, or the one that the store makes reachable. */
	bool freed_of_shared;
	/* The function lets a grace period pass, on this way or on another. */
	bool waits_somewhere;
	/* The function frees something at once, on this way or on another. */
	bool frees_elsewhere;
	/*
	 * The object that is taken out has its link changed, or is put in again, with no grace period in between; or the store
	 * is into an object that is put in only afterwards, so that a reader who is there has stayed from earlier.
	 */
	bool reused;
};

/* Set *out to what the access of a side that stores is about. */
void publish_of(const struct view *v, const struct view_side *s, struct publish *out);

/*
 * Whether the reader goes through the pointer that it read behind a call which ends its read-side critical section, and took no
 * reference on the object before, which a LOCKed instruction on it may be.
 */
bool publish_outlives_section(const struct view *v, const struct view_side *s);

/*
 * Whether the reader is no mere reader: it also stores where it read, or stores elsewhere the pointer that it read, as who
 * changes a list does.
 */
bool publish_by_reader(const struct view_side *s);

#endif
