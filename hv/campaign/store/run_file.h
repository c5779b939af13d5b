/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a file of a run for a parser that takes a path. The run's processes could write to its folder, and a guest may have
 * taken over such a process. So a name in the folder can be a symbolic link, a FIFO that blocks for ever, or a file without
 * end.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_RUN_FILE_H
#define OUTRIDER_CAMPAIGN_STORE_RUN_FILE_H

#include <stdint.h>

#include "hv/base/err.h"

/*
 * Maximum size of a run's report, and of its coverage file, in bytes. A run keeps at most 8192 races, and a report of 8192
 * races has about 160 MB. The limit is three times as high.
 */
#define RUN_FILE_MAX (UINT64_C(512) << 20)

struct run_file {
	const char *path; /* as the caller gave it */
	int fd;
	char name[32]; /* path in /proc of the open file, for the parser: a file that is put at `path` later is not read */
};

/* Open the regular file at `path`. Returns 0, or -1 with EXIT_INPUT if it is a symbolic link, no regular file, or too large. */
int run_file_open(struct run_file *f, const char *path, struct err *err);
void run_file_close(struct run_file *f);

/*
 * The message of a parser that was given f->name begins with this name. If the text of `err` begins so, replace f->name in it
 * by f->path, which the user knows.
 */
void run_file_explain(const struct run_file *f, struct err *err);

#endif
