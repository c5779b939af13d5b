/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flushes standard output at the end of a command that prints by stdio, and reports a failed write. */
#ifndef OUTRIDER_CLI_OUTPUT_H
#define OUTRIDER_CLI_OUTPUT_H

/*
 * Flush standard output. If its reader has exited, such as `head` after its last line, that is no failure and prints nothing.
 * Any other failed write prints one line on standard error. Returns the exit code: `code`, or EXIT_INPUT for a failed write if
 * `code` is EXIT_OK.
 */
int output_end(int code);

#endif
