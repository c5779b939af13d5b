// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `outrider report`: shows races that were found earlier, possibly on another machine, with names from this machine's debug
 * files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/cli/choice.h"
#include "hv/cli/fail_on.h"
#include "hv/cli/maintainers.h"
#include "hv/cli/race_files.h"
#include "hv/cli/report_show.h"
#include "hv/session/terminal.h"

enum report_key { KEY_FORMAT = 0x200, KEY_ALL, KEY_SORT, KEY_SUPPRESS, KEY_GEN_SUPPRESSIONS };

/*
 * For each format, the function that writes all races in this format. NULL for text and json, which need more than the races.
 */
static const struct format {
	const char *name;
	int (*export)(FILE *out, const struct export_run *run, struct err *err);
} formats[] = {
	{"text", NULL},	       {"json", NULL},		{"sarif", export_sarif},       {"kcsan", export_kcsan},
	{"html", export_html}, {"junit", export_junit}, {"upstream", export_upstream},
};

/* Indices in formats[]. */
#define FORMAT_TEXT 0
#define FORMAT_JSON 1
#define FORMAT_UPSTREAM 6

struct report_options {
	struct race_files in;		   /* must be first: parsers take its address for this struct's address (cli_parse()) */
	size_t format;			   /* index of formats[] */
	struct suppressions *suppressions; /* or NULL */
	struct fail_on fail_on;
	int code; /* exit code that the options --fail-on and --error-exitcode select for the races */
	enum verdicts_order order;
	bool all;
	bool gen_suppressions; /* print suppressions instead of the races */
};

static const struct argp_option options[] = {
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "text, for people (default); json, the same document with all names in it; sarif, kcsan, junit or html, for other "
	 "tools; upstream, a mail to the kernel's maintainers about the one race that --race names",
	 0},
	{"all", KEY_ALL, NULL, 0, "show every race in full, also those that are likely no bugs", 0},
	{"sort", KEY_SORT, "ORDER", 0,
	 "rank, likely bugs first (default); count, most often seen first; time, as found; or site", 0},
	{"suppress", KEY_SUPPRESS, "FILE", 0, "fold the known races that FILE lists, each with a reason", 0},
	{"gen-suppressions", KEY_GEN_SUPPRESSIONS, NULL, 0,
	 "print a list for --suppress, of the groups that would be shown in full, without the reasons", 0},
	{0},
};

static const char doc[] =
	"Show the races of a run again, with the source lines, inlined calls and data names that debug files add.\v"
	"FILE is a file that `outrider run --json` wrote, or - for standard input. Races of several files are put together.";

static const char *format_word(size_t i)
{
	return i < sizeof(formats) / sizeof(formats[0]) ? formats[i].name : NULL;
}

const struct cli_choice report_formats = {"FORMAT", format_word};
const struct cli_choice report_orders = {"ORDER", verdicts_order_word};

static error_t sort_option(struct report_options *o, const char *arg, struct argp_state *state)
{
	size_t order;
	error_t rc = cli_choose(state, &report_orders, "sort", arg, &order);

	if (rc == 0)
		o->order = (enum verdicts_order)order;
	return rc;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->in;
		state->child_inputs[1] = &o->fail_on;
		return 0;
	case KEY_FORMAT:
		return cli_choose(state, &report_formats, "format", arg, &o->format);
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_SORT:
		return sort_option(o, arg, state);
	case KEY_SUPPRESS:
		suppress_free(o->suppressions);
		o->suppressions = suppress_read_today(arg, o->in.input.err);
		return o->suppressions ? 0 : EINVAL;
	case KEY_GEN_SUPPRESSIONS:
		o->gen_suppressions = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int check(const struct report_options *o, struct err *err)
{
	if (!o->in.count)
		return err_set(err, EXIT_USAGE,
			       "report needs a FILE that `outrider run --json` wrote; see `outrider report --help`");
	if (o->gen_suppressions && o->format != FORMAT_TEXT)
		return err_set(err, EXIT_USAGE, "--gen-suppressions prints a list of its own: give no --format with it");
	if (o->format == FORMAT_JSON && o->in.count > 1)
		return err_set(err, EXIT_USAGE, "--format json takes one FILE; give them one by one");
	return 0;
}

/*
 * Refuse a file of a finished run without a record of locks, which cannot show whether there are suspicions. The file of an
 * unfinished run is accepted, because the record of locks is only written at the end of a run.
 */
static int check_locks(const struct report_options *o, const struct run_facts *run, const struct lock_record *locks,
		       const char *file, struct err *err)
{
	if (!fail_on_names_suspicions(&o->fail_on) || locks->protection || !run->finished)
		return 0;
	return err_set(err, EXIT_INPUT, "--fail-on %s: %s says nothing of locks: make it by a run with --locks",
		       fail_on_suspicion_word(&o->fail_on), file);
}

static int print_json(struct report_options *o, struct report_load *l, struct err *err)
{
	struct verdicts v = {0};
	unsigned found, asked;
	const char *file = o->in.files[0];
	int rc;

	debug_images_used(o->in.images, &found, &asked);
	l->run.kernel.debug_files |= found != 0;
	prune_rules_set_kernel(o->in.rules, l->run.kernel.banner);
	rc = verdicts_judge(&v, o->in.rules, o->suppressions, l->races, l->count, err);
	if (rc == 0) {
		o->code = fail_on_code(&o->fail_on,
				       &(struct fail_on_found){.verdicts = &v,
							       .runs = &l->run,
							       .files = &file,
							       .run_count = 1,
							       .suspicions = l->locks.suspicions.count,
							       .atomicities = suspicions_of_atomicity(&l->locks.suspicions)});
		rc = show_json(&v, l, err);
	}
	verdicts_free(&v);
	return rc;
}

static int report_json(struct report_options *o, struct err *err)
{
	struct report_load l;
	int rc;

	if (race_files_load(&o->in, o->in.files[0], &l, err) < 0)
		return -1;
	rc = races_wanted_all_found(&o->in.wanted, err);
	if (rc == 0)
		rc = check_locks(o, &l.run, &l.locks, o->in.files[0], err);
	if (rc == 0)
		rc = print_json(o, &l, err);
	report_load_free(&l);
	return rc;
}

/*
 * Begin a mail, which is about one race. The recipients come from scripts/get_maintainer.pl of the source tree that --sources
 * names.
 */
static int begin_mail(const struct report_options *o, const struct verdicts *v, struct err *err)
{
	if (v->count != 1)
		return err_set(err, EXIT_USAGE, "--format upstream is a mail about one race, and there are %zu: give --race ID",
			       v->count);
	maintainers_write(stdout, o->in.sources, v->list[0].race, race_files_message, (void *)&o->in);
	return 0;
}

/* Print text for the user, through a pager. */
static void print_text(struct report_options *o, const struct verdicts *v, const struct groups *groups,
		       const struct race_store *store, const struct race_runs *runs, const struct show_how *how)
{
	redirect_page(&o->in.redirect);
	show_text(v, groups, store, runs, how);
}

/* Count the suspicions of all runs, each once, in *found. */
static int count_suspicions(const struct report_options *o, const struct race_runs *runs, struct fail_on_found *found,
			    struct err *err)
{
	struct lock_chart chart = {0};
	int rc = 0;

	for (size_t i = 0; i < runs->count && rc == 0; i++)
		rc = check_locks(o, &runs->list[i], &runs->locks[i], runs->files[i], err);
	if (rc == 0)
		rc = lock_chart_suspicions(&chart, runs->locks, runs->count, err);
	found->suspicions = chart.suspicion_count;
	found->atomicities = lock_chart_atomicities(&chart);
	lock_chart_fini(&chart);
	return rc;
}

static int print_judged(struct report_options *o, const struct race_store *store, const struct race_runs *runs, struct err *err)
{
	struct show_how how = {.images = o->in.images,
			       .all = o->all || o->in.wanted.count,
			       .width = isatty(STDOUT_FILENO) ? terminal_width() : 0,
			       .colour = terminal_wants_colour(STDOUT_FILENO),
			       .fail_on = &o->fail_on};
	struct verdicts v = {0};
	struct fail_on_found found = {.verdicts = &v, .runs = runs->list, .files = runs->files, .run_count = runs->count};
	struct groups groups = {0};
	int rc = -1;

	if (count_suspicions(o, runs, &found, err) < 0)
		return -1;
	if (o->in.code_lines) {
		how.listing = listing_maker_new(o->in.sources, err);
		if (!how.listing)
			goto out;
	}
	rc = verdicts_judge_store(&v, o->in.rules, o->suppressions, store, err);
	if (rc == 0 && o->format == FORMAT_UPSTREAM)
		rc = begin_mail(o, &v, err);
	if (rc < 0)
		goto out;
	o->code = fail_on_code(&o->fail_on, &found);
	verdicts_sort(&v, o->order);
	rc = groups_find(&groups, &v, err);
	if (rc < 0)
		goto out;
	if (o->gen_suppressions)
		show_suppressions(&groups, &how);
	else if (formats[o->format].export)
		rc = show_export(&v, &groups, runs, &how, formats[o->format].export, err);
	else
		print_text(o, &v, &groups, store, runs, &how);
out:
	groups_free(&groups);
	verdicts_free(&v);
	listing_maker_free(how.listing);
	return rc;
}

/* Returns whether the output shows disassembled code. */
static bool wants_code(const struct report_options *o)
{
	if (o->format == FORMAT_TEXT)
		return o->all || o->in.wanted.count;
	return formats[o->format].export == export_html;
}

static int report_together(struct report_options *o, struct err *err)
{
	struct race_store *store = race_store_new(err);
	struct race_runs runs = {0};
	int rc;

	o->in.code_lines = wants_code(o);
	rc = store ? race_files_load_all(&o->in, store, &runs, err) : -1;

	if (rc == 0)
		rc = print_judged(o, store, &runs, err);
	race_store_free(store);
	race_runs_free(&runs);
	return rc;
}

static int report_files(struct report_options *o, struct err *err)
{
	int rc = redirect_begin(&o->in.redirect, err);

	if (rc == 0)
		rc = o->format == FORMAT_JSON ? report_json(o, err) : report_together(o, err);
	redirect_end(&o->in.redirect, err);
	return rc == 0 && err->code == EXIT_OK ? 0 : -1;
}

static const struct argp_child children[] = {{&race_files_argp, 0, NULL, 0}, {&fail_on_argp, 0, NULL, 0}, {0}};
const struct argp cli_report_argp = {
	.options = options, .parser = parser, .args_doc = "FILE...", .doc = doc, .children = children};

int cli_report(int argc, char **argv)
{
	struct err err = {0};
	struct report_options o = {0};

	o.fail_on.input.err = &err;
	if (race_files_init(&o.in, &err) == 0 && cli_parse(&cli_report_argp, argc, argv, &o.in.input) == 0 &&
	    check(&o, &err) == 0 && debug_images_add_usual(o.in.images, &err) == 0 && report_files(&o, &err) == 0 &&
	    !o.in.wanted.count)
		suppress_leftover(o.suppressions, race_files_message, &o.in);
	suppress_free(o.suppressions);
	race_files_free(&o.in);
	return err.code == EXIT_OK ? o.code : cli_fail(&err);
}
