/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the opener (opener.h) may write. Only hv/sandbox/opener*.c use this header. */
#ifndef OUTRIDER_SANDBOX_OPENER_PLACES_H
#define OUTRIDER_SANDBOX_OPENER_PLACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A place: one file of a folder, or all files of the folder. */
struct place {
	int folder; /* descriptor of the folder, opened with O_PATH */
	dev_t dev;
	ino_t ino;
	char name[NAME_MAX + 1]; /* name of the file; "": all files of the folder */
};

/*
 * At most this many places can be allowed. A run has a report, a coverage file, one or two sockets, and a folder of scenarios.
 * A file that is a symbolic link takes two places.
 */
#define PLACES_MAX 16

struct places {
	struct place list[PLACES_MAX];
	size_t count;
};

/*
 * Allow writing the file `path`, and `path`.next, which is renamed to `path` when it is complete. If `path` is a symbolic link,
 * allow its target too. If the file's folder does not exist, adds no place. Returns 0, or -1 if there are too many places.
 */
int places_let_file(struct places *p, const char *path);

/* Allow writing files of any name in `folder`. Returns as places_let_file() does. */
int places_let_folder(struct places *p, const char *folder);

/*
 * Find the place of the file `path`. Folders are compared by device and inode, so `path` may lead to the folder in any way.
 * Sets *name to the last part of `path`. Returns NULL with errno set: EACCES if the file may not be written, otherwise the
 * error of opening its folder.
 */
const struct place *places_find(const struct places *p, const char *path, const char **name);

#endif
