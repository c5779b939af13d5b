/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options whose value must be one of a table of words. The same table serves the parser, the error line and completion. An
 * option takes such a value if its line in the option table names the choice's metavar. cli_choices[] in commands.c lists all
 * choices.
 */
#ifndef OUTRIDER_CLI_CHOICE_H
#define OUTRIDER_CLI_CHOICE_H

#include <stdbool.h>

#include "hv/cli/cli.h"

struct cli_choice {
	/* The name that stands for the value in the option tables, for example "FORMAT" in "--format FORMAT". */
	const char *metavar;
	/* Returns word `i`, counted from 0, or NULL after the last word. */
	const char *(*word)(size_t i);
};

/* report_formats: the formats of `report`. report_orders: the orders in which `report` can show races. */
extern const struct cli_choice report_formats;
extern const struct cli_choice report_orders;

/*
 * diff_forms: the formats of `diff`, `explore`, `replay` and `campaign status`. fail_on_choice: the words of --fail-on of
 * commands that show races.
 */
extern const struct cli_choice diff_forms;
extern const struct cli_choice fail_on_choice;
/*
 * For commands that list a round of a campaign. campaign_fails: the words of --fail-on. campaign_forms: the formats of the
 * list.
 */
extern const struct cli_choice campaign_fails;
extern const struct cli_choice campaign_forms;
/* What `run` and `attach` do when the guest's kernel complains. */
extern const struct cli_choice complaint_choice;
/* The formats of `locks`. */
extern const struct cli_choice lock_forms;

/*
 * Set *index to the index of `arg` among the words of `choice`. Returns 0. On failure, returns an error_t for the parser to
 * return, and sets an error that lists the words, suggests a similar one, and names the option by its long name `option`.
 */
error_t cli_choose(struct argp_state *state, const struct cli_choice *choice, const char *option, const char *arg,
		   size_t *index);

/* As cli_choose(), for a choice of two words: sets *second to whether `arg` is the second one. */
error_t cli_choose_second(struct argp_state *state, const struct cli_choice *choice, const char *option, const char *arg,
			  bool *second);

#endif
