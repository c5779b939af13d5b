/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files and folders that the user names with --symbols. A folder, a vmlinux and a module's file have debug information. The
 * symbols of the kernel are in a vmlinux or a System.map, of which there may be one.
 */
#ifndef OUTRIDER_SESSION_SYMBOL_FILES_H
#define OUTRIDER_SESSION_SYMBOL_FILES_H

#include <stddef.h>

#include "hv/base/err.h"
#include "symbols/files/debug_images.h"

/*
 * Find the path of the kernel's symbols among the `count` paths. Returns 0 with *kernel set, to NULL when none of the paths is
 * one. Returns -1 with err set when a path cannot be looked at (EXIT_INPUT), or when there are two (EXIT_USAGE).
 */
int symbol_files_kernel(const char *const *paths, size_t count, const char **kernel, struct err *err);

/* Add all paths with debug information to `images`. Returns 0, or -1 with err set as debug_images_add() does. */
int symbol_files_add(const char *const *paths, size_t count, struct debug_images *images, struct err *err);

#endif
