// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command lines of all commands with argp, and makes each error one line. */
#include "hv/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/cli/help.h"
#include "hv/cli/output.h"
#include "hv/cli/suggest.h"

int cli_fail(const struct err *e)
{
	fprintf(stderr, "outrider: %s\n", e->text);
	return e->code;
}

void cli_message(const char *line)
{
	char text[CLEAN_FIELD_MAX];

	snprintf(text, sizeof(text), "%s", line);
	clean_line(text, sizeof(text));
	fprintf(stderr, "outrider: %s\n", text);
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

/*
 * Input of the outer parser, which checks each argument before the command's own parser handles it. The command's own parser is
 * the outer parser's child, and gets only `command` as its input.
 */
struct outer_input {
	const struct argp *argp; /* the command's own parser */
	const char *name;
	struct cli_input *command;
};

/*
 * Returns the option with the index *index, from 0, among the options of the parser and of its children; or NULL if there are
 * fewer. *index is decremented for each option on the way.
 */
static const struct argp_option *option_at(const struct argp *argp, size_t *index)
{
	const struct argp_option *o;

	for (o = argp->options; o && (o->name || o->doc); o++) {
		if (o->name && (*index)-- == 0)
			return o;
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++) {
		o = option_at(child->argp, index);
		if (o)
			return o;
	}
	return NULL;
}

/* Returns option `i`, counted from 0, of the parser and its children, or NULL if there are no more. */
static const struct argp_option *nth_option(const struct argp *argp, size_t i)
{
	return option_at(argp, &i);
}

/* Facts about a long option that getopt has refused. */
struct refused {
	/* the option that the argument names, or the only one that it abbreviates; NULL: none, or several */
	const struct argp_option *is;
	char several[160]; /* if the abbreviation is ambiguous, the options that it abbreviates: "--sample, --seed" */
	const char *near;  /* an option with a name similar to the argument; NULL: there is none */
};

static void add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s--%s", used ? ", " : "", name);
}

/* Look up `name`, of `len` characters: the argument without its dashes and its value. */
static void look_up(struct refused *r, const struct argp *argp, const char *name, size_t len)
{
	struct suggest suggest = suggest_begin(name, len);
	const struct argp_option *o;
	size_t fits = 0;

	*r = (struct refused){0};
	suggest_offer(&suggest, "help");
	for (size_t i = 0; (o = nth_option(argp, i)) != NULL; i++) {
		suggest_offer(&suggest, o->name);
		if (strncmp(name, o->name, len) != 0)
			continue;
		fits++;
		r->is = o;
		add_name(r->several, sizeof(r->several), o->name);
		if (o->name[len] == '\0') {
			fits = 1;
			break;
		}
	}
	if (fits != 1)
		r->is = NULL;
	if (fits < 2)
		r->several[0] = '\0';
	r->near = suggest_end(&suggest);
}

/* Options that a command cannot have although another command has them, with the reason for the user. */
static const struct {
	const char *command, *option, *why;
} elsewhere[] = {
	{"attach", "replay",
	 "the machine belongs to another program, and outrider can copy only its own: `outrider run` has --replay"},
	{"attach", "replay-for",
	 "the machine belongs to another program, and outrider can copy only its own: `outrider run` has --replay"},
	{"attach", "save",
	 "the machine belongs to another program, and outrider can copy only its own: `outrider run` has --replay"},
};

/* Returns the reason why the command cannot have this option, or NULL if elsewhere[] has none. */
static const char *reason_against(const char *command, const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(elsewhere[i].command, command) == 0 && strlen(elsewhere[i].option) == len &&
		    strncmp(elsewhere[i].option, word, len) == 0)
			return elsewhere[i].why;
	return NULL;
}

/* Set an error that says in one line what is wrong with the long option `word`. `last`: no argument follows it. */
static void explain_long(const struct outer_input *in, const char *word, bool last)
{
	size_t len = strcspn(word + 2, "=");
	bool has_value = word[2 + len] == '=';
	struct err *err = in->command->err;
	struct refused r;

	look_up(&r, in->argp, word + 2, len);
	if (r.is && r.is->arg && last && !has_value)
		err_set(err, EXIT_USAGE, "--%s needs a value: --%s %s; see `outrider %s --help`", r.is->name, r.is->name,
			r.is->arg, in->name);
	else if (r.is && !r.is->arg && has_value)
		err_set(err, EXIT_USAGE, "--%s takes no value; see `outrider %s --help`", r.is->name, in->name);
	else if (r.several[0])
		err_set(err, EXIT_USAGE, "%.*s may be %s: give more of its name", (int)len + 2, word, r.several);
	else if (reason_against(in->name, word + 2, len))
		err_set(err, EXIT_USAGE, "%.*s is not for `outrider %s`: %s", (int)len + 2, word, in->name,
			reason_against(in->name, word + 2, len));
	else if (r.near)
		err_set(err, EXIT_USAGE, "%.*s is not an option of `outrider %s`; did you mean --%s?", (int)len + 2, word,
			in->name, r.near);
	else
		err_set(err, EXIT_USAGE, "%.*s is not an option of `outrider %s`; see `outrider %s --help`", (int)len + 2, word,
			in->name, in->name);
}

/*
 * Set an error for a long option that was typed with one dash, as in QEMU: -kernel. Returns false if `word` is no such
 * option.
 */
static bool explain_one_dash(const struct outer_input *in, const char *word)
{
	struct refused r;

	if (strlen(word) < 3)
		return false;
	look_up(&r, in->argp, word + 1, strcspn(word + 1, "="));
	if (!r.near)
		return false;
	err_set(in->command->err, EXIT_USAGE, "%s is not an option of `outrider %s`; did you mean --%s?", word, in->name,
		r.near);
	return true;
}

/*
 * Set an error that says in one line what is wrong with the argument `word`, which is a dash and the letters of short options.
 */
static void explain_short(const struct argp_state *state, const struct outer_input *in, const char *word)
{
	const struct argp_option *o;

	for (size_t i = 0; (o = nth_option(in->argp, i)) != NULL; i++) {
		if (o->arg && o->key < 0x80 && o->key == word[strlen(word) - 1] && state->next == state->argc) {
			err_set(in->command->err, EXIT_USAGE, "-%c needs a value: -%c %s; see `outrider %s --help`", o->key,
				o->key, o->arg, in->name);
			return;
		}
	}
	if (!explain_one_dash(in, word))
		err_set(in->command->err, EXIT_USAGE, "%s is not an option of `outrider %s`; see `outrider %s --help`", word,
			in->name, in->name);
}

/*
 * Find the argument that getopt has refused silently (ARGP_NO_ERRS), and set an error that says in one line what is wrong with
 * this argument.
 */
static void explain(const struct argp_state *state, const struct outer_input *in)
{
	const char *word = "this";
	int last = state->next - 1;

	/*
	 * After a refused long option, state->next is the index of the argument after this option. After a refused short
	 * option, state->next is still the index of the argument with this option.
	 */
	if (last > 0 && last < state->argc && state->argv[last][0] == '-')
		word = state->argv[last];
	else if (state->next < state->argc)
		word = state->argv[state->next];
	if (strncmp(word, "--", 2) == 0)
		explain_long(in, word, state->next == state->argc);
	else
		explain_short(state, in, word);
}

/*
 * Set an error that says in one line that the command takes no argument `word`. For a command with --kernel, the likely mistake
 * is that the user gave the kernel's path without --kernel.
 */
static void explain_stray(const struct outer_input *in, const char *word)
{
	const struct argp_option *o;

	for (size_t i = 0; (o = nth_option(in->argp, i)) != NULL; i++) {
		if (strcmp(o->name, "kernel") != 0)
			continue;
		err_set(in->command->err, EXIT_USAGE,
			"'%s' is not expected: a kernel is given as --kernel FILE; see `outrider %s --help`", word, in->name);
	}
	err_set(in->command->err, EXIT_USAGE, "'%s' is not expected; see `outrider %s --help`", word, in->name);
}

/*
 * Refuse an option whose value is "", as an unset shell variable produces. Only a kernel's command line may be empty. Returns
 * 0, or -1 with the error set.
 */
static int check_empty(const struct outer_input *in, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		size_t len = strncmp(argv[i], "--", 2) == 0 ? strcspn(argv[i], "=") : 0;
		bool last_is_empty = len && (argv[i][len] ? !argv[i][len + 1] : i + 1 < argc && !argv[i + 1][0]);
		struct refused r;

		if (!last_is_empty)
			continue;
		look_up(&r, in->argp, argv[i] + 2, len - 2);
		if (r.is && r.is->arg && strcmp(r.is->arg, "CMDLINE") != 0)
			return err_set(in->command->err, EXIT_USAGE, "--%s is empty: give %s; see `outrider %s --help`",
				       r.is->name, r.is->arg, in->name);
	}
	return 0;
}

static error_t outer_parser(int key, char *arg, struct argp_state *state)
{
	struct outer_input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = in->command;
		return 0;
	case 'h':
		help_command(state->root_argp, in->name);
		exit(output_end(EXIT_OK));
	case ARGP_KEY_ARG:
		/* Leave the argument to the command's parser, which argp calls next. */
		if (in->argp->args_doc && arg[0])
			return ARGP_ERR_UNKNOWN;
		if (in->argp->args_doc)
			err_set(in->command->err, EXIT_USAGE, "an argument is empty: give %s; see `outrider %s --help`",
				in->argp->args_doc, in->name);
		else
			explain_stray(in, arg);
		return EINVAL;
	case ARGP_KEY_ERROR:
		/* Keep the first error: explain() adds nothing if the command's parser has set an error already. */
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
	struct outer_input in = {argp, argv[0], input};

	if (check_empty(&in, argc, argv) < 0)
		return -1;
	error_t rc = argp_parse(&outer, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_IN_ORDER, NULL, &in);
	if (rc == ENOMEM)
		return err_set(input->err, EXIT_INTERNAL, "out of memory while reading the command line");
	if (rc != 0)
		return err_set(input->err, EXIT_USAGE, "wrong option or argument; see `outrider %s --help`", argv[0]);
	return 0;
}
