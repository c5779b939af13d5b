// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider prune`: the verdicts alone, a line a race, likely harmful first; or all that was found out about one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/cli/cli.h"
#include "hv/cli/verdicts.h"
#include "hv/report/load.h"

enum prune_key { KEY_RULES = 0x200, KEY_SOURCES, KEY_EXPLAIN, KEY_LIST };

struct prune_options {
	struct cli_input input; /* first: see cli_parse() */
	struct prune_rules *rules;
	const char *explain;
	bool list;
	const char **files;
	size_t count;
};

static const struct argp_option options[] = {
	{"rules", KEY_RULES, "FILE", 0,
	 "more lists of special variables, marked accesses and so on; may be given several times", 0},
	{"sources", KEY_SOURCES, "FOLDER", 0, "the guest kernel's source, to see READ_ONCE() and its like in", 0},
	{"explain", KEY_EXPLAIN, "ID", 0, "only this race, with the whole of the evidence", 0},
	{"list-rules", KEY_LIST, NULL, 0, "what the rules are called and what each looks for", 0},
	{0},
};

static const char doc[] = "Say which races of a run are likely bugs, which are not, and by what that was told.\v"
			  "FILE is what `outrider run --json` wrote; - is standard input. Verdicts are better on races that "
			  "`outrider report --symbols PATH --format json` has named. Races of several files are put together.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct prune_options *o = state->input;
	const char **files;

	switch (key) {
	case KEY_RULES:
		return prune_rules_add(o->rules, arg, o->input.err) < 0 ? EINVAL : 0;
	case KEY_SOURCES:
		return prune_rules_set_sources(o->rules, arg, o->input.err) < 0 ? EINVAL : 0;
	case KEY_EXPLAIN:
		o->explain = arg;
		return 0;
	case KEY_LIST:
		o->list = true;
		return 0;
	case ARGP_KEY_ARG:
		files = realloc(o->files, (o->count + 1) * sizeof(*files));
		if (!files)
			return ENOMEM;
		o->files = files;
		files[o->count++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_rules(void)
{
	for (const struct prune_rule_help *r = prune_rule_help; r->name; r++)
		printf("  %-26s %s\n", r->name, r->what);
}

static void print_all(const struct verdicts *v)
{
	if (v->count)
		printf("  %2s %-17s %-26s %-12s %7s  %s\n", "", "verdict", "rule", "race", "count", "sites");
	for (size_t i = 0; i < v->count; i++)
		verdict_row(stdout, &v->list[i], false);
	verdicts_sum(stdout, v);
}

static int explain(const struct verdicts *v, const char *id, struct err *err)
{
	for (size_t i = 0; i < v->count; i++) {
		if (strcmp(v->list[i].race->id, id) == 0) {
			verdict_row(stdout, &v->list[i], true);
			return 0;
		}
	}
	return err_set(err, EXIT_USAGE, "no race %s in the files given", id);
}

/* The kernel is that of the first file which knows its own. */
static int load_files(const struct prune_options *o, struct race_store *store, struct err *err)
{
	bool kernel = false;

	for (size_t i = 0; i < o->count; i++) {
		struct report_load l;
		int rc;

		if (report_load(&l, o->files[i], err) < 0)
			return -1;
		if (!kernel && l.kernel.banner) {
			prune_rules_set_kernel(o->rules, l.kernel.banner);
			kernel = true;
		}
		rc = report_load_into(&l, store, err);
		report_load_free(&l);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int prune_files(const struct prune_options *o, struct err *err)
{
	struct race_store *store = race_store_new(err);
	struct verdicts v = {0};
	int rc = store ? load_files(o, store, err) : -1;

	if (rc == 0)
		rc = verdicts_judge_store(&v, o->rules, NULL, store, err);
	if (rc == 0) {
		verdicts_sort(&v, VERDICTS_BY_RANK);
		if (o->explain)
			rc = explain(&v, o->explain, err);
		else
			print_all(&v);
	}
	if (rc == 0 && fflush(stdout) == EOF)
		rc = err_set(err, EXIT_INPUT, "standard output: cannot be written");
	verdicts_free(&v);
	race_store_free(store);
	return rc;
}

int cli_prune(int argc, char **argv)
{
	const struct argp argp = {.options = options, .parser = parser, .args_doc = "FILE...", .doc = doc};
	struct err err = {0};
	struct prune_options o = {.input = {&err}, .rules = prune_rules_new(&err)};

	if (o.rules && cli_parse(&argp, argc, argv, &o.input) == 0) {
		if (o.list)
			print_rules();
		else if (!o.count)
			err_set(&err, EXIT_USAGE,
				"prune needs a FILE that `outrider run --json` wrote; see `outrider prune --help`");
		else
			prune_files(&o, &err);
	}
	prune_rules_free(o.rules);
	free(o.files);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
