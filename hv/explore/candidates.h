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

/* Find the candidates in the recordings, and store them in `result`, which has none yet. Returns 0, or -1 with `err` set. */
int candidates_find(const struct recordings *r, const struct kernel *kernel, struct explore_result *result, struct err *err);

/*
 * Find the candidates that show only while one program is held, and insert them after the first `tried` candidates of `result`,
 * which were tried already. For this, use the first config->chains tried candidates at which a trial let one side run to its
 * end while the other side was held (explore_lets_run()). At each of them, record the side that ran once more, while the other
 * side is held at the same place.
 *
 * This is for a fault that needs two pairs of accesses in order: because of the first pair, a program takes a branch on which
 * it comes to its access of the second pair (a causality chain, as in AITIA, EuroSys'23). Returns 0, or -1 with `err` set.
 */
int candidates_after(const struct base *base, const struct recordings *r, const struct explore_config *config,
		     const struct kernel *kernel, unsigned tried, struct explore_result *result, struct err *err);

#endif
