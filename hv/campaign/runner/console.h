/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the guest's console while it grows: finds lines in which the kernel complains, and notes when the last byte came. The
 * console is not trusted: a line has a bounded length, and only lines that look like kernel messages can be findings. Not
 * thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_CONSOLE_H
#define OUTRIDER_CAMPAIGN_RUNNER_CONSOLE_H

#include <stdint.h>

#include "hv/campaign/runner/ending.h"

#define CONSOLE_LINE_MAX 512

struct console {
	uint64_t seen;	  /* bytes of the file that were read */
	uint64_t last_ns; /* monotonic_ns() when the file last grew */
	char line[CONSOLE_LINE_MAX + 1];
	unsigned len;
};

#define CONSOLE_FILE "console.log" /* in the run's folder */

/*
 * Read the new part of the console's file in the run's folder, and add findings to `ending`. `end` says that the run has ended:
 * then a last line without a newline is read, too.
 */
void console_read(struct console *c, const char *folder, bool end, struct ending *ending);

/* Returns the finding that a console line reports: STORE_PANIC, STORE_LOCKUP or STORE_COMPLAINT, or else STORE_OK. */
enum store_outcome console_judge(const char *line);

#endif
