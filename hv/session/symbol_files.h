/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files and folders of --symbols. Folders, a vmlinux and module files serve as sources of debug information. A vmlinux or a
 * System.map has the kernel's symbols; the user may name at most one such file.
 */
#ifndef OUTRIDER_SESSION_SYMBOL_FILES_H
#define OUTRIDER_SESSION_SYMBOL_FILES_H

#include <stddef.h>

#include "hv/base/err.h"
#include "symbols/files/debug_images.h"

/*
 * Find the file with the kernel's symbols among the `count` paths. Returns 0 and sets *kernel to the path, or to NULL if there
 * is none. Returns -1 with err set if a path cannot be read (EXIT_INPUT), or if there are two such files (EXIT_USAGE).
 */
int symbol_files_kernel(const char *const *paths, size_t count, const char **kernel, struct err *err);

/* Add all paths with debug information to `images`. Returns 0, or -1 with err set by debug_images_add(). */
int symbol_files_add(const char *const *paths, size_t count, struct debug_images *images, struct err *err);

#endif
