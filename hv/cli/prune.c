// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider prune`: prints the verdict of each race on one line, likely bugs first; or all the evidence on one race. */
#include <stdio.h>
#include <stdlib.h>

#include "hv/cli/race_files.h"
#include "hv/report/text/text.h"
#include "pruner/verdicts.h"

enum prune_key { KEY_EXPLAIN = 0x200, KEY_LIST };

struct prune_options {
	struct race_files in; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	bool explain;	      /* --explain: print all the evidence */
	bool list;
};

static const struct argp_option options[] = {
	{"explain", KEY_EXPLAIN, "ID", 0, "show only this race, with the whole of the evidence", 0},
	{"list-rules", KEY_LIST, NULL, 0, "show the name of each rule, and what the rule looks for", 0},
	{0},
};

static const char doc[] =
	"Say which races of a run are likely bugs, which are not, and what the evidence is.\v"
	"FILE is a file that `outrider run --json` wrote, or - for standard input. Races of several files are put together. "
	"Verdicts need no debug files, but are better with them.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct prune_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->in;
		return 0;
	case KEY_EXPLAIN:
		o->explain = true;
		return race_files_want(&o->in, arg);
	case KEY_LIST:
		o->list = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_rules(void)
{
	for (unsigned i = 0; i < RULE_COUNT; i++) {
		const struct rule *r = &rule_table[i];

		printf("  %-26s %s: %s", r->name, verdict_class_word(r->class), r->help.found);
		if (r->help.unclear)
			printf(" Unclear if %s.", r->help.unclear);
		putchar('\n');
	}
}

static void print_all(const struct verdicts *v)
{
	if (v->count)
		printf("  %2s %-17s %-26s %-12s %7s  %s\n", "", "verdict", "rule", "race", "count", "sites");
	for (size_t i = 0; i < v->count; i++)
		verdict_row(stdout, &v->list[i], false);
	verdicts_sum(stdout, v);
}

static void explain(const struct verdicts *v)
{
	for (size_t i = 0; i < v->count; i++)
		verdict_row(stdout, &v->list[i], true);
}

static int prune_files(struct prune_options *o, struct err *err)
{
	struct race_store *store = race_store_new(err);
	struct verdicts v = {0};
	struct race_runs runs = {0};
	int rc = store ? race_files_load_all(&o->in, store, &runs, err) : -1;

	if (rc == 0)
		rc = verdicts_judge_store(&v, o->in.rules, NULL, store, err);
	if (rc == 0) {
		verdicts_sort(&v, VERDICTS_BY_RANK);
		redirect_page(&o->in.redirect);
		for (size_t i = 0; i < runs.count; i++)
			text_doubt(stdout, &runs.list[i], runs.files[i], &(const struct text_style){0});
		if (o->explain)
			explain(&v);
		else
			print_all(&v);
	}
	verdicts_free(&v);
	race_store_free(store);
	race_runs_free(&runs);
	return rc;
}

static int prune(struct prune_options *o, struct err *err)
{
	if (o->list) {
		print_rules();
		return 0;
	}
	if (!o->in.count)
		return err_set(err, EXIT_USAGE,
			       "prune needs a FILE that `outrider run --json` wrote; see `outrider prune --help`");
	return debug_images_add_usual(o->in.images, err) < 0 ? -1 : prune_files(o, err);
}

static const struct argp_child children[] = {{&race_files_argp, 0, NULL, 0}, {0}};
const struct argp cli_prune_argp = {
	.options = options, .parser = parser, .args_doc = "FILE...", .doc = doc, .children = children};

int cli_prune(int argc, char **argv)
{
	struct err err = {0};
	struct prune_options o = {0};

	if (race_files_init(&o.in, &err) == 0 && cli_parse(&cli_prune_argp, argc, argv, &o.in.input) == 0 &&
	    redirect_begin(&o.in.redirect, &err) == 0)
		prune(&o, &err);
	redirect_end(&o.in.redirect, &err);
	race_files_free(&o.in);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
