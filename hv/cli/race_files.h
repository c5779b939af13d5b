/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of races that were found earlier, and the data that names and judges these races, for `report`, `diff` and
 * `prune`.
 */
#ifndef OUTRIDER_CLI_RACE_FILES_H
#define OUTRIDER_CLI_RACE_FILES_H

#include "hv/cli/cli.h"
#include "hv/cli/redirect.h"
#include "hv/cli/race_runs.h"
#include "hv/cli/race_wanted.h"
#include "hv/report/json/load.h"
#include "pruner/prune.h"
#include "symbols/insn/insn.h"
#include "symbols/files/debug_images.h"
#include "symbols/files/sources.h"

struct race_files {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	struct debug_images *images;
	struct insn_decoder *decoder;
	struct prune_rules *rules;
	struct sources *sources;
	struct redirect redirect; /* --output and --no-pager */
	bool quiet;		  /* print no messages */
	bool verbose;		  /* print a message for each debug file that is used */
	bool code_lines;	  /* the caller needs the source lines of the nearby instructions */
	const char **files;
	size_t count;
	struct races_wanted wanted; /* load only these races */
};

/* The parser of FILE... and of the options of every command that reads such files. Its input is a struct race_files. */
extern const struct argp race_files_argp;

/* The parser race_files_argp without --race, for a command that compares sets of files. */
extern const struct argp race_sides_argp;

/* Initialise `f`. Returns 0, or -1 with EXIT_INTERNAL. In both cases call race_files_free(). `f` must not be moved. */
int race_files_init(struct race_files *f, struct err *err);
void race_files_free(struct race_files *f);

/*
 * Select this race. Only selected races are loaded. `id` is an id or the first characters of one, and must last as long as `f`.
 * Returns 0. On failure, as in an option parser, returns EINVAL with the error of `f` set.
 */
error_t race_files_want(struct race_files *f, const char *id);

/*
 * Load the wanted races of one file, and name them. After success the caller frees `out` with report_load_free(). Returns 0, or
 * -1 with err set: to the error of report_load(), or to EXIT_INTERNAL.
 */
int race_files_load(struct race_files *f, const char *path, struct report_load *out, struct err *err);

/*
 * Load the races of all files into `store`, and select the rules for their kernels. If several files have the same run, the run
 * is taken from one of them, preferably one in which the run is finished, and a line on standard error says so. `runs` becomes
 * the facts of the runs; free them with race_runs_free(). Returns 0, or -1 with `runs` empty and err set to the error of
 * race_files_load() or of races_wanted_all_found().
 */
int race_files_load_all(struct race_files *f, struct race_store *store, struct race_runs *runs, struct err *err);

/*
 * Print one line on standard error, cleaned by clean_line(), unless `ctx`, a struct race_files, is quiet. Can serve as a say()
 * callback.
 */
void race_files_message(void *ctx, const char *line);

#endif
