/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the debug file of a kernel or module in the usual places: a file that the user names, an unpacked -dbg package or
 * /usr/lib/debug, a build tree, a folder indexed by build id (.build-id/ab/cdef.debug, the layout of gdb), or debuginfod's
 * cache (BUILDID/debuginfo).
 *
 * A folder is walked once, on the first search in it by name. The walk does not follow links, and is bounded in depth and
 * number of files. Not thread-safe: one thread at a time may use a struct debugfiles.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUGFILES_H
#define OUTRIDER_SYMBOLS_FILES_DEBUGFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct debugfiles;

/* Make an empty list of places to search. Returns NULL with EXIT_INTERNAL if memory runs out. */
struct debugfiles *debugfiles_new(struct err *err);

/* Free the places and all returned paths. `df` may be NULL. */
void debugfiles_free(struct debugfiles *df);

/*
 * Add `path`, a file or folder, to the places to search, after the places added before. Returns 0, or -1 with EXIT_INPUT if
 * there is no such file or folder, and with EXIT_INTERNAL if memory runs out.
 */
int debugfiles_add(struct debugfiles *df, const char *path, struct err *err);

/*
 * Returns true if `path` may have debug information of a kernel or module: it is a folder, or an ELF file that is not made for
 * user space and not compressed. Returns false with EXIT_INPUT and the reason if the file is surely of no use, whatever the
 * guest runs, and with EXIT_INTERNAL if memory runs out.
 */
bool debugfiles_may_help(const char *path, struct err *err);

/*
 * Returns the path of the file with DWARF of the kernel or module `name` that has the build id `id` of `len` bytes. `name` is
 * "vmlinux" or a module's name, in which '-' and '_' are equal. If `len` is 0, the build id is unknown and any build fits. The
 * path lives as long as `df`.
 *
 * Returns NULL with EXIT_INPUT if there is no such file. If a file has the name, but is of another build or unusable, the
 * message names that file.
 */
const char *debugfiles_find(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, struct err *err);

/* As debugfiles_find(). Also sets *place to the index of the place with the file, from 0 in the order of debugfiles_add(). */
const char *debugfiles_find_in(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, size_t *place,
			       struct err *err);

#endif
