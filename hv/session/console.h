/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the guest's serial console goes: through a pipe and a thread of ours to the screen or a file. On the way a kernel
 * panic is recognised, since a stock kernel has no other way to tell a machine without pvpanic.
 */
#ifndef OUTRIDER_SESSION_CONSOLE_H
#define OUTRIDER_SESSION_CONSOLE_H

#include "hv/base/err.h"
#include "hv/session/screen.h"

struct console;

/* `file` (created or truncated), or NULL for the screen. `screen` must outlive the console. NULL: see err. */
struct console *console_open(const char *file, struct screen *screen, struct err *err);

/* The descriptor the guest's serial port writes to; the console's own. */
int console_fd(const struct console *c);

/*
 * What the kernel panicked of, made printable: the rest of the first line that begins with "Kernel panic - not syncing: ". NULL
 * while it has not. Any thread.
 */
const char *console_panic(const struct console *c);

/*
 * Forward what is still in the pipe; after that console_panic() is final. The serial port must be done with the descriptor.
 * Again is no harm. 0, or -1 with err set when the file does not hold all of it.
 */
int console_finish(struct console *c, struct err *err);

/* Finishes too. NULL is nothing. */
void console_free(struct console *c);

#endif
