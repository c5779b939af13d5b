/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the ranked candidates into the order in which they are tried. Has no side effects. */
#ifndef OUTRIDER_EXPLORE_ORDER_H
#define OUTRIDER_EXPLORE_ORDER_H

#include <stddef.h>

#include "hv/explore/facts.h"

/*
 * Put candidates that are sorted by rank (pairs_find()) and named into the order in which they are tried. A cluster is the
 * candidates of the same two functions. Two functions that access one object have many candidates, which often have the same
 * outcome. So the first candidate of each cluster is tried before the second candidate of any cluster, as Snowboard (SOSP'21,
 * section 4.3) tries one pair of each of its clusters.
 *
 * A rank class is the candidates with the same explore_reasons(), the same number of baseline sides and the same value of
 * `module`. All candidates of a better class are tried before those of a worse class, with two exceptions:
 *  - Candidates in a module that rank lower only because of a common lock, or because both accesses are locked, alternate with
 *    the candidates that have no reason for a lower rank and are outside of modules.
 *  - Candidates with an access in a call of explore_config.also come first, unless they have a reason other than these two.
 *
 * Returns 0, or -1 if memory ran out; then the order has not changed.
 */
int order_by_clusters(struct explore_candidate *all, size_t count);

#endif
