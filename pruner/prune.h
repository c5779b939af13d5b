/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pruner tells likely bugs from races that do no harm, by the records of a run alone (DataCollider, section 3.3; the replay
 * paper, table 2). It throws nothing away: a verdict orders the list of races, names the pattern, and says in a sentence that a
 * maintainer can check why the pattern fits. This header is all that a caller needs.
 *
 * Rules look only at records and at lists from files, so a verdict is the same on every machine.
 */
#ifndef OUTRIDER_PRUNER_PRUNE_H
#define OUTRIDER_PRUNER_PRUNE_H

#include "hv/race/store.h"
#include "pruner/company.h"
#include "pruner/prune_rules.h"
#include "pruner/verdict.h"

/* The name of each rule and what the rule looks for. An entry with a NULL name ends the array. */
struct prune_rule_help {
	const char *name, *what;
};
extern const struct prune_rule_help prune_rule_help[];

/* Judge one race by all of its instances. When memory runs out the verdict is VERDICT_UNCLEAR, and its evidence says so. */
void prune_race(const struct prune_rules *rules, const struct race *race, struct verdict *out);

/* The same, with the other races of the record, which some rules ask for. `company` may be NULL. */
void prune_race_among(const struct prune_rules *rules, const struct company *company, const struct race *race,
		      struct verdict *out);

#endif
