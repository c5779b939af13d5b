/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Races found earlier: the files that they are in, and what names and judges them. For commands that look at such files. */
#ifndef OUTRIDER_CLI_RACE_FILES_H
#define OUTRIDER_CLI_RACE_FILES_H

#include "hv/cli/cli.h"
#include "hv/report/json/load.h"
#include "pruner/prune.h"
#include "symbols/insn/insn.h"
#include "symbols/files/debug_images.h"

struct race_files {
	struct cli_input input; /* first: see cli_parse() */
	struct debug_images *images;
	struct insn_decoder *decoder;
	struct prune_rules *rules;
	const char **files;
	size_t count;
	struct race_wanted {
		const char *id;
		bool found;
	} * wanted; /* only these; none: all */
	size_t wanted_count;
};

/* --symbols, --rules, --sources, --race and FILE...; its input is the struct race_files. */
extern const struct argp race_files_argp;

/* 0, or -1 with EXIT_INTERNAL; race_files_free() either way. */
int race_files_init(struct race_files *f, struct err *err);
void race_files_free(struct race_files *f);

/* Only this race, and those asked for in the same way; `id` must last. 0, or ENOMEM: an option parser's results. */
error_t race_files_want(struct race_files *f, const char *id);

/*
 * One file's races, named, but for those that are not wanted; report_load_free() it when that succeeded. 0; or -1: as
 * report_load(), or EXIT_INTERNAL.
 */
int race_files_load(struct race_files *f, const char *path, struct report_load *out, struct err *err);

/* After all files: 0, or -1 with EXIT_USAGE when a race that is wanted was in none of them. */
int race_files_all_found(const struct race_files *f, struct err *err);

/*
 * All files' races into `store`, and the rules set to their kernels. *kernel becomes the banner of the first file that knows
 * its own, from malloc(), or NULL. 0; or -1: as race_files_load() and race_files_all_found(), and *kernel is NULL.
 */
int race_files_load_all(struct race_files *f, struct race_store *store, char **kernel, struct err *err);

/* One line on standard error, for what takes a note(). */
void race_files_note(void *ctx, const char *line);

#endif
