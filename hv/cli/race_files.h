/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Races that were found earlier: the files that they are in, and what names and judges them. `report` and `prune` use this. */
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
	bool quiet;		  /* Print no notes. */
	bool verbose;		  /* Print a note for each debug file that is used. */
	bool code_lines;	  /* The caller wants the source lines of the instructions around the accesses. */
	const char **files;
	size_t count;
	struct races_wanted wanted; /* Only these races are loaded. */
};

/* The parser of FILE... and of the options that every command with such files has. Its input is a struct race_files. */
extern const struct argp race_files_argp;

/* The same without --race, for a command that compares sets of files. */
extern const struct argp race_sides_argp;

/* Returns 0, or -1 with EXIT_INTERNAL. race_files_free() must follow in both cases. `f` must not be moved. */
int race_files_init(struct race_files *f, struct err *err);
void race_files_free(struct race_files *f);

/*
 * Load only this race and those asked for in the same way. `id` is an id or the first characters of one, and must last as long
 * as `f`. Returns 0; or, as an option parser does, EINVAL with the error of `f` set.
 */
error_t race_files_want(struct race_files *f, const char *id);

/*
 * Load the races of one file that are wanted, and name them. The caller frees `out` with report_load_free() after success.
 * Returns 0; or -1 with err set as report_load() sets it, or to EXIT_INTERNAL.
 */
int race_files_load(struct race_files *f, const char *path, struct report_load *out, struct err *err);

/*
 * Load the races of all files into `store`, and tell the rules which kernels they are from. A run that several files have is
 * taken once, from a file in which it is finished if there is one, and a line on standard error says so. `runs` becomes what is
 * known of the runs; race_runs_free() must follow. Returns 0; or -1 with err set as race_files_load() and
 * races_wanted_all_found() set it, and then `runs` is empty.
 */
int race_files_load_all(struct race_files *f, struct race_store *store, struct race_runs *runs, struct err *err);

/*
 * Print one line on standard error, cleaned by clean_line(). This fits where a note() callback is wanted. `ctx` is the struct
 * race_files, which may ask to be quiet.
 */
void race_files_note(void *ctx, const char *line);

#endif
