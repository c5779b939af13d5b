// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider diff`: shows which races are new, which are gone, and whose verdict has changed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/clean.h"
#include "hv/cli/choice.h"
#include "hv/cli/fail_on.h"
#include "hv/cli/race_files.h"
#include "hv/race/race_key.h"
#include "hv/report/json/write.h"
#include "hv/report/text/text.h"
#include "pruner/changes.h"

enum diff_key { KEY_OLD = 0x200, KEY_FORM, KEY_ALL, KEY_SUPPRESS };

struct diff_options {
	/*
	 * Reads the files of one side at a time: first the old, then the new files. Must be first: option parsers cast a
	 * pointer to it to this struct (cli_parse()).
	 */
	struct race_files in;
	struct fail_on fail_on;
	struct suppressions *suppressions; /* or NULL */
	const char **old;		   /* the files of --old */
	size_t old_count;
	size_t form; /* index of forms[] */
	bool all;
};

/* The races of one side, with verdicts. */
struct diff_side {
	struct race_store *store;
	struct race_runs runs;
	struct verdicts verdicts;
};

static const char *const forms[] = {"text", "json"};

static const char *form_word(size_t i)
{
	return i < sizeof(forms) / sizeof(forms[0]) ? forms[i] : NULL;
}

const struct cli_choice diff_forms = {"FORM", form_word};

static const struct argp_option options[] = {
	{"old", KEY_OLD, "FILE", 0,
	 "a file of the old side; may be given several times, and all FILEs are of the new side then", 0},
	{"format", KEY_FORM, "FORM", 0, "text, for people (default), or json", 0},
	{"all", KEY_ALL, NULL, 0, "show also the races that moved, and those that did not change", 0},
	{"suppress", KEY_SUPPRESS, "FILE", 0, "a list of known races with reasons", 0},
	{0},
};

static const char doc[] =
	"Compare the races of two sets of runs: which are new, which are gone, and which are judged otherwise.\v"
	"FILE is a file that `outrider run --json` wrote, or - for standard input. Without --old the first of two FILEs is the "
	"old side. Races of different builds of the kernel are matched by their functions and data.";

static error_t add_old(struct diff_options *o, const char *path)
{
	const char **to = list_grow(&o->old, &o->old_count, sizeof(*to), NULL);

	if (!to)
		return ENOMEM;
	*to = path;
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct diff_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->in;
		state->child_inputs[1] = &o->fail_on;
		return 0;
	case KEY_OLD:
		return add_old(o, arg);
	case KEY_FORM:
		return cli_choose(state, &diff_forms, "format", arg, &o->form);
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_SUPPRESS:
		suppress_free(o->suppressions);
		o->suppressions = suppress_read_today(arg, o->in.input.err);
		return o->suppressions ? 0 : EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Separate the old files from the new ones. Without --old, the first of two files is the old one. */
static int split_files(struct diff_options *o, struct err *err)
{
	if (!o->old_count && o->in.count != 2)
		return err_set(err, EXIT_USAGE, "diff needs two FILEs, OLD and NEW; for more give --old FILE for each old one");
	if (o->old_count && !o->in.count)
		return err_set(err, EXIT_USAGE, "diff needs a FILE of the new side beside --old");
	if (o->old_count)
		return 0;
	if (add_old(o, o->in.files[0]))
		return err_set(err, EXIT_INTERNAL, "out of memory");
	o->in.files[0] = o->in.files[--o->in.count];
	return 0;
}

/* Load the files of one side, the old or the new one, and judge their races by the rules for the kernel of this side. */
static int load_side(struct diff_options *o, const char **files, size_t count, struct diff_side *out, struct err *err)
{
	const char **kept = o->in.files;
	size_t kept_count = o->in.count;
	int rc;

	out->store = race_store_new(err);
	if (!out->store)
		return -1;
	o->in.files = files;
	o->in.count = count;
	prune_rules_set_kernel(o->in.rules, NULL);
	rc = race_files_load_all(&o->in, out->store, &out->runs, err);
	o->in.files = kept;
	o->in.count = kept_count;
	if (rc == 0)
		rc = verdicts_judge_store(&out->verdicts, o->in.rules, o->suppressions, out->store, err);
	if (rc == 0)
		verdicts_sort(&out->verdicts, VERDICTS_BY_RANK);
	return rc;
}

static void free_side(struct diff_side *s)
{
	verdicts_free(&s->verdicts);
	race_runs_free(&s->runs);
	race_store_free(s->store);
}

/* ---- text ---- */

static void put_runs(const char *head, const struct race_runs *runs)
{
	char file[CLEAN_MAX(256)], kernel[CLEAN_MAX(128)];

	for (size_t i = 0; i < runs->count; i++) {
		const char *banner = runs->list[i].kernel.banner;

		clean_text(runs->files[i], strnlen(runs->files[i], 256), file, sizeof(file));
		clean_text(banner ? banner : "an unknown kernel", banner ? strcspn(banner, "(") : 17, kernel, sizeof(kernel));
		printf("%-9s %s: %s\n", head, file, kernel);
		text_doubt(stdout, &runs->list[i], runs->files[i], &(const struct text_style){0});
	}
}

/* Print the verdict that a race had on the old side. If the race's id has changed, also print its id on the old side. */
static void put_before(const struct change *c)
{
	const struct verdict *v = &c->before->verdict;

	printf("     was %d %s, %s%s%s\n", v->rank, verdict_class_word(v->class), rule_name(v->rule),
	       strcmp(c->before->race->id, c->now->race->id) == 0 ? "" : "; race ",
	       strcmp(c->before->race->id, c->now->race->id) == 0 ? "" : c->before->race->id);
}

/* Returns whether any run of a side may have sampled. If none has, a race that this side lacks does not count as gone. */
static bool has_looked(const struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (!run_is_unsampled(&runs->list[i]))
			return true;
	}
	return false;
}

static void put_text(const struct changes *c, const struct diff_side *old, const struct diff_side *now, bool all)
{
	static const char *const heads[CHANGE_KINDS] = {
		[CHANGE_NEW] = "NEW       only the new side has these",
		[CHANGE_VERDICT] = "CHANGED   both sides have these, with different verdicts",
		[CHANGE_GONE] = "GONE      the new side has not seen these; sampling is random, so they need not be fixed",
		[CHANGE_MOVED] = "MOVED     matched by functions and data, because their ids differ between the builds",
		[CHANGE_NONE] = "SAME      both sides have these, with the same verdict",
	};
	static const char not_looked[] = "UNKNOWN   not looked for: the new side sampled nothing, so nothing is known of "
					 "these, and none of them is gone";

	bool looked = has_looked(&now->runs);
	size_t shown = 0;

	put_runs("OLD", &old->runs);
	put_runs("NEW", &now->runs);
	putchar('\n');
	for (size_t i = 0; i < c->count; i++, shown++) {
		const struct change *change = &c->list[i];

		if (!all && change->kind >= CHANGE_MOVED)
			break;
		if (!i || c->list[i - 1].kind != change->kind)
			printf("%s%s\n", i ? "\n" : "",
			       change->kind == CHANGE_GONE && !looked ? not_looked : heads[change->kind]);
		verdict_row(stdout, change->now ? change->now : change->before, false);
		if (change->now && change->before && change->kind != CHANGE_NONE)
			put_before(change);
	}
	printf("%s%zu new, %zu changed, %zu %s, %zu moved, %zu the same\n", shown ? "\n" : "", c->of_kind[CHANGE_NEW],
	       c->of_kind[CHANGE_VERDICT], c->of_kind[CHANGE_GONE], looked ? "gone" : "not looked for",
	       c->of_kind[CHANGE_MOVED], c->of_kind[CHANGE_NONE]);
}

/* ---- JSON ---- */

static const char *const kind_words[CHANGE_KINDS] = {
	[CHANGE_NEW] = "new",	  [CHANGE_VERDICT] = "changed", [CHANGE_GONE] = "gone",
	[CHANGE_MOVED] = "moved", [CHANGE_NONE] = "same",
};

/* In JSON, the change of a race that only the old side has is "gone" or, if the new side's runs sampled nothing, this word. */
#define UNSAMPLED_WORD "unsampled"

static json_t *judged_json(struct json_builder *b, const struct judged *j)
{
	struct race_key key;
	json_t *o, *sites;

	if (!j)
		return json_null();
	race_key(j->race, &key);
	o = json_object();
	sites = json_array();
	json_put(b, o, "id", json_clean(j->race->id, sizeof(j->race->id)));
	json_put(b, o, "identity", json_string(key.identity));
	for (unsigned i = 0; i < 2; i++)
		json_append(b, sites, json_clean(j->race->site[i], sizeof(j->race->site[i])));
	json_put(b, o, "sites", sites);
	json_put(b, o, "count", json_integer((json_int_t)j->race->count));
	json_put(b, o, "verdict", verdict_json(j));
	return o;
}

static json_t *files_json(struct json_builder *b, const struct race_runs *runs)
{
	json_t *files = json_array();

	for (size_t i = 0; i < runs->count; i++)
		json_append(b, files, json_clean(runs->files[i], strlen(runs->files[i])));
	return files;
}

static json_t *changes_json(struct json_builder *b, const struct changes *c, bool looked)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->count; i++) {
		json_t *o = json_object();

		const char *word = kind_words[c->list[i].kind];

		json_put(b, o, "change", json_string(c->list[i].kind == CHANGE_GONE && !looked ? UNSAMPLED_WORD : word));
		json_put(b, o, "worse", json_boolean(change_is_worse(&c->list[i])));
		json_put(b, o, "old", judged_json(b, c->list[i].before));
		json_put(b, o, "new", judged_json(b, c->list[i].now));
		json_append(b, list, o);
	}
	return list;
}

static int put_json(const struct changes *c, const struct diff_side *old, const struct diff_side *now, struct err *err)
{
	struct json_builder b = {0};
	json_t *document = json_object(), *summary = json_object();
	bool looked = has_looked(&now->runs);

	json_put(&b, document, "schema", json_string("outrider-diff/1"));
	json_put(&b, document, "old", files_json(&b, &old->runs));
	json_put(&b, document, "new", files_json(&b, &now->runs));
	json_put(&b, document, "races", changes_json(&b, c, looked));
	for (unsigned i = 0; i < CHANGE_KINDS; i++)
		json_put(&b, summary, kind_words[i], json_integer(i == CHANGE_GONE && !looked ? 0 : (json_int_t)c->of_kind[i]));
	json_put(&b, summary, UNSAMPLED_WORD, json_integer(looked ? 0 : (json_int_t)c->of_kind[CHANGE_GONE]));
	json_put(&b, document, "summary", summary);
	return json_document_write(stdout, &b, document, err);
}

/* ---- the command ---- */

/*
 * Returns the exit code. Only changes for the worse, and runs of the new side that are unsampled or not finished, can make the
 * command fail.
 */
static int code_of(const struct diff_options *o, const struct changes *c, const struct race_runs *now)
{
	struct verdicts worse = {.list = calloc(c->count + 1, sizeof(*worse.list))};
	int code;

	for (size_t i = 0; worse.list && i < c->count; i++) {
		if (change_is_worse(&c->list[i]))
			worse.list[worse.count++] = *c->list[i].now;
	}
	code = worse.list ? fail_on_code(&o->fail_on, &(struct fail_on_found){.verdicts = &worse,
									      .runs = now->list,
									      .files = now->files,
									      .run_count = now->count})
			  : EXIT_INTERNAL;
	verdicts_free(&worse);
	return code;
}

/*
 * Returns whether both sides have the module in the same build. A callback for changes_find(); `ctx` has the runs of both
 * sides.
 */
static bool same_build(void *ctx, const char *module)
{
	const struct race_runs *const *runs = ctx;

	return race_runs_same_build(runs[0], runs[1], module);
}

static int diff(struct diff_options *o, int *code, struct err *err)
{
	struct diff_side old = {0}, now = {0};
	struct changes changes = {0};
	const struct race_runs *const runs[] = {&old.runs, &now.runs};
	const struct changes_builds builds = {same_build, (void *)runs};
	int rc = -1;

	if (debug_images_add_usual(o->in.images, err) < 0 || load_side(o, o->old, o->old_count, &old, err) < 0 ||
	    load_side(o, o->in.files, o->in.count, &now, err) < 0 ||
	    changes_find(&changes, &old.verdicts, &now.verdicts, &builds, err) < 0)
		goto out;
	rc = 0;
	if (o->form == 0)
		redirect_page(&o->in.redirect);
	if (o->form == 0)
		put_text(&changes, &old, &now, o->all);
	else
		rc = put_json(&changes, &old, &now, err);
	*code = code_of(o, &changes, &now.runs);
	suppress_leftover(o->suppressions, race_files_message, &o->in);
out:
	changes_free(&changes);
	free_side(&old);
	free_side(&now);
	return rc;
}

static const struct argp_child children[] = {{&race_sides_argp, 0, NULL, 0}, {&fail_on_diff_argp, 0, NULL, 0}, {0}};
const struct argp cli_diff_argp = {
	.options = options, .parser = parser, .args_doc = "FILE...", .doc = doc, .children = children};

int cli_diff(int argc, char **argv)
{
	struct err err = {0};
	struct diff_options o = {0};
	int code = EXIT_OK;

	o.fail_on.input.err = &err;
	if (race_files_init(&o.in, &err) == 0 && cli_parse(&cli_diff_argp, argc, argv, &o.in.input) == 0 &&
	    split_files(&o, &err) == 0 && redirect_begin(&o.in.redirect, &err) == 0)
		diff(&o, &code, &err);
	redirect_end(&o.in.redirect, &err);
	suppress_free(o.suppressions);
	free(o.old);
	race_files_free(&o.in);
	return err.code == EXIT_OK ? code : cli_fail(&err);
}
