/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of a round, which has a folder for each run (see runner.h). A small file of a run is written under another name,
 * synced and renamed, so that it is there wholly or not at all. One thread.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_SPOOL_H
#define OUTRIDER_CAMPAIGN_RUNNER_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct spool {
	char *folder; /* absolute */
	int lock;     /* -1: it is not open */
};

/*
 * Make the folder ROOT/ROUND if it is not there, and lock it for this process and this shard ("I/N", or ""). Returns 0, or -1
 * with EXIT_INPUT, also when another process is at work on this shard. A process opens a spool once at a time, because closing
 * the lock's file a second time would give up the first lock (fcntl(2)). spool_close() must follow in any case.
 */
int spool_open(struct spool *s, const char *root, const char *round, const char *shard, struct err *err);
void spool_close(struct spool *s);

/* The path of a file in a folder, from malloc(); NULL with EXIT_INTERNAL when memory ran out. */
char *spool_path(const char *folder, const char *name, struct err *err);

/* Make the run's folder if it is not there. Returns its path from malloc(), or NULL with err set. */
char *spool_run_folder(const struct spool *s, const char *run, struct err *err);

/* Write the small file `name` of the folder. Returns 0, or -1 with EXIT_INPUT. */
int spool_write(const char *folder, const char *name, const char *text, struct err *err);

/* Read a small file. Returns its text from malloc(), or NULL when it cannot be read or is longer than 64 KiB. */
char *spool_read(const char *folder, const char *name);

/* Whether the folder has a file of this name that is not empty. */
bool spool_has(const char *folder, const char *name);

/* Bytes of all files directly in the folder. */
uint64_t spool_size(const char *folder);

/*
 * Give the folder another name, FOLDER~N, with the lowest N above `last` that is free, and make an empty one in its place.
 * Returns N, or 0 with err set.
 */
unsigned spool_set_aside(const char *folder, unsigned last, struct err *err);

/* Call `each` for NAME and N of all folders NAME~N of the spool. */
void spool_each_aside(const struct spool *s, void (*each)(void *ctx, const char *name, size_t len, unsigned n), void *ctx);

/* Split "NAME~N". Returns the length of NAME and sets *n, or 0 when `text` is nothing of the kind. */
size_t spool_aside_number(const char *text, unsigned *n);

#endif
