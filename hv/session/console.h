/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's serial console. A pipe and a thread carry its bytes to the screen or to a file. The thread also detects the
 * first line of a kernel panic: without a pvpanic driver, a stock kernel reports a panic in no other way.
 */
#ifndef OUTRIDER_SESSION_CONSOLE_H
#define OUTRIDER_SESSION_CONSOLE_H

#include <stdint.h>

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/session/screen.h"

struct console;

/*
 * Open the console and start its thread. `file` is created, or truncated if it exists. At most about `most` bytes are written
 * to the file, since a guest can write without end. When this limit is reached, a line in the file and a message on `screen`
 * say so. `clean`: bytes that are not printable ASCII become \xHH, except tabs and line ends. If `file` is NULL, the console is
 * written to `screen`. `screen` must outlive the console. Returns NULL with err set on failure, also if `file` is a FIFO that
 * no process reads.
 */
struct console *console_open(const char *file, uint64_t most, bool clean, struct screen *screen, struct err *err);

/* Returns whether the console is shown on a terminal: it is written to the screen, or its file is a terminal. */
bool console_is_shown(const struct console *c);

/* Returns the descriptor that the guest's serial port writes to. The console owns it. */
int console_fd(const struct console *c);

/*
 * Returns the message of the kernel's first panic, made printable: the text after "Kernel panic - not syncing: " in the first
 * line that begins with these words. printk's time stamp may precede them. Only the first 200 bytes of a line are looked at.
 * Returns NULL if there was no such line. Any thread may call this function.
 */
const char *console_panic(const struct console *c);

/*
 * Forward what is left in the pipe and join the thread; console_panic() does not change after that. The serial port must no
 * longer use the descriptor. Returns 0, or -1 with err set if output within the limit could not be written to the file. A
 * second call only returns the same result.
 */
int console_finish(struct console *c, struct err *err);

/* Call console_finish(), and free the console. `c` may be NULL. */
void console_free(struct console *c);

#endif
