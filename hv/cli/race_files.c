// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/race_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/report/naming/naming.h"

enum race_files_key { KEY_SYMBOLS = 0x300, KEY_RULES, KEY_SOURCES, KEY_RACE };

static const struct argp_option options[] = {
	{"symbols", KEY_SYMBOLS, "PATH", 0,
	 "debug files: a vmlinux, a module, an unpacked -dbg package, a build tree or a folder by build id; may be given "
	 "several times (/usr/lib/debug and debuginfod's cache are always searched too)",
	 0},
	{"rules", KEY_RULES, "FILE", 0,
	 "more lists of special variables, marked accesses and so on; may be given several times", 0},
	{"race", KEY_RACE, "ID", 0, "show only this race; may be given several times", 0},
	{"sources", KEY_SOURCES, "FOLDER", 0,
	 "the source tree of the guest kernel or of a module, to look for READ_ONCE() and the like in; may be given several "
	 "times",
	 0},
	{0},
};

error_t race_files_want(struct race_files *f, const char *id)
{
	struct race_wanted *wanted = realloc(f->wanted, (f->wanted_count + 1) * sizeof(*wanted));

	if (!wanted)
		return ENOMEM;
	f->wanted = wanted;
	wanted[f->wanted_count++] = (struct race_wanted){.id = id};
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct race_files *f = state->input;
	const char **files;

	switch (key) {
	case KEY_SYMBOLS:
		return debug_images_add(f->images, arg, f->input.err) < 0 ? EINVAL : 0;
	case KEY_RULES:
		return prune_rules_add(f->rules, arg, f->input.err) < 0 ? EINVAL : 0;
	case KEY_SOURCES:
		return sources_add(f->sources, arg, f->input.err) < 0 ? EINVAL : 0;
	case KEY_RACE:
		return race_files_want(f, arg);
	case ARGP_KEY_ARG:
		files = realloc(f->files, (f->count + 1) * sizeof(*files));
		if (!files)
			return ENOMEM;
		f->files = files;
		files[f->count++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp race_files_argp = {.options = options, .parser = parser};

void race_files_note(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "outrider: %s\n", line);
}

int race_files_init(struct race_files *f, struct err *err)
{
	static const struct debug_images_sink sink = {.note = race_files_note};
	static const struct sources_sink source_sink = {.note = race_files_note};

	*f = (struct race_files){.input = {err},
				 .images = debug_images_new(&sink, err),
				 .decoder = insn_decoder_new(),
				 .rules = prune_rules_new(err),
				 .sources = sources_new(&source_sink, err)};
	if (!f->decoder)
		err_set(err, EXIT_INTERNAL, "out of memory");
	if (!f->images || !f->rules || !f->decoder || !f->sources)
		return -1;
	prune_rules_set_sources(f->rules, f->sources);
	return 0;
}

void race_files_free(struct race_files *f)
{
	prune_rules_free(f->rules);
	sources_free(f->sources);
	insn_decoder_free(f->decoder);
	debug_images_free(f->images);
	free(f->files);
	free(f->wanted);
}

static bool is_wanted(void *ctx, const struct race *race)
{
	struct race_files *f = ctx;
	bool found = !f->wanted_count;

	for (size_t i = 0; i < f->wanted_count; i++) {
		if (strcmp(f->wanted[i].id, race->id) == 0)
			found = f->wanted[i].found = true;
	}
	return found;
}

int race_files_load(struct race_files *f, const char *path, struct report_load *out, struct err *err)
{
	if (report_load(out, path, err) < 0)
		return -1;
	report_load_keep(out, is_wanted, f);
	const struct run_kernel *k = &out->run.kernel;
	const struct naming naming = {f->images, f->decoder, &out->modules, k->slide, k->build_id, k->build_id_len, f->sources};

	for (size_t i = 0; i < out->count; i++) {
		if (naming_race(&naming, out->races[i], err) < 0) {
			report_load_free(out);
			return -1;
		}
	}
	return 0;
}

int race_files_all_found(const struct race_files *f, struct err *err)
{
	for (size_t i = 0; i < f->wanted_count; i++) {
		if (!f->wanted[i].found)
			return err_set(err, EXIT_USAGE, "no race '%s' in the files given; `outrider prune` lists them",
				       f->wanted[i].id);
	}
	return 0;
}

void race_runs_free(struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		run_facts_free(&runs->list[i]);
	free(runs->list);
	free(runs->files);
	*runs = (struct race_runs){0};
}

const char *race_runs_kernel(const struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->list[i].kernel.banner)
			return runs->list[i].kernel.banner;
	}
	return NULL;
}

/* `runs` has room. */
static int load_into(struct race_files *f, const char *path, struct race_store *store, struct race_runs *runs, struct err *err)
{
	struct report_load l;
	int rc;

	if (race_files_load(f, path, &l, err) < 0)
		return -1;
	rc = report_load_into(&l, store, err);
	if (l.run.kernel.banner)
		prune_rules_add_kernel(f->rules, l.run.kernel.banner);
	runs->files[runs->count] = path;
	runs->list[runs->count++] = l.run;
	l.run = (struct run_facts){0};
	report_load_free(&l);
	return rc;
}

int race_files_load_all(struct race_files *f, struct race_store *store, struct race_runs *runs, struct err *err)
{
	int rc = 0;

	*runs = (struct race_runs){.list = calloc(f->count + 1, sizeof(*runs->list)),
				   .files = calloc(f->count + 1, sizeof(*runs->files))};
	if (!runs->list || !runs->files)
		rc = err_set(err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; i < f->count && rc == 0; i++)
		rc = load_into(f, f->files[i], store, runs, err);
	if (rc == 0)
		rc = race_files_all_found(f, err);
	if (rc < 0)
		race_runs_free(runs);
	return rc;
}
