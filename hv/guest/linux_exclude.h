/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the text of a Linux kernel that must not carry sample points, and compares names with globs. */
#ifndef OUTRIDER_GUEST_LINUX_EXCLUDE_H
#define OUTRIDER_GUEST_LINUX_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>

struct guest;

/* Collect the ranges of text that must not carry sample points. Requires the kernel's symbols. */
void linux_find_excluded(struct guest *g);

/* Returns whether a name matches one of the `n` globs. */
bool linux_name_in(const char *const *globs, size_t n, const char *name);

#endif
