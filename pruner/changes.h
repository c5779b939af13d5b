/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between two lists of judged races: which races are new, which are gone, and which have another verdict.
 *
 * A race has the same id in every run of one build of the kernel. Another build moves instructions and so changes ids. Races of
 * different builds whose ids do not match are therefore compared by their identities (hv/race/race_key.h), then by their
 * aliases, and at last, if the datum is unknown, by functions and kinds of access alone.
 */
#ifndef OUTRIDER_PRUNER_CHANGES_H
#define OUTRIDER_PRUNER_CHANGES_H

#include "pruner/verdicts.h"

enum change_kind {
	/* Only the new list has the race. */
	CHANGE_NEW,
	/* Both lists have the race, with different classes or rules. */
	CHANGE_VERDICT,
	/* Only the old list has the race. */
	CHANGE_GONE,
	/* Both lists have the race, with different ids and the same verdict. */
	CHANGE_MOVED,
	/* Both lists have the race, with the same id and verdict. */
	CHANGE_NONE,
	CHANGE_KINDS,
};

struct change {
	enum change_kind kind;
	/* The race in the old list. NULL: the old list does not have the race. */
	const struct judged *before;
	/* The race in the new list. NULL: the new list does not have the race. */
	const struct judged *now;
};

struct changes {
	struct change *list;
	size_t count;
	size_t of_kind[CHANGE_KINDS]; /* The number of changes of each kind. */
};

/*
 * Says whether the two lists come from the same build of the kernel or of a module. Two races of one build are the same race
 * only if their ids are equal.
 */
struct changes_builds {
	/* Returns whether both lists come from the same build of `module`, or, if `module` is "", of the kernel itself. */
	bool (*same)(void *ctx, const char *module);
	void *ctx;
};

/*
 * Compare two lists, which must outlive `out`. `out` lists the changes in the order of enum change_kind. Changes of one kind
 * are in the order of the new list, and those of CHANGE_GONE in the order of the old list. `builds` may be NULL: the
 * builds are unknown. Returns 0, or -1 with err set if memory ran out. The caller calls changes_free() in both cases.
 */
int changes_find(struct changes *out, const struct verdicts *before, const struct verdicts *now,
		 const struct changes_builds *builds, struct err *err);
void changes_free(struct changes *c);

/* Returns whether the race is new, or has a verdict of a worse class than before. False for a suppressed race. */
bool change_is_worse(const struct change *c);

#endif
