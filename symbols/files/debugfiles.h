/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the debug file of a kernel or of a module in the places where people have them: a file itself, an unpacked -dbg
 * package or /usr/lib/debug, a build tree, a folder by build id (.build-id/ab/cdef.debug, as gdb wants it), debuginfod's cache
 * (BUILDID/debuginfo).
 *
 * A folder is walked once, when it is first asked for a name, without following links, to a bounded depth and number of files.
 * Not for several threads at once.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUGFILES_H
#define OUTRIDER_SYMBOLS_FILES_DEBUGFILES_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct debugfiles;

/* NULL with EXIT_INTERNAL: out of memory. */
struct debugfiles *debugfiles_new(struct err *err);
void debugfiles_free(struct debugfiles *df);

/* Look in `path`, a file or folder, too; after what was added before. -1: EXIT_INPUT, there is no such thing, or out of memory.
 */
int debugfiles_add(struct debugfiles *df, const char *path, struct err *err);

/*
 * The path of the file with DWARF for `name`, "vmlinux" or a module's name ('-' and '_' are the same), of build id `id` (`len`
 * bytes; 0: not known, and any will do). It lives as long as `df`. NULL with EXIT_INPUT: there is none; the message says where
 * there is one of that name but of another build.
 */
const char *debugfiles_find(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, struct err *err);

#endif
