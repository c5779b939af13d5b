/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Infers which lock protects which datum, and which accesses do not hold that lock. The results are suspicions. The input is
 * the record of accesses and of the locks held at them (hv/race/protection.h). A suspicion is no race: no window showed both
 * accesses in conflict. The method is DILP's (SANER 2019, III-C). In addition to DILP, the checks exclude objects that are not
 * published yet, RCU, per-CPU data and marked accesses.
 *
 * The result depends on the arguments only: the same record gives the same list in the same order.
 */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_H

#include "hv/base/err.h"
#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

struct prune_rules;

/*
 * Find the suspicions of a record. Sets all members of *out but `confirm` and `reached`. `rules` may be NULL; then no lists of
 * marked accesses and data are used. The caller gives *out to suspicions_fini() in any case. Returns 0, or -1 with
 * EXIT_INTERNAL if memory ran out.
 */
int protect_judge(const struct protection *p, const struct prune_rules *rules, struct suspicions *out, struct err *err);

#endif
