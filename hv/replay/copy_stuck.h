/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPLAY_COPY_STUCK_H
#define OUTRIDER_REPLAY_COPY_STUCK_H

#include "hv/replay/copy.h"
#include "hv/replay/stuck.h"

/* Returns the functions by which stuck_run() runs the copy. */
struct stuck_ops copy_stuck_ops(struct copy *c);

#endif
