/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the ranked candidates into the order in which they are tried. Has no side effects. */
#ifndef OUTRIDER_EXPLORE_ORDER_H
#define OUTRIDER_EXPLORE_ORDER_H

#include <stddef.h>

#include "hv/explore/facts.h"

/*
 * A cluster is the candidates of the same two functions. Two functions that access one object have many candidates, which often
 * have the same outcome; so the first candidate of each cluster is tried before the second of any, as Snowboard (SOSP'21,
 * section 4.3) tries one pair of each of its clusters. Candidates of different rank classes (explore_reasons() and the number
 * of baseline sides) are not mixed: all of a better class come first. But candidates in a module whose only reason is a common
 * lock, or that both accesses are locked, alternate with those outside of modules that have no reason. And candidates with an
 * access in a call of explore_config.also come first, unless they have a reason other than these two. `all` is sorted by rank
 * (pairs_find()) and named. Returns 0, or -1 if memory ran out; then the order has not changed.
 */
int order_by_clusters(struct explore_candidate *all, size_t count);

#endif
