/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a command's standard output goes: to --output FILE, to a pager, or where it is. The command prints on `stdout` in all
 * cases. One struct redirect at a time may be open.
 */
#ifndef OUTRIDER_CLI_REDIRECT_H
#define OUTRIDER_CLI_REDIRECT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "hv/base/err.h"

struct redirect {
	/* What the options say. */
	const char *file; /* --output, or NULL */
	bool no_pager;
	/* The rest belongs to redirect.c. */
	int saved;	      /* The standard output from before, plus 1; or 0. */
	pid_t pager;	      /* or 0 */
	char place[PATH_MAX]; /* The file that `file` names, behind all links. */
	char next[PATH_MAX];  /* The file that becomes `place` when the output is whole, or "". */
};

/*
 * Open --output FILE, if there is one. A regular file takes its name only when redirect_end() finds the output whole, so that
 * what had the name stays until then. A link is followed, and stays a link. A FIFO or a device is written at once. Returns 0,
 * or -1 with EXIT_INPUT.
 */
int redirect_begin(struct redirect *o, struct err *err);

/*
 * Text for people follows: pass it through a pager, when standard output is a terminal and neither --output nor --no-pager was
 * given. The pager is $OUTRIDER_PAGER, or $PAGER, or less, and `cat` or nothing means none. It gets LESS=FRX where the user has
 * not set LESS. One line on standard error says when the pager cannot be found. Then the text comes without it.
 */
void redirect_page(struct redirect *o);

/*
 * The command has printed all, or failed with `err`. Where standard output was led elsewhere, flush it, let FILE have its name,
 * wait for the pager, and let standard output be what it was. After a failure what is half-written is removed, and so it is
 * when SIGINT, SIGTERM or SIGHUP ends the process before. A pager that is closed early is no failure. `err` becomes EXIT_INPUT
 * when FILE could not be written. This may follow without redirect_begin().
 */
void redirect_end(struct redirect *o, struct err *err);

#endif
