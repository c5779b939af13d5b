/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the opener may write. Only hv/sandbox/opener*.c use this header. */
#ifndef OUTRIDER_SANDBOX_OPENER_PLACES_H
#define OUTRIDER_SANDBOX_OPENER_PLACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One file, or all files, of a folder. */
struct place {
	int folder; /* O_PATH */
	dev_t dev;
	ino_t ino;
	char name[NAME_MAX + 1]; /* name of the file; "": any */
};

/*
 * A run has a report, a coverage file, a socket or two, and a folder of scenarios; each file may be a symbolic link, which
 * takes two places.
 */
#define PLACES_MAX 16

struct places {
	struct place list[PLACES_MAX];
	size_t count;
};

/*
 * Allow writing the file `path`, and `path`.next, which is renamed to `path` when it is complete. If `path` is a symbolic link,
 * allow its target too. A folder that does not exist adds no place. Returns 0, or -1 when there are too many places.
 */
int places_let_file(struct places *p, const char *path);

/* Allow writing files of any name in `folder`. Returns as places_let_file() does. */
int places_let_folder(struct places *p, const char *folder);

/*
 * Find the place of the file `path`, by whatever path it is named. *name becomes the file's name within `path`. Returns NULL
 * with errno set: EACCES when the file may not be written, otherwise why its folder cannot be opened.
 */
const struct place *places_find(const struct places *p, const char *path, const char **name);

#endif
