/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's console as it grows: which lines tell of a panic or a lockup, and when the last byte came. The guest may write
 * what it likes: lines are of bounded length, and only what the kernel's own messages look like counts. One thread.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_CONSOLE_H
#define OUTRIDER_CAMPAIGN_RUNNER_CONSOLE_H

#include <stdint.h>

#include "hv/campaign/runner/ending.h"

#define CONSOLE_LINE_MAX 512

struct console {
	uint64_t seen;	  /* bytes of the file that were read */
	uint64_t last_ns; /* when it grew last, of monotonic_ns() */
	char line[CONSOLE_LINE_MAX + 1];
	unsigned len;
};

/*
 * Read what has come into the file `path` since the last call, and add to `ending` what it tells. `file` is its name in the
 * run's folder. At the end of the run, a last line without a newline is looked at too.
 */
void console_read(struct console *c, const char *path, const char *file, bool end, struct ending *ending);

/* What the line of a kernel's message tells: STORE_PANIC, STORE_LOCKUP, or STORE_OK for nothing. */
enum store_outcome console_judge(const char *line);

#endif
