/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops rights that a process was started with and does not need: root's privileges, inherited file descriptors, the right to
 * write any file.
 */
#ifndef OUTRIDER_SANDBOX_PRIVILEGES_H
#define OUTRIDER_SANDBOX_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

/* Open file descriptors above 2. All zero: none. */
struct descriptors {
	int *list;
	size_t count;
};

/* List the open file descriptors above 2. Returns 0, or -1 with EXIT_INTERNAL. descriptors_close() frees the list. */
int descriptors_read(struct descriptors *d, struct err *err);

/* Close the file descriptors of the list, and free it. */
void descriptors_close(struct descriptors *d);

/*
 * Returns true if the calling thread runs as root for a user who called sudo(8). privileges_drop() will then make it run as
 * that user.
 */
bool privileges_for_caller(void);

/*
 * If root runs the process for a user who called sudo(8), make the calling thread run as that user; and drop capabilities.
 * sandbox_drop() explains both. Returns 0, or -1 with EXIT_INPUT.
 */
int privileges_drop(struct err *err);

/* Drop all capabilities of the calling thread. Returns 0, or -1 with EXIT_INTERNAL. */
int privileges_none(struct err *err);

/* Set limits: no core files, which would contain the guest's memory, and as many open files as a run needs. */
void privileges_limit(void);

/* Limit the memory that the process may allocate to `bytes`, permanently. */
void privileges_limit_memory(size_t bytes);

/*
 * Returns true if the host's kernel has Landlock. Without Landlock, privileges_write_only() and privileges_read_only() do
 * nothing.
 */
bool privileges_bound_files(void);

/*
 * Allow the calling thread and the threads that it starts to write files only in the folders of the `count` files of `writes`.
 * Does nothing if the host's kernel has no Landlock. Returns 0, or -1 with EXIT_INTERNAL.
 */
int privileges_write_only(const char *const *writes, size_t count, struct err *err);

/*
 * Allow the calling thread and the threads that it starts to read files only in the folders of the `count` files of `reads`,
 * and to write no files. Does nothing if the host's kernel has no Landlock. Returns 0, or -1 with EXIT_INTERNAL.
 */
int privileges_read_only(const char *const *reads, size_t count, struct err *err);

#endif
