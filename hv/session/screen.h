/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen is standard output and standard error, shared by the guest's console, reports and notes, so that none of them
 * tears the lines of another. A report is written whole and begins at the start of a line, even when the console has left an
 * unfinished line there.
 *
 * Any thread may call these functions. The screen has a lock of its own.
 */
#ifndef OUTRIDER_SESSION_SCREEN_H
#define OUTRIDER_SESSION_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

struct screen;

/* Returns NULL with err set when memory ran out. */
struct screen *screen_new(struct err *err);
void screen_free(struct screen *s);

/* Write whole lines to standard output. */
void screen_report(struct screen *s, const char *text, size_t len);

/* Let screen_note() show nothing from now on. Call it before other threads use the screen. */
void screen_set_quiet(struct screen *s);

/* Show an error as screen_note() shows a note, also on a quiet screen. */
void screen_error(struct screen *s, const char *line);

/* Write "outrider: LINE" to standard error, cleaned by clean_line(). This never waits for a reader of standard output. */
void screen_note(struct screen *s, const char *line);

/* The same for who must not wait for a reader of standard error either: where nobody reads it, the note is left out. */
void screen_try_note(struct screen *s, const char *line);

/* Write bytes of the guest's console to standard output, with the line ends that the guest made. */
void screen_console(struct screen *s, const void *bytes, size_t len);

/*
 * Say whether all writes to standard output have succeeded so far: 0, or -1 with err set when one failed, for example because
 * the reader is gone or the disk is full.
 */
int screen_check(struct screen *s, struct err *err);

#endif
