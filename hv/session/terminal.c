// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/session/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_readable(void)
{
	return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void terminal_guest_mode(struct terminal *t)
{
	struct termios mode;

	t->changed = false;
	/* A change of the terminal from the background would stop the process (SIGTTOU). */
	if (!isatty(STDIN_FILENO) || !terminal_readable() || tcgetattr(STDIN_FILENO, &t->saved) < 0)
		return;
	mode = t->saved;
	mode.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	mode.c_cc[VMIN] = 1;
	mode.c_cc[VTIME] = 0;
	mode.c_cc[VSUSP] = _POSIX_VDISABLE;
	mode.c_cc[VQUIT] = _POSIX_VDISABLE;
	t->changed = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
}

void terminal_restore(struct terminal *t)
{
	/* TCSADRAIN would wait here for a terminal whose output is stopped, and outrider could not end. */
	if (t->changed)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->saved);
}

unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long said = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (said > 0 && said <= UINT16_MAX)
		return (unsigned)said;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 79;
}

bool terminal_wants_colour(void)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(no_colour && no_colour[0]);
}
