/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atomic creation of a file. The content is written to PATH.next, which is renamed to PATH after all of it is on the disk.
 * Until then an existing PATH is unchanged. The mode is 0600, since the content includes guest memory.
 *
 * Not thread-safe.
 */
#ifndef OUTRIDER_BASE_NEW_FILE_H
#define OUTRIDER_BASE_NEW_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct new_file {
	int fd; /* Descriptor of PATH.next. -1: none. */
	char *path, *next_path;
	uint64_t at; /* Bytes written, including skipped bytes. */
};

/*
 * Create PATH.next. Replaces a PATH.next that a killed outrider of this user left behind; refuses any other file of that name,
 * and follows no link. Returns 0, or -1 with EXIT_INPUT, or with EXIT_INTERNAL if memory runs out. In all cases the caller may
 * call new_file_drop().
 */
int new_file_create(struct new_file *f, const char *path, struct err *err);

/* Append `len` bytes. Returns 0, or -1 with EXIT_INPUT. */
int new_file_append(struct new_file *f, const void *bytes, size_t len, struct err *err);

/* Append `len` zero bytes as a hole, which takes no space on the disk. */
void new_file_skip(struct new_file *f, uint64_t len);

/* Write all data to the disk and rename the file to PATH. Returns 0, or -1 with EXIT_INPUT. */
int new_file_commit(struct new_file *f, struct err *err);

/* Remove PATH.next, if it was not renamed, and free the members of `f`. */
void new_file_drop(struct new_file *f);

#endif
