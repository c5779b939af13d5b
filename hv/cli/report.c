// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider report`: races found earlier, perhaps on another machine, named by the debug files that are here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hv/cli/cli.h"
#include "hv/cli/report_show.h"
#include "hv/report/naming.h"

enum report_key { KEY_SYMBOLS = 0x200, KEY_FORMAT, KEY_ALL, KEY_SORT, KEY_SUPPRESS, KEY_RULES, KEY_SOURCES };

/* What a format makes of all races: exports take them as they are, the two others have more to say. */
static const struct format {
	const char *name;
	int (*export)(FILE *out, const struct export_run *run, struct err *err);
} formats[] = {
	{"text", NULL},		 {"json", NULL},	{"sarif", export_sarif},
	{"kcsan", export_kcsan}, {"html", export_html}, {"junit", export_junit},
};

#define FORMAT_JSON 1 /* in formats[] */

struct report_options {
	struct cli_input input; /* first: see cli_parse() */
	size_t format;		/* index of formats[] */
	struct names *names;
	struct prune_rules *rules;
	const char *suppress; /* file, or NULL */
	struct suppressions *suppressions;
	enum verdicts_order order;
	bool all;
	const char **files;
	size_t count;
};

static const struct argp_option options[] = {
	{"symbols", KEY_SYMBOLS, "PATH", 0,
	 "debug files: a vmlinux, a module, an unpacked -dbg package, a build tree or a folder by build id; may be given "
	 "several times (and /usr/lib/debug and debuginfod's cache are looked in anyway)",
	 0},
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "text, for people (default); json, the same document with all names in it; sarif, kcsan, junit or html, for other "
	 "tools",
	 0},
	{"all", KEY_ALL, NULL, 0, "show every race in full, those too that are likely no bugs", 0},
	{"sort", KEY_SORT, "ORDER", 0,
	 "rank, likely bugs first (default); count, most often seen first; time, as found; or site", 0},
	{"suppress", KEY_SUPPRESS, "FILE", 0, "races that are known, with reasons", 0},
	{"rules", KEY_RULES, "FILE", 0,
	 "more lists of special variables, marked accesses and so on; may be given several times", 0},
	{"sources", KEY_SOURCES, "FOLDER", 0, "the guest kernel's source, to see READ_ONCE() and its like in", 0},
	{0},
};

static const char doc[] =
	"Show the races of a run again, with the source lines, inlined calls and data names that debug files add.\v"
	"FILE is what `outrider run --json` wrote; - is standard input. Races of several files are put together.";

static error_t format_option(struct report_options *o, const char *arg, struct argp_state *state)
{
	for (o->format = 0; o->format < sizeof(formats) / sizeof(formats[0]); o->format++) {
		if (strcmp(arg, formats[o->format].name) == 0)
			return 0;
	}
	return cli_usage(state, "--format %s: give text, json, sarif, kcsan, html or junit", arg);
}

static error_t sort_option(struct report_options *o, const char *arg, struct argp_state *state)
{
	int order = verdicts_order(arg);

	if (order < 0)
		return cli_usage(state, "--sort %s: give rank, count, time or site", arg);
	o->order = (enum verdicts_order)order;
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;
	const char **files;

	switch (key) {
	case KEY_SYMBOLS:
		return names_add(o->names, arg, o->input.err) < 0 ? EINVAL : 0;
	case KEY_FORMAT:
		return format_option(o, arg, state);
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_SORT:
		return sort_option(o, arg, state);
	case KEY_SUPPRESS:
		o->suppress = arg;
		return 0;
	case KEY_RULES:
		return prune_rules_add(o->rules, arg, o->input.err) < 0 ? EINVAL : 0;
	case KEY_SOURCES:
		return prune_rules_set_sources(o->rules, arg, o->input.err) < 0 ? EINVAL : 0;
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

static int check(const struct report_options *o, struct err *err)
{
	if (!o->count)
		return err_set(err, EXIT_USAGE,
			       "report needs a FILE that `outrider run --json` wrote; see `outrider report --help`");
	if (o->format == FORMAT_JSON && o->count > 1)
		return err_set(err, EXIT_USAGE, "--format json takes one FILE; give them one by one");
	return 0;
}

static int name_races(const struct report_options *o, struct insn_decoder *decoder, struct report_load *l, struct err *err)
{
	const struct naming naming = {
		o->names, decoder, &l->modules, l->kernel.slide, l->kernel.build_id, l->kernel.build_id_len};

	for (size_t i = 0; i < l->count; i++) {
		if (naming_race(&naming, l->races[i], err) < 0)
			return -1;
	}
	return 0;
}

static int print_json(const struct report_options *o, struct report_load *l, struct err *err)
{
	struct verdicts v = {0};
	unsigned found, asked;
	int rc;

	names_used(o->names, &found, &asked);
	l->kernel.debug_files |= found != 0;
	prune_rules_set_kernel(o->rules, l->kernel.banner);
	rc = verdicts_judge(&v, o->rules, o->suppressions, l->races, l->count, err);
	if (rc == 0)
		rc = show_json(&v, l, err);
	verdicts_free(&v);
	return rc;
}

static int print_judged(const struct report_options *o, const struct race_store *store, const char *kernel, struct err *err)
{
	struct verdicts v = {0};
	int rc;

	prune_rules_set_kernel(o->rules, kernel);
	rc = verdicts_judge_store(&v, o->rules, o->suppressions, store, err);
	if (rc == 0) {
		verdicts_sort(&v, o->order);
		if (formats[o->format].export)
			rc = show_export(&v, kernel, formats[o->format].export, err);
		else
			show_text(&v, store, o->names, o->all);
	}
	verdicts_free(&v);
	return rc;
}

/* *kernel becomes the banner of the first report that has one, from malloc(). */
static int report_file(const struct report_options *o, struct insn_decoder *decoder, const char *path, struct race_store *store,
		       char **kernel, struct err *err)
{
	struct report_load l;
	int rc;

	if (report_load(&l, path, err) < 0)
		return -1;
	rc = name_races(o, decoder, &l, err);
	if (rc == 0)
		rc = o->format == FORMAT_JSON ? print_json(o, &l, err) : report_load_into(&l, store, err);
	if (!*kernel && l.kernel.banner) {
		*kernel = l.kernel.banner;
		l.kernel.banner = NULL;
	}
	report_load_free(&l);
	return rc;
}

static int report_files(const struct report_options *o, struct err *err)
{
	struct insn_decoder *decoder = insn_decoder_new();
	struct race_store *store = race_store_new(err);
	char *kernel = NULL;
	int rc = decoder && store ? 0 : err_set(err, EXIT_INTERNAL, "out of memory");

	for (size_t i = 0; i < o->count && rc == 0; i++)
		rc = report_file(o, decoder, o->files[i], store, &kernel, err);
	if (rc == 0 && o->format != FORMAT_JSON)
		rc = print_judged(o, store, kernel, err);
	if (rc == 0 && fflush(stdout) == EOF)
		rc = err_set(err, EXIT_INPUT, "standard output: cannot be written");
	free(kernel);
	race_store_free(store);
	insn_decoder_free(decoder);
	return rc;
}

static void on_note(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "outrider: %s\n", line);
}

static int read_suppressions(struct report_options *o, struct err *err)
{
	time_t now = time(NULL);
	struct tm today;

	if (!o->suppress)
		return 0;
	localtime_r(&now, &today);
	o->suppressions = suppress_read(
		o->suppress, (unsigned)((today.tm_year + 1900) * 10000 + (today.tm_mon + 1) * 100 + today.tm_mday), err);
	return o->suppressions ? 0 : -1;
}

int cli_report(int argc, char **argv)
{
	const struct argp argp = {.options = options, .parser = parser, .args_doc = "FILE...", .doc = doc};
	const struct names_sink sink = {.note = on_note};
	struct err err = {0};
	struct report_options o = {.input = {&err}, .names = names_new(&sink, &err), .rules = prune_rules_new(&err)};

	if (o.names && o.rules && cli_parse(&argp, argc, argv, &o.input) == 0 && check(&o, &err) == 0 &&
	    names_add_usual(o.names, &err) == 0 && read_suppressions(&o, &err) == 0 && report_files(&o, &err) == 0)
		suppress_leftover(o.suppressions, on_note, NULL);
	suppress_free(o.suppressions);
	prune_rules_free(o.rules);
	names_free(o.names);
	free(o.files);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
