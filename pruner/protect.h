/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lock protects what, and where it is missing: suspicions, found in the record of accesses and the locks held at them
 * (hv/race/protection.h). A suspicion is no race: nobody saw both accesses in conflict. The method is DILP's (SANER'19, III-C),
 * with what it leaves out added: objects that are not published yet, RCU, per-CPU data, marked accesses.
 *
 * A pure function: the same record gives the same list in the same order.
 */
#ifndef OUTRIDER_PRUNER_PROTECT_H
#define OUTRIDER_PRUNER_PROTECT_H

#include "hv/base/err.h"
#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

struct prune_rules;

/*
 * All is filled in but `proof`. `rules` may be NULL: then nothing is known of marked accesses and of data that is worse to
 * break. *out must be given to suspicions_fini() whatever is returned. 0, or -1 with EXIT_INTERNAL in err when memory runs out.
 */
int protect_judge(const struct protection *p, const struct prune_rules *rules, struct suspicions *out, struct err *err);

#endif
