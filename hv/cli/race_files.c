// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files of races that were found earlier, and the data that names and judges these races. */
#include "hv/cli/race_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hv/base/grow.h"
#include "hv/base/clean.h"
#include "hv/report/naming/naming.h"

enum race_files_key { KEY_SYMBOLS = 0x300, KEY_RULES, KEY_SOURCES, KEY_RACE, KEY_NO_PAGER, KEY_DEBUGINFOD };

/* Options of every command that reads files of races: what names and judges the races, and where the output goes. */
static const struct argp_option side_options[] = {
	{"symbols", KEY_SYMBOLS, "PATH", 0,
	 "debug files: a vmlinux, a module, an unpacked -dbg package, a build tree or a folder by build id; may be given "
	 "several times (/usr/lib/debug and debuginfod's cache are always searched too)",
	 0},
	{"debuginfod", KEY_DEBUGINFOD, NULL, 0, CLI_DEBUGINFOD_HELP, 0},
	{"rules", KEY_RULES, "FILE", 0, CLI_RULES_HELP, 0},
	{"sources", KEY_SOURCES, "FOLDER", 0, CLI_SOURCES_HELP, 0},
	{"output", 'o', "FILE", 0, "write to FILE, which is replaced when all is written (default: standard output)", 0},
	{"no-pager", KEY_NO_PAGER, NULL, 0, "do not pass text on a terminal through a pager", 0},
	{"quiet", 'q', NULL, 0, "print nothing but the result, and errors", 0},
	{"verbose", 'v', NULL, 0, "say which debug files are used", 0},
	{0},
};

/* Option of the commands that can show single races: --race. */
static const struct argp_option options[] = {
	{"race", KEY_RACE, "ID", 0,
	 "show only this race, by its id or its identity, or the races of this group; may be given several times", 0},
	{0},
};

error_t race_files_want(struct race_files *f, const char *id)
{
	return races_wanted_add(&f->wanted, id, f->input.err) < 0 ? EINVAL : 0;
}

static error_t side_parser(int key, char *arg, struct argp_state *state)
{
	struct race_files *f = state->input;
	const char **file;

	switch (key) {
	case KEY_SYMBOLS:
		return debug_images_add(f->images, arg, f->input.err) < 0 ? EINVAL : 0;
	case KEY_RULES:
		return prune_rules_add(f->rules, arg, f->input.err) < 0 ? EINVAL : 0;
	case KEY_SOURCES:
		return sources_add(f->sources, arg, f->input.err) < 0 ? EINVAL : 0;
	case 'o':
		f->redirect.file = arg;
		return 0;
	case KEY_DEBUGINFOD:
		return debug_images_use_debuginfod(f->images, f->input.err) < 0 ? EINVAL : 0;
	case KEY_NO_PAGER:
		f->redirect.no_pager = true;
		return 0;
	case 'q':
		f->quiet = true;
		return 0;
	case 'v':
		f->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		file = list_grow(&f->files, &f->count, sizeof(*file), NULL);
		if (!file)
			return ENOMEM;
		*file = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp race_sides_argp = {.options = side_options, .parser = side_parser};

static error_t parser(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case KEY_RACE:
		return race_files_want(state->input, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&race_sides_argp, 0, NULL, 0}, {0}};
const struct argp race_files_argp = {.options = options, .parser = parser, .children = children};

void race_files_message(void *ctx, const char *line)
{
	const struct race_files *f = ctx;

	if (!f->quiet)
		cli_message(line);
}

static void debug_file_found(void *ctx, const char *line)
{
	const struct race_files *f = ctx;

	if (f->verbose)
		race_files_message(ctx, line);
}

int race_files_init(struct race_files *f, struct err *err)
{
	const struct debug_images_sink sink = {.message = race_files_message, .found = debug_file_found, .ctx = f};
	const struct sources_sink source_sink = {.message = race_files_message, .ctx = f};

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
	races_wanted_free(&f->wanted);
}

static bool is_wanted(void *ctx, const struct race *race)
{
	struct race_files *f = ctx;

	return races_wanted_has(&f->wanted, race);
}

static int name_races(const struct race_files *f, const struct report_load *out, struct err *err)
{
	const struct run_kernel *k = &out->run.kernel;
	const struct naming naming = {.images = f->images,
				      .decoder = f->decoder,
				      .modules = &out->modules,
				      .slide = k->slide,
				      .build_id = k->build_id,
				      .build_id_len = k->build_id_len,
				      .code_lines = f->code_lines,
				      .sources = f->sources};

	for (size_t i = 0; i < out->count; i++) {
		if (naming_race(&naming, out->races[i], err) < 0)
			return -1;
	}
	return 0;
}

/*
 * The user may select a race by an identity that the race has only with the names of this machine's debug files. To find such a
 * race, all races must be named first, which takes long. So first look for all selected races by the names in the file, and
 * name all races only if one is not found.
 */
int race_files_load(struct race_files *f, const char *path, struct report_load *out, struct err *err)
{
	bool early;

	if (report_load(out, path, err) < 0)
		return -1;
	early = races_wanted_are_in(&f->wanted, out->races, out->count);
	if (early)
		report_load_keep(out, is_wanted, f);
	if (name_races(f, out, err) < 0) {
		report_load_free(out);
		return -1;
	}
	if (!early)
		report_load_keep(out, is_wanted, f);
	return 0;
}

/* Tell the user that the file `dropped` has the same run as the file `kept`, which is used. */
static void say_same_run(struct race_files *f, const char *dropped, const char *kept)
{
	char line[CLEAN_FIELD_MAX];

	snprintf(line, sizeof(line), "%s: the same run as %s; it is counted once", dropped, kept);
	race_files_message(f, line);
}

/* The contents of a file, before the races of all files are merged into one store. */
struct loaded {
	struct report_load load;
	const char *path;
	/* The path leads to a regular file; the next members are the file's device and inode number. */
	bool on_disk;
	dev_t dev;
	ino_t ino;
	/* Another file has the same run, and is used instead. */
	bool dropped;
};

/*
 * Of several files with the same run, keep only the first file in which the run is finished or, if the run is finished in none,
 * the first file.
 */
static void drop_same_runs(struct race_files *f, struct loaded *files, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		for (size_t j = 0; j < i && !files[i].dropped; j++) {
			bool later_is_better = files[i].load.run.finished && !files[j].load.run.finished;
			struct loaded *drop = later_is_better ? &files[j] : &files[i];

			if (files[j].dropped || !run_facts_same(&files[i].load.run, &files[j].load.run))
				continue;
			drop->dropped = true;
			say_same_run(f, drop->path, later_is_better ? files[i].path : files[j].path);
		}
	}
}

/* Returns the path of the first of `count` files that is the same file as `file`, or NULL if none is. */
static const char *same_file(const struct loaded *file, const struct loaded *files, size_t count)
{
	for (size_t i = 0; file->on_disk && i < count; i++) {
		if (files[i].on_disk && files[i].dev == file->dev && files[i].ino == file->ino)
			return files[i].path;
	}
	return NULL;
}

static struct loaded loaded_of(const char *path)
{
	struct loaded file = {.path = path};
	struct stat st;

	file.on_disk = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
	if (file.on_disk) {
		file.dev = st.st_dev;
		file.ino = st.st_ino;
	}
	return file;
}

/* Load each file into `out`, and count the loaded files in *count. The caller frees them, also after a failure. */
static int load_each(struct race_files *f, struct loaded *out, size_t *count, struct err *err)
{
	for (size_t i = 0; i < f->count; i++) {
		struct loaded file = loaded_of(f->files[i]);
		const char *same = same_file(&file, out, *count);

		if (same) {
			say_same_run(f, file.path, same);
			continue;
		}
		if (race_files_load(f, file.path, &file.load, err) < 0)
			return -1;
		out[(*count)++] = file;
	}
	drop_same_runs(f, out, *count);
	return races_wanted_all_found(&f->wanted, err);
}

static int put_together(struct race_files *f, struct loaded *files, size_t count, struct race_store *store,
			struct race_runs *runs, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct report_load *l = &files[i].load;

		if (files[i].dropped)
			continue;
		if (report_load_into(l, store, err) < 0)
			return -1;
		if (l->run.kernel.banner)
			prune_rules_add_kernel(f->rules, l->run.kernel.banner);
		runs->files[runs->count] = files[i].path;
		runs->locks[runs->count] = l->locks;
		l->locks = (struct lock_record){0};
		runs->modules[runs->count] = l->modules;
		l->modules = (struct report_modules){0};
		runs->list[runs->count++] = l->run;
		l->run = (struct run_facts){0};
	}
	return 0;
}

int race_files_load_all(struct race_files *f, struct race_store *store, struct race_runs *runs, struct err *err)
{
	struct loaded *files = calloc(f->count + 1, sizeof(*files));
	size_t count = 0;
	int rc = files ? race_runs_init(runs, f->count, err) : err_set(err, EXIT_INTERNAL, "out of memory");

	if (rc == 0)
		rc = load_each(f, files, &count, err);
	if (rc == 0)
		rc = put_together(f, files, count, store, runs, err);
	for (size_t i = 0; i < count; i++)
		report_load_free(&files[i].load);
	free(files);
	if (rc < 0)
		race_runs_free(runs);
	return rc;
}
