/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the candidates in recordings, names them, and puts them into the order in which they are tried. */
#ifndef OUTRIDER_EXPLORE_CANDIDATES_H
#define OUTRIDER_EXPLORE_CANDIDATES_H

#include "hv/base/err.h"
#include "hv/explore/base.h"
#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"
#include "hv/explore/record.h"

struct recordings {
	struct recorded *side[2];
	struct recorded *baseline; /* NULL: not recorded */
};

/* Set the candidates of `result`, which has none yet. Returns 0, or -1 with `err` set. */
int candidates_find(const struct recordings *r, const struct kernel *kernel, struct explore_result *result, struct err *err);

/*
 * Find the candidates that a program meets only while the other one is held, and insert them after the first `tried`
 * candidates, which were tried. Of these, the first config->chains are used at which a trial let one side run to its end while
 * the other one was held: the side that ran is recorded again, while the other one is held at the same place. This is for a
 * fault that needs two pairs of accesses in order: the first pair lets a program take a branch on which it meets the other one
 * again (a causality chain, as in AITIA, EuroSys'23). Returns 0, or -1 with `err` set.
 */
int candidates_after(const struct base *base, const struct recordings *r, const struct explore_config *config,
		     const struct kernel *kernel, unsigned tried, struct explore_result *result, struct err *err);

#endif
