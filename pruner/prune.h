/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pruner separates likely bugs from races that do no harm, by the record of a run alone (DataCollider, section 3.3;
 * PLDI'07, table 2). It drops no race. A verdict gives a race its place in the list, names the pattern, and gives the evidence
 * in a sentence that a maintainer can check. A caller of the pruner needs only this header.
 *
 * Rules use only records and lists from files, so a verdict is the same on every machine.
 */
#ifndef OUTRIDER_PRUNER_PRUNE_H
#define OUTRIDER_PRUNER_PRUNE_H

#include "hv/race/store.h"
#include "pruner/lists/prune_rules.h"
#include "pruner/patterns/related.h"
#include "pruner/rules/rule.h"

/* Judge one race by all its kept instances. When memory runs out, the verdict is VERDICT_UNCLEAR with evidence that says so. */
void prune_race(const struct prune_rules *rules, const struct race *race, struct verdict *out);

/* As prune_race(), with the other races of the report, which some rules use. `related` may be NULL. */
void prune_race_among(const struct prune_rules *rules, const struct related *related, const struct race *race,
		      struct verdict *out);

#endif
