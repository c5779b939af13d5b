// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `outrider locks`: shows which lock protects which datum, and which accesses lack the lock, by the records of runs with
 * --locks.
 */
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/clean.h"
#include "hv/cli/choice.h"
#include "hv/cli/fail_on.h"
#include "hv/cli/redirect.h"
#include "hv/export/locks.h"
#include "hv/report/json/load.h"
#include "hv/report/text/text.h"
#include "pruner/locks/assertions.h"
#include "pruner/lists/conf.h"

enum locks_key { KEY_FORMAT = 0x200, KEY_MODULE, KEY_ALL, KEY_ASSERT, KEY_NO_PAGER };

struct locks_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	size_t form;		/* index of forms[] */
	const char *module;	/* shell patterns, or NULL */
	bool all;
	const char *assert_file; /* or NULL */
	struct fail_on fail_on;
	int code; /* the exit code that assertions and --fail-on select */
	struct redirect redirect;
	const char **files;
	size_t count;
};

static const struct form {
	const char *name;
	int (*write)(FILE *out, const struct export_locks *locks, struct err *err);
} forms[] = {{"text", export_locks_text}, {"json", export_locks_json}, {"html", export_locks_html}};

#define FORM_TEXT 0

static const char *form_word(size_t i)
{
	return i < sizeof(forms) / sizeof(forms[0]) ? forms[i].name : NULL;
}

const struct cli_choice lock_forms = {"FORM", form_word};

static const struct argp_option options[] = {
	{"format", KEY_FORMAT, "FORM", 0, "text, for people (default); json; or html, a page", 0},
	{"module", KEY_MODULE, "GLOBS", 0,
	 "only what functions of these modules access; the kernel's own functions are of no module", 0},
	{"all", KEY_ALL, NULL, 0, "list also the data that were accessed under no lock, or only read", 0},
	{"assert", KEY_ASSERT, "FILE", 0,
	 "check the assertions in FILE: under which locks, and by which functions, data are accessed; exit with status 1 if "
	 "one is broken, or was never checked and is not optional",
	 0},
	{"output", 'o', "FILE", 0, "write to FILE and not to standard output", 0},
	{"no-pager", KEY_NO_PAGER, NULL, 0, "do not pass text on a terminal through a pager", 0},
	{0},
};

static const char doc[] =
	"Show which lock protects what, and where it is missing: suspicions first.\v"
	"RACES.json is a file that `outrider run --locks --json` or `outrider attach --locks --json` wrote, or - for standard "
	"input. Several files are joined by names.";

static error_t add_file(struct locks_options *o, const char *path)
{
	const char **to = list_grow(&o->files, &o->count, sizeof(*to), NULL);

	if (!to)
		return ENOMEM;
	*to = path;
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct locks_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->fail_on;
		return 0;
	case KEY_FORMAT:
		return cli_choose(state, &lock_forms, "format", arg, &o->form);
	case KEY_MODULE:
		o->module = arg;
		return 0;
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_ASSERT:
		o->assert_file = arg;
		return 0;
	case 'o':
		o->redirect.file = arg;
		return 0;
	case KEY_NO_PAGER:
		o->redirect.no_pager = true;
		return 0;
	case ARGP_KEY_ARG:
		return add_file(o, arg);
	case ARGP_KEY_NO_ARGS:
		return cli_usage(
			state,
			"locks needs a RACES.json that `outrider run --locks --json` wrote; see `outrider locks --help`");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Returns whether a function belongs to one of the modules that the user wants. `ctx` is the struct locks_options. */
static bool is_wanted(const void *ctx, const char *function)
{
	const struct locks_options *o = ctx;
	const char *colon = strchr(function, ':');
	char module[SITE_NAME_MAX];

	if (!colon)
		return false;
	snprintf(module, sizeof(module), "%.*s", (int)(colon - function), function);
	return conf_match(o->module, module);
}

/* The contents of the files with records of locks. If several files have the same run, only one of them is used. */
struct lock_files {
	struct lock_record *records;
	struct run_facts *runs;
	const char **paths;
	size_t count;
};

/* Returns whether a function of the records belongs to a module that fits the shell pattern. */
static bool has_module(const struct lock_files *files, const char *glob)
{
	const struct locks_options one = {.module = glob};

	for (size_t i = 0; i < files->count; i++) {
		const struct protection *p = files->records[i].protection;

		for (uint32_t n = 0; n < p->function_count; n++) {
			if (is_wanted(&one, p->functions[n].name))
				return true;
		}
	}
	return false;
}

/* Append ", " and the name of a function's module to the list `out`, unless the list has the name or no room for it. */
static void add_module(const char *function, char *out, size_t size)
{
	const char *colon = strchr(function, ':');
	size_t len = colon ? (size_t)(colon - function) : 0, used = strlen(out);

	if (!len || used + len + sizeof(", ") > size)
		return;
	for (const char *at = out; (at = strstr(at, ", ")); at += 2) {
		if (strncmp(at + 2, function, len) == 0 && (!at[2 + len] || at[2 + len] == ','))
			return;
	}
	snprintf(out + used, size - used, ", %.*s", (int)len, function);
}

/*
 * Refuse a pattern of --module that fits no module of the files: an empty list would look like a clean result. Returns 0, or -1
 * with `err` set.
 */
static int check_modules(const struct locks_options *o, const struct lock_files *files, struct err *err)
{
	char *globs = strdup(o->module ? o->module : ""), *rest = globs, *glob, modules[512] = "";
	int rc = 0;

	if (!globs)
		return err_set(err, EXIT_INTERNAL, "memory ran out while locks were read");
	while (rc == 0 && (glob = strsep(&rest, " \t"))) {
		if (!glob[0] || has_module(files, glob))
			continue;
		for (size_t i = 0; i < files->count; i++) {
			const struct protection *p = files->records[i].protection;

			for (uint32_t n = 0; n < p->function_count; n++)
				add_module(p->functions[n].name, modules, sizeof(modules));
		}
		rc = err_set(err, EXIT_INPUT, "--module %s: the record of locks has nothing of such a module; it has %s", glob,
			     modules[0] ? modules + 2 : "only the kernel's own image");
	}
	free(globs);
	return rc;
}

/* Check the user's assertions against the files. Returns NULL without an error if no assertions were given. */
static struct assertions *check(const struct locks_options *o, const struct lock_files *files, struct err *err)
{
	struct assertions *a = o->assert_file ? assertions_read(o->assert_file, err) : NULL;

	for (size_t i = 0; a && i < files->count; i++) {
		if (assertions_check(a, files->records[i].protection, err))
			break;
	}
	return a;
}

/* Print one line for each reason to fail: broken assertions, and what --fail-on names. Returns the exit code. */
static int code_of(const struct locks_options *o, const struct lock_files *files, const struct assertions *a,
		   const struct lock_chart *chart)
{
	size_t broken = a ? assertions_broken(a) : 0, unchecked = a ? assertions_unchecked(a) : 0;
	int code = o->fail_on.code ? o->fail_on.code : FAIL_ON_DEFAULT_CODE, other = EXIT_OK;

	if (broken)
		fprintf(stderr, "outrider: %zu of %zu assertions %s broken: exit status %d (--assert)\n", broken, a->count,
			broken > 1 ? "are" : "is", code);
	if (unchecked)
		fprintf(stderr,
			"outrider: %zu of %zu assertions %s never checked: exit status %d (--assert); sample these data, or "
			"mark "
			"the assertions `optional = yes`\n",
			unchecked, a->count, unchecked > 1 ? "were" : "was", code);
	/* If assertions are given, --error-exitcode without --fail-on is about the assertions only. */
	if (!a || o->fail_on.words.on || o->fail_on.words.off)
		other = fail_on_code(&o->fail_on, &(struct fail_on_found){.runs = files->runs,
									  .files = files->paths,
									  .run_count = files->count,
									  .suspicions = chart->suspicion_count,
									  .atomicities = lock_chart_atomicities(chart)});
	return broken || unchecked ? code : other;
}

/*
 * Before the results, say which runs sampled nothing or are not finished: in the output itself if its format is text, otherwise
 * on standard error. With --fail-on, the line on standard error comes from fail_on_code().
 */
static void say_doubts(const struct locks_options *o, const struct lock_files *files)
{
	char line[CLEAN_FIELD_MAX], text[RUN_DOUBT_TEXT_MAX];

	for (size_t i = 0; i < files->count; i++) {
		if (run_doubt(&files->runs[i]) == RUN_SOUND)
			continue;
		run_doubt_text(&files->runs[i], text);
		snprintf(line, sizeof(line), "%s: %s", files->paths[i], text);
		if (o->form == FORM_TEXT)
			text_doubt(stdout, &files->runs[i], files->paths[i], &(const struct text_style){0});
		else if (!fail_on_is_asked(&o->fail_on))
			cli_message(line);
	}
}

static int print(struct locks_options *o, const struct lock_files *files, struct err *err)
{
	struct assertions *assertions = check(o, files, err);
	struct lock_chart chart = {0};
	const struct export_locks locks = {.tool_version = OUTRIDER_VERSION,
					   .chart = &chart,
					   .files = files->paths,
					   .file_count = files->count,
					   .assertions = assertions,
					   .all = o->all};
	int rc = err->code == EXIT_OK ? 0 : -1;

	if (rc == 0)
		rc = check_modules(o, files, err);
	if (rc == 0)
		rc = lock_chart_make(&chart, files->records, files->count, o->module ? is_wanted : NULL, o, err);
	if (rc == 0 && o->form == FORM_TEXT)
		redirect_page(&o->redirect);
	if (rc == 0)
		say_doubts(o, files);
	if (rc == 0)
		rc = forms[o->form].write(stdout, &locks, err);
	if (rc == 0)
		o->code = code_of(o, files, assertions, &chart);
	assertions_free(assertions);
	lock_chart_fini(&chart);
	return rc;
}

/* Returns the path of the file that was read before and has the same run, or NULL if there is none. */
static const char *same_run(const struct lock_files *files, const struct run_facts *run)
{
	for (size_t i = 0; i < files->count; i++) {
		if (run_facts_same(&files->runs[i], run))
			return files->paths[i];
	}
	return NULL;
}

static int load_file(struct lock_files *files, const char *path, struct err *err)
{
	struct report_load load;
	char line[CLEAN_FIELD_MAX];
	const char *same;
	int rc = 0;

	if (report_load(&load, path, err))
		return -1;
	same = same_run(files, &load.run);
	if (!load.locks.protection) {
		rc = err_set(err, EXIT_INPUT,
			     load.run.finished
				     ? "%s has no record of locks: make it by a run with --locks"
				     : "%s has no record of locks yet: the run is not finished, and its record of locks comes "
				       "at the end",
			     path);
	} else if (same) {
		snprintf(line, sizeof(line), "%s: the same run as %s; it is counted once", path, same);
		cli_message(line);
	} else {
		files->records[files->count] = load.locks;
		files->runs[files->count] = load.run;
		files->paths[files->count++] = path;
		load.locks = (struct lock_record){0};
		load.run = (struct run_facts){0};
	}
	report_load_free(&load);
	return rc;
}

static void free_files(struct lock_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		lock_record_fini(&files->records[i]);
		run_facts_free(&files->runs[i]);
	}
	free(files->records);
	free(files->runs);
	free(files->paths);
}

static int locks(struct locks_options *o, struct err *err)
{
	struct lock_files files = {.records = calloc(o->count, sizeof(*files.records)),
				   .runs = calloc(o->count, sizeof(*files.runs)),
				   .paths = calloc(o->count, sizeof(*files.paths))};
	int rc = 0;

	if (!files.records || !files.runs || !files.paths)
		rc = err_set(err, EXIT_INTERNAL, "memory ran out while locks were read");
	for (size_t i = 0; i < o->count && rc == 0; i++)
		rc = load_file(&files, o->files[i], err);
	if (rc == 0)
		rc = print(o, &files, err);
	free_files(&files);
	return rc;
}

static const struct argp_child children[] = {{&fail_on_locks_argp, 0, NULL, 0}, {0}};
const struct argp cli_locks_argp = {
	.options = options, .parser = parser, .args_doc = "RACES.json...", .doc = doc, .children = children};

int cli_locks(int argc, char **argv)
{
	struct err err = {0};
	struct locks_options o = {.input = {&err}, .fail_on.input = {&err}};

	if (cli_parse(&cli_locks_argp, argc, argv, &o.input) == 0 && redirect_begin(&o.redirect, &err) == 0)
		locks(&o, &err);
	redirect_end(&o.redirect, &err);
	free(o.files);
	return err.code == EXIT_OK ? o.code : cli_fail(&err);
}
