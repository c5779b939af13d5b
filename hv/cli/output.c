// SPDX-License-Identifier: GPL-2.0-or-later
/* Flushes standard output at the end of a command, and reports a failed write. Used by every command that prints by stdio. */
#include "hv/cli/output.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "hv/base/err.h"

/*
 * Returns whether the reader of standard output has gone. Ask poll(), since stdio loses the errno of an earlier failed write,
 * and poll() reports a pipe without a reader at any time.
 */
static bool reader_is_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP);
}

int output_end(int code)
{
	bool failed = fflush(stdout) == EOF || ferror(stdout);

	if (!failed || reader_is_gone())
		return code;
	fputs("outrider: standard output: cannot be written\n", stderr);
	return code == EXIT_OK ? EXIT_INPUT : code;
}
