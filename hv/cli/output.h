/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of standard output, which every command that prints by stdio shares. */
#ifndef OUTRIDER_CLI_OUTPUT_H
#define OUTRIDER_CLI_OUTPUT_H

/*
 * Write out what is left of standard output. A reader that has gone, as `head` does, is no failure and is not told of. Any
 * other failed write is one line on standard error. Returns the exit code: `code`, or EXIT_INPUT for a failed write where
 * `code` is EXIT_OK.
 */
int output_end(int code);

#endif
