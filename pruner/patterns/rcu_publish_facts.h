/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a store of a pointer does to objects: the result of rcu_publish_of() (pruner/patterns/rcu_publish.h). Below, "the store"
 * is this store, and "the old pointer" is the pointer that was in the memory before the store.
 */
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
	/* The function makes the store only after a test has found that the old pointer is NULL. */
	bool over_null;
	/*
	 * The store removes an object: the object that the old pointer points to, or the entry of a list that is skipped
	 * because the address of the next entry is stored.
	 */
	bool removes;
	/* Before the store, the function stores into the object that the store makes reachable. */
	bool prepares;
	/*
	 * The store is to an element of a table of pointers, and the new object points to the object of an element of the same
	 * table. Most likely both elements are the same one, and then the new object points to the object of the old pointer,
	 * as in `links_old`. The code computes the two indices separately, so the indices are not known to be equal.
	 */
	bool links_table;
	/*
	 * The store takes an object out of a list, and the function changes the object's back link, but not its link to the
	 * next entry: list_del_rcu() does this, so that readers can go on from the object.
	 */
	bool leaves_link;
	/*
	 * The function that the code calls after the store to wait for a grace period, or to free an object after a grace
	 * period. NULL: no such call.
	 */
	const char *grace;
	/* `grace` frees the removed object; or `grace` waits, and the removed object is freed after the wait. */
	bool grace_of_removed;
	/*
	 * A freeing function that the code may call after the store without a grace period between the store and the call.
	 * NULL: no such call. If `freed_of_shared` is set, the call may also be on a path that does not pass the store.
	 */
	const char *freed;
	/*
	 * The call of `freed` may free an object that readers can reach: the object that the store removes, the object that the
	 * store makes reachable, or an object that another store of the function removes.
	 */
	bool freed_of_shared;
	/* As `freed_of_shared`, but only for the object that the store removes or makes reachable. */
	bool freed_of_this;
	/* Some path of the function waits for a grace period, or frees after a grace period. */
	bool waits_somewhere;
	/* Some path of the function frees, without a grace period, an object that the function did not allocate. */
	bool frees_elsewhere;
	/*
	 * The function uses an object again while readers may still access it. Either the function changes the link of the
	 * removed object, or inserts that object again, without waiting for a grace period after the removal. Or the store is
	 * into an object that the function makes reachable only later. A reader that races with this store has reached the
	 * object by an old link, from before the object was removed.
	 */
	bool reused;
	/*
	 * The function passes the removed object to an unknown function, or stores a pointer to it, without a grace period
	 * after the removal.
	 */
	bool escapes;
	/* After the store, the function sets a field of the new object that it did not set before. */
	bool completes_late;
};

#endif
