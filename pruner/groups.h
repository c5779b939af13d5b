/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of judged races: verdicts in, groups out. The races of a group usually are one bug, so reports show the group's lead
 * in full, and the other races below it. hv/race/group_key.h says which races are of one group.
 */
#ifndef OUTRIDER_PRUNER_GROUPS_H
#define OUTRIDER_PRUNER_GROUPS_H

#include <jansson.h>

#include "hv/race/group_key.h"
#include "pruner/verdicts.h"

struct group {
	/*
	 * The group's id, made by group_key(): the same in every build of the kernel, and different for each group of a list.
	 */
	char id[RACE_ID_MAX];
	/* The id that the group has in a list made without debug files; "": not known. */
	char alias[RACE_ID_MAX];
	/* What the races of the group share, as group_key() writes it: both functions and the datum. */
	const char *text;
	/*
	 * The races, as indices into the list of verdicts. The first is the lead: the race with the worst class and, within
	 * this class, the highest rank. Its verdict and evidence are the group's. Suppressed races come last, whatever their
	 * verdict.
	 */
	const size_t *members;
	size_t count;
	/* Number of observations of all races. */
	uint64_t seen;
	/*
	 * The lead: members[0]. Suppressed races come last, so if the lead is suppressed, all races are, and the group counts
	 * as suppressed.
	 */
	const struct judged *lead;
};

/* The groups of a list of verdicts. The pointers in the groups lead into that list. */
struct groups {
	struct group *list;
	size_t count;
	/* Number of races in the list of verdicts. */
	size_t races;
	/* For each race of the list of verdicts: the index of its group. */
	size_t *of;
	/* The storage of all `members` and of all texts. */
	size_t *members;
	struct group_key *keys;
};

/*
 * Group a list of verdicts, which must outlive `out` and keep its order. The groups are in the order of their first races in
 * the list. Returns 0, or -1 with err set if memory ran out. The caller calls groups_free() in both cases.
 */
int groups_find(struct groups *out, const struct verdicts *v, struct err *err);
void groups_free(struct groups *g);

/*
 * Sort the groups: suppressed ones last, then by class and rank of the lead, then in the order in which the leads were found.
 */
void groups_sort(struct groups *g);

/* Returns the group of race `index` of the list of verdicts. */
const struct group *groups_of(const struct groups *g, size_t index);

/*
 * Print the totals in one line: "26 likely bugs (52 races), 12 unclear, 40 benign". Each number counts groups. If the number of
 * races differs from the number of groups, it follows in parentheses.
 */
void groups_sum(FILE *out, const struct groups *g);

/* Print a table with one line for each group. The line has the id of the group's lead. Prints nothing if there is no group. */
void groups_table(FILE *out, const struct groups *g);

/*
 * Print the other races of the group that has race `index`, one line for each. Prints nothing if the group has no other race.
 */
void groups_others(FILE *out, const struct groups *g, const struct verdicts *v, size_t index);

/* Returns the list of groups as docs/report-format.md describes it, or NULL when memory ran out. The caller owns the result. */
json_t *groups_json(const struct groups *g, const struct verdicts *v);

#endif
