/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of a round, with a folder for each run (see runner.h). Small files are written under another name, synced and
 * renamed, so that a crash leaves the old or the new file. Not thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_SPOOL_H
#define OUTRIDER_CAMPAIGN_RUNNER_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct spool {
	char *folder; /* absolute path */
	int lock;     /* descriptor of the lock file; -1: closed */
};

/*
 * Make the folder ROOT/ROUND if necessary, and lock it for this shard ("I/N", or "" for the whole round). Returns 0, or -1 with
 * err set; EXIT_INPUT also if another process works on this shard. A process must not open the same spool twice, because
 * closing the second descriptor of the lock file would release the first lock (fcntl(2)). Call spool_close() in both cases.
 */
int spool_open(struct spool *s, const char *root, const char *round, const char *shard, struct err *err);
void spool_close(struct spool *s);

/* Returns FOLDER/NAME from malloc(), or NULL with EXIT_INTERNAL if memory runs out. */
char *spool_path(const char *folder, const char *name, struct err *err);

/* Make the run's folder if it does not exist. Returns its path from malloc(), or NULL with err set. */
char *spool_run_folder(const struct spool *s, const char *run, struct err *err);

/*
 * Open a file of the folder for reading. Returns a descriptor, or -1 if there is no regular file of this name: a run can leave
 * a link or a FIFO instead.
 */
int spool_open_file(const char *folder, const char *name);

/* Write the small file `name` to the folder. Returns 0, or -1 with err set. */
int spool_write(const char *folder, const char *name, const char *text, struct err *err);

/* Read a small file. Returns its text from malloc(), or NULL if it cannot be read or has more than 64 KiB. */
char *spool_read(const char *folder, const char *name);

/* Returns whether the folder has a regular file of this name that is not empty. */
bool spool_has(const char *folder, const char *name);

/* Returns the total size in bytes of the regular files directly in the folder. */
uint64_t spool_size(const char *folder);

/*
 * Quarantine a folder: rename it to FOLDER~N with the smallest free N above `last`, and make an empty folder in its place.
 * Returns N, or 0 with err set. N has at most three digits: if 999 is not free either, the function fails.
 */
unsigned spool_quarantine(const char *folder, unsigned last, struct err *err);

/* Call `each` for every folder NAME~N of the spool. `len` is the length of NAME, at the start of `name`. */
void spool_each_quarantined(const struct spool *s, void (*each)(void *ctx, const char *name, size_t len, unsigned n),
			    void *ctx);

/* Parse "NAME~N". Returns the length of NAME and sets *n, or returns 0 for any other text. */
size_t spool_quarantine_number(const char *text, unsigned *n);

#endif
