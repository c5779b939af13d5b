/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Standard output and standard error shared by the guest's console, reports and notes, so that none tears another's lines: a
 * report is written whole, at the start of a line, whatever the console was in the middle of.
 *
 * Any thread may call; a lock inside.
 */
#ifndef OUTRIDER_SESSION_SCREEN_H
#define OUTRIDER_SESSION_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

struct screen;

/* NULL: out of memory, see err. */
struct screen *screen_new(struct err *err);
void screen_free(struct screen *s);

/* Whole lines, to standard output. */
void screen_report(struct screen *s, const char *text, size_t len);

/* "outrider: LINE" to standard error. Never waits for a reader of standard output. */
void screen_note(struct screen *s, const char *line);

/* Bytes of the guest's console, to standard output, lines as the guest makes them. */
void screen_console(struct screen *s, const void *bytes, size_t len);

/* Whether standard output could not be written (its reader is gone, a full disk): 0, or -1 with err set. */
int screen_check(struct screen *s, struct err *err);

#endif
