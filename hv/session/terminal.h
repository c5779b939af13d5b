/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's terminal as the guest's keyboard: every key goes to the guest at once and unechoed, except Ctrl-C, which stays
 * the user's way to end the run.
 */
#ifndef OUTRIDER_SESSION_TERMINAL_H
#define OUTRIDER_SESSION_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

struct terminal {
	bool changed;
	struct termios saved;
};

/* Whether standard input may be read: not a terminal, or one whose foreground job we are. */
bool terminal_readable(void);

/* Whether standard output is a terminal that takes colours, of a user who has not asked for none (no-color.org). */
bool terminal_wants_colour(void);

/* Does nothing when standard input is not a terminal of ours. terminal_restore() must follow, on every way out. */
void terminal_guest_mode(struct terminal *t);

/* Safe to call twice, from any thread and from a signal handler. */
void terminal_restore(struct terminal *t);

#endif
