// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_exit_codes[] = "Exit status:\n"
			      "  0  the run ended as asked, whether races were found or not\n"
			      "  2  an option or argument was wrong\n"
			      "  3  a file, host or guest cannot be used (kernel, image, symbols, /dev/kvm,\n"
			      "     a full disk)\n"
			      "  4  the guest of `outrider run` died\n"
			      "  5  outrider itself failed\n";

int cli_fail(const struct err *e)
{
	fprintf(stderr, "outrider: %s\n", e->text);
	return e->code;
}

error_t cli_usage(struct argp_state *state, const char *fmt, ...)
{
	const struct cli_input *input = state->input;
	char text[sizeof(input->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(input->err, EXIT_USAGE, "%s", text);
	return EINVAL;
}

/* What the outer parser knows. The command's own parser, which is its child, sees only `command`. */
struct outer_input {
	const struct argp *argp; /* The command's own parser. */
	const char *program;
	const char *name;
	struct cli_input *command;
};

/* Whether `word` names or abbreviates an option that takes a value. Then the mistake is that no value came. */
static bool wants_value(const struct argp *argp, const char *word)
{
	const struct argp_option *o;

	for (o = argp->options; o && (o->name || o->doc); o++) {
		if (o->name && o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && strncmp(word, o->name, strlen(word)) == 0)
			return true;
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++) {
		if (wants_value(child->argp, word))
			return true;
	}
	return false;
}

/* getopt has refused an option and said nothing (ARGP_NO_ERRS). Find the word, and say in one line what is wrong with it. */
static void explain(const struct argp_state *state, const struct outer_input *in)
{
	const char *word = "this";
	int last = state->next - 1;

	/* getopt stops behind a long option, and at a word of short options. */
	if (last > 0 && last < state->argc && state->argv[last][0] == '-')
		word = state->argv[last];
	else if (state->next < state->argc)
		word = state->argv[state->next];
	if (strncmp(word, "--", 2) == 0 && !strchr(word, '=') && wants_value(in->argp, word + 2) && state->next == state->argc)
		err_set(in->command->err, EXIT_USAGE, "%s needs a value; see `outrider %s --help`", word, in->name);
	else
		err_set(in->command->err, EXIT_USAGE,
			"%s is not an option of `outrider %s`, or an incomplete one; see `outrider %s --help`", word, in->name,
			in->name);
}

static error_t outer_parser(int key, char *arg, struct argp_state *state)
{
	struct outer_input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = in->command;
		return 0;
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, (char *)in->program);
		printf("\n%s", cli_exit_codes);
		exit(EXIT_OK);
	case ARGP_KEY_ARG:
		/* The command's parser comes next. */
		if (in->argp->args_doc)
			return ARGP_ERR_UNKNOWN;
		err_set(in->command->err, EXIT_USAGE, "'%s' is not expected; see `outrider %s --help`", arg, in->name);
		return EINVAL;
	case ARGP_KEY_ERROR:
		/* The first error stays: nothing is added when the command's parser has said what was wrong. */
		explain(state, in);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_parse(const struct argp *argp, int argc, char **argv, struct cli_input *input)
{
	static const struct argp_option help[] = {{"help", 'h', NULL, 0, "Explain this command", -1}, {0}};
	const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
	const struct argp outer = {.options = help, .parser = outer_parser, .children = children};
	char program[64];
	struct outer_input in = {argp, program, argv[0], input};

	snprintf(program, sizeof(program), "outrider %s", argv[0]);
	error_t rc = argp_parse(&outer, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_IN_ORDER, NULL, &in);
	if (rc == ENOMEM)
		return err_set(input->err, EXIT_INTERNAL, "out of memory while reading the command line");
	if (rc != 0)
		return err_set(input->err, EXIT_USAGE, "wrong option or argument; see `outrider %s --help`", argv[0]);
	return 0;
}
