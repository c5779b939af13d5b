/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen is standard output and standard error, shared by the guest's console, reports and messages. None of these splits a
 * line of another. A report is written whole and starts at the beginning of a line, even after an unfinished console line. A
 * status line on a terminal is removed before anything else is written.
 *
 * Any thread may call these functions. The screen has its own lock.
 */
#ifndef OUTRIDER_SESSION_SCREEN_H
#define OUTRIDER_SESSION_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"
#include "hv/session/patience.h"

struct screen;

/* Returns a new screen, or NULL with err set if memory runs out. */
struct screen *screen_new(struct err *err);
void screen_free(struct screen *s);

/* Write whole lines to standard output. */
void screen_report(struct screen *s, const char *text, size_t len);

/* Show no messages and no status line from now on, only errors. Call it before other threads use the screen. */
void screen_set_quiet(struct screen *s);

/* Show an error as screen_message() shows a message, even on a quiet screen. */
void screen_error(struct screen *s, const char *line);

/*
 * Write "outrider: LINE" to standard error, cleaned by clean_line() and cut to 698 bytes. Waits at most 200 ms for a thread
 * that waits for a reader of standard output.
 */
void screen_message(struct screen *s, const char *line);

/*
 * Write a message like screen_message(), but wait at most 200 ms for a reader of standard error: the message is dropped if
 * standard error is not ready by then.
 */
void screen_try_message(struct screen *s, const char *line);

/*
 * Draw a status line on standard error, in place of the one that is there now, cut to the terminal's width. This function does
 * not wait: it draws nothing if the screen or the terminal is busy. It also draws nothing if terminal_shows_status() was false
 * in screen_new(), if the screen is quiet, after screen_end_status(), while this process is not in the terminal's foreground
 * job, and in the middle of a console line on the same terminal.
 */
void screen_status(struct screen *s, const char *line);

/* Remove the status line, and draw none from now on. */
void screen_end_status(struct screen *s);

/* Remove the status line because the process ends now. Takes no lock, and does not wait for the terminal. */
void screen_abandon_status(struct screen *s);

/* Write bytes of the guest's console to standard output, with the guest's line ends. */
void screen_console(struct screen *s, const void *bytes, size_t len);

/*
 * Wait for readers one second more and then no longer, because the run was asked to end. After this second, unread output is
 * kept for screen_check(), and unread messages are dropped.
 */
void screen_hurry(struct screen *s);

/* Returns the patience of the screen, for other writers that wait for a reader. Valid as long as the screen. */
const struct patience *screen_patience(const struct screen *s);

/*
 * Write the kept output, waiting for the reader. Returns 0, or -1 with err set if any write to standard output has failed, for
 * example because the reader is gone or the disk is full.
 */
int screen_check(struct screen *s, struct err *err);

#endif
