/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds error reports of a Linux kernel in its console output. Has no side effects. */
#ifndef OUTRIDER_REPLAY_TROUBLE_H
#define OUTRIDER_REPLAY_TROUBLE_H

#include <stddef.h>

#include "hv/race/replay.h"

enum trouble {
	TROUBLE_NONE,
	/* A warning, after which the kernel continues normally. */
	TROUBLE_WARNING,
	/* An oops, a panic, or a lockup. */
	TROUBLE_FAULT,
};

/*
 * Find the first line of trouble in `len` bytes of console output, which come from the guest and may be anything. `line`
 * becomes this line without its time stamp, cut to REPLAY_TEXT_MAX; "" when there is none. If a warning has a text of its own,
 * `line` is that text instead of the line with the code location. `line` is not made printable.
 */
enum trouble trouble_find(const char *text, size_t len, char line[REPLAY_TEXT_MAX]);

#endif
