/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's serial console. A pipe and a thread of ours carry it to the screen or to a file. The thread also recognises the
 * line that begins a kernel panic, since a stock kernel without a pvpanic driver tells its machine in no other way.
 */
#ifndef OUTRIDER_SESSION_CONSOLE_H
#define OUTRIDER_SESSION_CONSOLE_H

#include <stdint.h>

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/session/screen.h"

struct console;

/*
 * Open the console and start its thread. `file` is created, or truncated if it exists. A guest can write without end, so at
 * most about `most` bytes go to the file; a line in it and a note on `screen` say so. With `clean` bytes that
 * are not printable ASCII become \xHH, except for tabs and the ends of lines. A NULL `file` sends the console to `screen`,
 * which must outlive the console. Returns NULL with err set on failure.
 */
struct console *console_open(const char *file, uint64_t most, bool clean, struct screen *screen, struct err *err);

/* The descriptor that the guest's serial port writes to. The console owns it. */
int console_fd(const struct console *c);

/*
 * The kernel's own words for its panic, made printable: the rest of the first line that begins with "Kernel panic - not
 * syncing: ". NULL while there was no such line. Any thread may call this.
 */
const char *console_panic(const struct console *c);

/*
 * Forward what is still in the pipe and join the thread. After that console_panic() does not change any more. The serial port
 * must not use the descriptor any more. A second call does nothing. Returns 0, or -1 with err set when the file does not hold
 * all of the console.
 */
int console_finish(struct console *c, struct err *err);

/* Finish and free the console. A NULL `c` is allowed. */
void console_free(struct console *c);

#endif
