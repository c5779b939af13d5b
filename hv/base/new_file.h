/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is there as a whole or not at all. It is written aside, as PATH.next, and takes its name when all of it is on the
 * disk. What had the name before stays until then. Nobody but the user may read it, since it has a guest's memory.
 *
 * Not thread-safe.
 */
#ifndef OUTRIDER_BASE_NEW_FILE_H
#define OUTRIDER_BASE_NEW_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct new_file {
	int fd; /* -1: there is no file aside. */
	char *path, *next_path;
	uint64_t at; /* How many bytes the file has so far. */
};

/*
 * Create the file aside. What an outrider of this user was writing there when it was killed is removed; anything else is left
 * alone, and no link is followed. Returns 0, or -1 with EXIT_INPUT, or with EXIT_INTERNAL when memory runs out. new_file_drop()
 * may be called in any case.
 */
int new_file_create(struct new_file *f, const char *path, struct err *err);

/* Append `len` bytes. Returns 0, or -1 with EXIT_INPUT. */
int new_file_append(struct new_file *f, const void *bytes, size_t len, struct err *err);

/* Append `len` bytes of zero, which take no space on the disk. */
void new_file_skip(struct new_file *f, uint64_t len);

/* Bring all of it to the disk, and give the file its name. Returns 0, or -1 with EXIT_INPUT. */
int new_file_commit(struct new_file *f, struct err *err);

/* Remove the file aside, unless it has its name, and free what belongs to `f`. */
void new_file_drop(struct new_file *f);

#endif
