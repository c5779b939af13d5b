/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's terminal as the guest's keyboard. Every key goes to the guest at once and without an echo. Ctrl-C alone does not:
 * it stays the user's way to end the run.
 */
#ifndef OUTRIDER_SESSION_TERMINAL_H
#define OUTRIDER_SESSION_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

struct terminal {
	bool changed;	      /* The mode was changed and `saved` is set. */
	struct termios saved; /* The mode that terminal_restore() brings back. */
};

/* Say whether standard input may be read: it is no terminal, or it is a terminal whose foreground job we are. */
bool terminal_readable(void);

/* Say whether standard output is a terminal that can show colours and the user has not set NO_COLOR (no-color.org). */
bool terminal_wants_colour(void);

/*
 * Returns how many characters fit into a line of standard output: COLUMNS where the user has set it, else the width of the
 * terminal that standard output is, else 79.
 */
unsigned terminal_width(void);

/*
 * Switch the terminal to the guest's mode. This does nothing when standard input is not a terminal whose foreground job we are.
 * terminal_restore() must follow on every way out. A crash (hv/base/signals.h) is such a way, too: the mode is brought back by
 * a handler, and the process then dies of the signal. So a process has one terminal at a time.
 */
void terminal_guest_mode(struct terminal *t);

/* Bring the saved mode back. This may be called twice, from any thread, and from a signal handler. */
void terminal_restore(struct terminal *t);

#endif
