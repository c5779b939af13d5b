/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. Each subcommand has a file of its own. Each error is one line. The exit codes are those of hv/base/err.h.
 */
#ifndef OUTRIDER_CLI_CLI_H
#define OUTRIDER_CLI_CLI_H

#include <argp.h>
#include <stdint.h>

#include "hv/base/err.h"

/* A line in the table of the subcommands. */
struct cli_command {
	const char *name;
	int (*main)(int argc, char **argv);
	/* The command's options and arguments. */
	const struct argp *argp;
	/* A short description of the subcommand. */
	const char *what;
	/* The subcommands of this subcommand, up to an entry without a name; NULL: it has none. */
	const struct cli_command *inner;
};

/*
 * The main functions of the subcommands. argv[0] is the subcommand's name. Each returns the exit code, after printing the
 * reason if the code is not EXIT_OK.
 */
int cli_run(int argc, char **argv);
int cli_attach(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_agent(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_prune(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_locks(int argc, char **argv);
int cli_campaign(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_explore(int argc, char **argv);

/* The options and arguments of the subcommands, from which --help and completion are generated. */
extern const struct argp cli_run_argp;
extern const struct argp cli_attach_argp;
extern const struct argp cli_list_argp;
extern const struct argp cli_doctor_argp;
extern const struct argp cli_agent_argp;
extern const struct argp cli_report_argp;
extern const struct argp cli_prune_argp;
extern const struct argp cli_diff_argp;
extern const struct argp cli_locks_argp;
extern const struct argp cli_campaign_argp;
extern const struct argp cli_replay_argp;
extern const struct argp cli_explore_argp;

/* The subcommands of `outrider campaign`. */
extern const struct cli_command campaign_commands[];

/* Help texts of options that are the same for commands that find races and for commands that show races. */
#define CLI_RULES_HELP                                                                                                     \
	"a list of your own, besides the built-in ones: variables that race by design, marked accesses and so on; may be " \
	"given several times"
#define CLI_SOURCES_HELP                                                                                                     \
	"the source tree of the guest kernel or of a module, to look for READ_ONCE() and the like in; may be given several " \
	"times"
#define CLI_DEBUGINFOD_HELP "fetch debug files that this host does not have from the servers that DEBUGINFOD_URLS names"

/* Print "outrider: " and e->text on standard error. Returns e->code, so that a command can `return cli_fail(&err)`. */
int cli_fail(const struct err *e);

/* Print "outrider: " and `line`, cleaned by clean_line(), on standard error. */
void cli_message(const char *line);

/* The first member of the struct that a command's option parser fills in. */
struct cli_input {
	struct err *err;
};

/*
 * Call argp_parse() with the error handling of this program: a wrong option or argument gives an error of one line, and
 * EXIT_USAGE. argp itself would print two lines. The parser of `argp` reports a failure by err_set() on the `struct err` in the
 * first member of state->input, and returns EINVAL. Arguments are an error unless `argp` has an args_doc. `argv` is not
 * changed. --help prints the help and exits with 0. Returns 0, or -1 with err set.
 */
int cli_parse(const struct argp *argp, int argc, char **argv, struct cli_input *input);

/* Set the parser's error to EXIT_USAGE with this message. Returns EINVAL, for the parser to return. */
error_t cli_usage(struct argp_state *state, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * cli_number(), cli_size() and cli_time() read the value of an option, which must be the whole of `text`. Each function returns
 * 0, or -1 if `text` is not a value, overflows, or lies outside [min, max]. A size has the suffix K, M, G or T, which are
 * powers of 1024; without a suffix it is in MiB, as with QEMU's -m. *out is in bytes. A time is a decimal number with the unit
 * ms, s, m or h; without a unit it is in seconds. *out is in nanoseconds.
 */
int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int cli_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int cli_time(const char *text, uint64_t *out);

#endif
