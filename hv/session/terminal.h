/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's terminal as the guest's keyboard. Every key is sent to the guest at once and without echo, except Ctrl-C, which
 * still ends the run.
 */
#ifndef OUTRIDER_SESSION_TERMINAL_H
#define OUTRIDER_SESSION_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
	/* The mode was changed, and `saved` is set. */
	bool changed;
	struct termios saved; /* The mode that terminal_restore() restores. */
};

/* Returns whether standard input may be read: it is no terminal, or this process is in the terminal's foreground job. */
bool terminal_readable(void);

/* Returns whether the file `fd` is a terminal with colours, and the user has not set NO_COLOR (no-color.org). */
bool terminal_wants_colour(int fd);

/*
 * Returns whether a status line can be drawn on standard error: it is a terminal that can move its cursor. Returns false if
 * standard output is a pipe, because the pipe's reader may write to the same terminal, as tee(1) does.
 */
bool terminal_shows_status(void);

/*
 * Returns the number of characters in a line of the terminal at standard error, or 80 if the terminal does not say. Returns 0
 * if `job`, the process group of this process, is not the terminal's foreground job: then another program uses the terminal.
 */
unsigned terminal_status_width(pid_t job);

/* Returns the number of characters in a line of standard output: COLUMNS if set, else the width of the terminal, else 79. */
unsigned terminal_width(void);

/*
 * Switch the terminal to the guest's mode. Does nothing if standard input is no terminal, or if this process is not in its
 * foreground job. Call terminal_restore() on every path to the process's end. On a crash (hv/base/signals.h) a handler restores
 * the mode, and the process then dies of the signal. The handler knows only one mode, so a process can have one terminal at a
 * time.
 */
void terminal_guest_mode(struct terminal *t);

/* Restore the saved mode. May be called twice, on any thread, and in a signal handler. */
void terminal_restore(struct terminal *t);

#endif
