/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the debug file of a kernel or of a module in the places where people have them: the file itself, an unpacked -dbg
 * package or /usr/lib/debug, a build tree, a folder sorted by build id (.build-id/ab/cdef.debug, as gdb wants it), or
 * debuginfod's cache (BUILDID/debuginfo).
 *
 * A folder is walked once, when a file is first looked for in it by name. The walk does not follow links, and is bounded in
 * depth and in number of files. A struct debugfiles must not be used by several threads at once.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUGFILES_H
#define OUTRIDER_SYMBOLS_FILES_DEBUGFILES_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct debugfiles;

/* NULL with EXIT_INTERNAL: memory is out. */
struct debugfiles *debugfiles_new(struct err *err);

/* `df` may be NULL. */
void debugfiles_free(struct debugfiles *df);

/*
 * Look in `path`, a file or folder, too, after what was added before. -1 with EXIT_INPUT when there is no such file or folder,
 * or with EXIT_INTERNAL when memory is out.
 */
int debugfiles_add(struct debugfiles *df, const char *path, struct err *err);

/*
 * The path of the file with DWARF for `name`, which is "vmlinux" or a module's name ('-' and '_' are the same in it), and for
 * the build id `id` of `len` bytes. With `len` 0 the build id is not known, and a file of any build is taken. The path lives as
 * long as `df`.
 *
 * NULL with EXIT_INPUT: there is no such file. The message names a file of that name that is of another build or that cannot be
 * used, if there is one.
 */
const char *debugfiles_find(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, struct err *err);

/* The same, with the number of the place that has the file in *place. The first place that was added is number 0. */
const char *debugfiles_find_in(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, size_t *place,
			       struct err *err);

#endif
