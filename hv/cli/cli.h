/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: one file a subcommand, one line an error, and the exit codes of hv/base/err.h.
 */
#ifndef OUTRIDER_CLI_CLI_H
#define OUTRIDER_CLI_CLI_H

#include <argp.h>
#include <stdint.h>

#include "hv/base/err.h"

/* A subcommand: argv[0] is its name. Returns the exit code; has said by then why if that is not EXIT_OK. */
int cli_run(int argc, char **argv);
int cli_attach(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_prune(int argc, char **argv);

/* Print e->text as "outrider: ..." on standard error; returns e->code, for `return cli_fail(&err)`. */
int cli_fail(const struct err *e);

/* The exit codes, as the last lines of every --help. */
extern const char cli_exit_codes[];

/*
 * argp_parse() with this program's manners: a wrong option or argument is one line and EXIT_USAGE (argp's own is two). The
 * parser of `argp` reports failures by err_set() on the `struct err` in state->input's first member and returns EINVAL;
 * arguments are an error unless `argp` has an args_doc. --help prints and exits with 0. 0, or -1 with err set.
 */
struct cli_input {
	struct err *err;
};
int cli_parse(const struct argp *argp, int argc, char **argv, struct cli_input *input);

/* err_set(EXIT_USAGE, ...) on the parser's error, then the EINVAL a parser returns. */
error_t cli_usage(struct argp_state *state, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Values of options, each the whole of `text`; 0, or -1 when it is something else, overflows or lies outside [min, max].
 * Sizes: bytes, or with the suffix K, M, G or T in powers of 1024. Times: nanoseconds out; a decimal number with ms, s, m or
 * h, or without a unit in seconds.
 */
int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int cli_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int cli_time(const char *text, uint64_t *out);

#endif
