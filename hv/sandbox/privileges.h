/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process may have been started with and does not need: root's rights, descriptors, the right to write anywhere. */
#ifndef OUTRIDER_SANDBOX_PRIVILEGES_H
#define OUTRIDER_SANDBOX_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

/* The descriptors above 2 that are open. All zero: none. */
struct descriptors {
	int *list;
	size_t count;
};

/* Note the open descriptors above 2. Returns 0, or -1 with EXIT_INTERNAL. descriptors_close() frees the list. */
int descriptors_read(struct descriptors *d, struct err *err);

/* Close the descriptors of the list, and forget it. */
void descriptors_close(struct descriptors *d);

/* Whether the calling thread is root's, and somebody called sudo(8) for it, whom privileges_drop() makes it. */
bool privileges_for_caller(void);

/*
 * Let the calling thread become the user who called sudo(8), where root runs the process for somebody, and give up
 * capabilities, as sandbox_drop() says. Returns 0, or -1 with EXIT_INPUT.
 */
int privileges_drop(struct err *err);

/* Give up all capabilities of the calling thread. Returns 0, or -1 with EXIT_INTERNAL. */
int privileges_none(struct err *err);

/* Let no core file be written, which would hold the guest's memory, and open at most as many files as a run needs. */
void privileges_limit(void);

/*
 * Let the calling thread and those that it starts write files nowhere but in the folders of the `count` files of `writes`. Does
 * nothing where the host's kernel has no Landlock. Returns 0, or -1 with EXIT_INTERNAL.
 */
int privileges_write_only(const char *const *writes, size_t count, struct err *err);

#endif
