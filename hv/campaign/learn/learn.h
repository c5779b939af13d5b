/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Learns from the coverage of all earlier runs: writes a file for --prefer (docs/coverage-format.md) with weights for the next
 * run. docs/learning.md describes how the weights are computed, and how many more pairs of racing sites runs find with them.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_LEARN_H
#define OUTRIDER_CAMPAIGN_LEARN_LEARN_H

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

/*
 * Write the weights of the kernel with this build id (hexadecimal) to `path`, as a new file that replaces the old one by a
 * rename. Returns 0, or -1 with err set. Returns 1 and writes no file if the store has no coverage of that build. The same
 * content of the store always gives the same file: the random choice of sites is left to the run, which has a seed.
 */
int learn_prefer(struct store *s, const char *build_id, const char *path, struct err *err);

#endif
