/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Linux kernel says on its console when something has gone wrong. A pure function. */
#ifndef OUTRIDER_REPLAY_TROUBLE_H
#define OUTRIDER_REPLAY_TROUBLE_H

#include <stddef.h>

#include "hv/race/replay.h"

enum trouble {
	TROUBLE_NONE,
	/* A warning, after which the kernel goes on as if nothing had happened. */
	TROUBLE_WARNING,
	/* An oops, a panic, or a lockup. */
	TROUBLE_FAULT,
};

/*
 * Find the first line of trouble in `len` bytes of a console, which are the guest's and may be anything. `line` becomes this
 * line without its time stamp, cut to REPLAY_TEXT_MAX; "" when there is none. Where a warning has words of its own, `line` is
 * these, and not the line that says where in the kernel the warning is. Its bytes are the guest's still.
 */
enum trouble trouble_find(const char *text, size_t len, char line[REPLAY_TEXT_MAX]);

#endif
