/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of races that were found earlier, and the data that names and judges these races. For `report` and `prune`. */
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
	struct cli_input input; /* This must be the first member; see cli_parse(). */
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

/* The parser of FILE... and of the options of every command with such files. Its input is a struct race_files. */
extern const struct argp race_files_argp;

/* The same without --race, for a command that compares sets of files. */
extern const struct argp race_sides_argp;

/* Initialise `f`. Returns 0, or -1 with EXIT_INTERNAL. race_files_free() must follow in both cases. `f` must not be moved. */
int race_files_init(struct race_files *f, struct err *err);
void race_files_free(struct race_files *f);

/*
 * Load only this race and others that are added in the same way. `id` is an id or the first characters of one, and must last as
 * long as `f`. Returns 0; or, as an option parser does, EINVAL with the error of `f` set.
 */
error_t race_files_want(struct race_files *f, const char *id);

/*
 * Load the wanted races of one file, and name them. After success the caller frees `out` with report_load_free(). Returns 0; or
 * -1 with err set as report_load() sets it, or to EXIT_INTERNAL.
 */
int race_files_load(struct race_files *f, const char *path, struct report_load *out, struct err *err);

/*
 * Load the races of all files into `store`, and select the rules for their kernels. A run that several files have is used once,
 * from a file in which it is finished if there is one; a line on standard error reports that. `runs` becomes the facts of the
 * runs; race_runs_free() must follow. Returns 0; or -1 with err set as race_files_load() and races_wanted_all_found() set it,
 * and then `runs` is empty.
 */
int race_files_load_all(struct race_files *f, struct race_store *store, struct race_runs *runs, struct err *err);

/*
 * Print one line on standard error, cleaned by clean_line(), unless the struct race_files `ctx` is quiet. Can serve as a note()
 * callback.
 */
void race_files_note(void *ctx, const char *line);

#endif
