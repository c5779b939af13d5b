/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is different between two lists of judged races: which races are new, which are gone, and of which the verdict changed.
 *
 * A race has the same id in every run of one build of the kernel. Another build moves instructions, and with them the ids. So
 * races that are left over are matched once more by both functions, by what each side does, and by the name of the datum.
 */
#ifndef OUTRIDER_PRUNER_CHANGES_H
#define OUTRIDER_PRUNER_CHANGES_H

#include "pruner/verdicts.h"

enum change_kind {
	CHANGE_NEW,	/* Only the new list has the race. */
	CHANGE_VERDICT, /* Both have it, with another class or by another rule. */
	CHANGE_GONE,	/* Only the old list has it. */
	CHANGE_MOVED,	/* Both have it, with another id and the same verdict. */
	CHANGE_NONE,	/* Both have it, with the same id and verdict. */
	CHANGE_KINDS,
};

struct change {
	enum change_kind kind;
	const struct judged *before; /* NULL: the old list does not have the race. */
	const struct judged *now;    /* NULL: the new list does not have it. */
};

struct changes {
	struct change *list;
	size_t count;
	size_t of_kind[CHANGE_KINDS]; /* How many there are of each kind. */
};

/*
 * Compare two lists, which must outlive `out`. The changes are in the order of enum change_kind, and those of a kind in the
 * order of the list that has them, the new one if both do. Returns 0, or -1 with err set when memory ran out. changes_free()
 * must follow in both cases.
 */
int changes_find(struct changes *out, const struct verdicts *before, const struct verdicts *now, struct err *err);
void changes_free(struct changes *c);

/* Returns whether the race is new, or has a verdict of a worse class than before. Suppressed races never count. */
bool change_is_worse(const struct change *c);

#endif
