/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes interleavings of two programs happen, instead of waiting for them. A caller includes only this header.
 *
 * A guest is booted until both programs wait at the mark (hv/vmm/platform/mark.h), and its machine is saved. All further runs
 * are made in copies of this machine, each copy in a process of its own: each program alone, to record which kernel memory it
 * accesses; then both serial orders; and then the trials. A trial forces one schedule at a candidate, a pair of accesses of the
 * two programs to the same bytes. docs/exploring.md describes the method and its limits.
 *
 * If sandbox_prepare() was called before, explore_run() confines the calling process before the guest's first instruction, and
 * each copy's process. After explore_run(), the caller finishes writing its output, and then calls sandbox_finish().
 *
 * All functions are called on one thread.
 *
 * Until the first trial begins, SIGINT, SIGTERM and SIGHUP end the process. From then on, such a signal ends the trials: no
 * further trial starts, and explore_run() returns what was found.
 */
#ifndef OUTRIDER_EXPLORE_EXPLORE_H
#define OUTRIDER_EXPLORE_EXPLORE_H

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/explore/facts.h"
#include "hv/explore/skip.h"
#include "hv/explore/words.h"

/*
 * Explore. Returns 0, or -1 with `err` set: EXIT_INPUT if the programs do not come to the mark, if the guest's kernel complains
 * in a serial order already, or if a serial order does not end. The caller frees the result by explore_free() in both cases.
 */
int explore_run(const struct explore_config *config, struct explore_result *result, struct err *err);
void explore_free(struct explore_result *result);

#endif
