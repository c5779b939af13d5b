/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of rcu_publish_of() (pruner/patterns/rcu_publish.h). */
#ifndef OUTRIDER_PRUNER_PATTERNS_RCU_PUBLISH_FACTS_H
#define OUTRIDER_PRUNER_PATTERNS_RCU_PUBLISH_FACTS_H

#include "pruner/patterns/view.h"

struct rcu_publish {
	/* The instruction stores or exchanges 8 bytes, and all code that may run after it was kept. */
	bool known;
	/* The allocator that returned the object which the store makes reachable. NULL: the code does not show a new object. */
	const char *allocator;
	/* The new object points to the object of the old pointer, as a new entry of a list points to its successor. */
	bool links_old;
	/* The function tested that the old pointer is NULL. */
	bool over_null;
	/*
	 * The store removes an object: the object of the old pointer, or the entry of a list whose successor's address is
	 * stored.
	 */
	bool removes;
	/* A function that the code calls after the store, and that waits for a grace period or frees after one. NULL: none. */
	const char *grace;
	/* `grace` frees the removed object; or it waits, and the removed object is freed after that. */
	bool grace_of_removed;
	/*
	 * A function that frees without a grace period before it. The code may call it after the store; or on another path, if
	 * `freed_of_shared` is set. NULL: none.
	 */
	const char *freed;
	/*
	 * The argument of `freed` is the removed object, the object that the store makes reachable, or an object that another
	 * store of the function removes.
	 */
	bool freed_of_shared;
	/* Some path of the function waits for a grace period, or frees after one. */
	bool waits_somewhere;
	/* Some path of the function frees an object without a grace period, other than one that it allocated itself. */
	bool frees_elsewhere;
	/*
	 * The function changes the link of the removed object, or inserts it again, without a grace period in between. Or the
	 * store is into an object that the function inserts only later, so that a reader at the store reached the object
	 * earlier.
	 */
	bool reused;
	/*
	 * The function passes the removed object to an unknown function, or stores a pointer to it, without a grace period in
	 * between.
	 */
	bool escapes;
	/* After the store, the function sets a field of the new object that it did not set before. */
	bool completes_late;
};

#endif
