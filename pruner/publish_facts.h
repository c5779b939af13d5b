/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a store of a pointer. For pruner/publish.h and the files behind it. */
#ifndef OUTRIDER_PRUNER_PUBLISH_FACTS_H
#define OUTRIDER_PRUNER_PUBLISH_FACTS_H

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
	/*
	 * A function that frees at once, without a grace period before it. It may be called behind the store, or on another way
	 * where `freed_of_shared` says so.
	 */
	const char *freed;
	/*
	 * `freed` is given the object that is taken out, or the one that the store makes reachable; or what another store of
	 * the function has taken out, on any way.
	 */
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
	/*
	 * The object that is taken out is given to a function that is not known, or a pointer to it is stored, with no grace
	 * period in between.
	 */
	bool hands_on;
	/* The new object has a field stored behind the store, which was not stored before. */
	bool completes_late;
};

#endif
