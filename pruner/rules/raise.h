/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts that make it more likely that a race is a bug, or that make the bug worse. They raise the rank. */
#ifndef OUTRIDER_PRUNER_RULES_RAISE_H
#define OUTRIDER_PRUNER_RULES_RAISE_H

#include "pruner/patterns/view.h"
#include "pruner/rules/verdict.h"

/*
 * Returns whether the value is an address in the kernel's half of the address space, with 4 or 5 levels of page tables. Small
 * negative numbers, such as error codes, are no addresses.
 */
bool raise_is_address(uint64_t value);

/* Returns whether the datum is a pointer by its type or by its values. False if neither is known. */
bool raise_is_pointer(const struct view *v);

/*
 * Returns whether one side may load, or overwrite, only a part of what the other side stores. False if a side is not an access
 * by a vCPU, or its size is not known.
 */
bool raise_may_tear(const struct view *v);

/*
 * Returns the name of a freeing function that side `which` may call after its access, while the other side may still be at its
 * own access. NULL: the side makes no such call, or it frees only after a grace period, and grace periods wait for the other
 * side.
 */
const char *raise_frees(const struct view *v, unsigned which);

/*
 * Add the facts to the evidence: first those about the accesses, then those about the datum, each group by falling points.
 * Returns the sum of their points. Sets *worst to the rule of the fact with the most points, or to RULE_NO_BENIGN_PATTERN if no
 * fact has points.
 */
int raise_points(const struct view *v, struct verdict *out, enum rule_id *worst);

#endif
