/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Redirects a command's standard output: to --output FILE, to a pager, or not at all. The command prints on `stdout` in all
 * cases. Only one struct redirect may be open at a time.
 */
#ifndef OUTRIDER_CLI_REDIRECT_H
#define OUTRIDER_CLI_REDIRECT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "hv/base/err.h"

struct redirect {
	/* The values of the options --output and --no-pager. */
	const char *file; /* --output, or NULL */
	bool no_pager;
	/* Private to redirect.c. */
	int saved;	      /* the previous standard output, plus 1; 0: not redirected */
	pid_t pager;	      /* 0: no pager */
	char place[PATH_MAX]; /* path of `file` with all symbolic links resolved */
	/* path of the temporary file that is renamed to `place` when the output is complete; "": there is none */
	char next[PATH_MAX];
};

/*
 * Open --output FILE, if it was given. A regular file is replaced only if redirect_end() finds the output complete; until then
 * its old content stays. A symbolic link is followed, and stays a link. A FIFO or a device is written directly. Returns 0, or
 * -1 with EXIT_INPUT.
 */
int redirect_begin(struct redirect *o, struct err *err);

/*
 * Pass the text that follows through a pager, if standard output is a terminal and neither --output nor --no-pager was given.
 * The pager is $OUTRIDER_PAGER, or $PAGER, or less; `cat` or "" means none. The pager is started with LESS=FRX unless the user
 * has set LESS. If the pager cannot be found, a line on standard error says so, and the text is printed without a pager.
 */
void redirect_page(struct redirect *o);

/*
 * End the redirection, after the command has printed everything, or failed with `err`: flush standard output, rename the
 * temporary file to FILE, wait for the pager, and restore standard output. After a failure the incomplete file is removed; the
 * same happens if SIGINT, SIGTERM or SIGHUP ends the process before this call. A pager that the user quits early is no failure.
 * `err` becomes EXIT_INPUT if FILE could not be written. Does nothing without redirect_begin() and redirect_page().
 */
void redirect_end(struct redirect *o, struct err *err);

#endif
