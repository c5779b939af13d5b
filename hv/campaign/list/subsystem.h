/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps a source file to a subsystem of the kernel by the kernel's file MAINTAINERS: the section with the most specific
 * pattern that matches. Sections that match all files ("THE REST") do not count.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_SUBSYSTEM_H
#define OUTRIDER_CAMPAIGN_LIST_SUBSYSTEM_H

#include <stddef.h>

#include "hv/base/err.h"

struct subsystems;

/*
 * Read MAINTAINERS in the folder of a kernel's source. subsystems_free() frees the result. NULL with err set; EXIT_INPUT: it
 * cannot be read, or has no section with files.
 */
struct subsystems *subsystems_read(const char *folder, struct err *err);
void subsystems_free(struct subsystems *s);

/*
 * The title of the section for `file`, a path relative to the source tree. NULL: there is none, `s` is NULL, or `file` is "".
 * The title belongs to `s`, and is not made printable.
 */
const char *subsystem_find(const struct subsystems *s, const char *file);

/*
 * A substitute for a section: the first two folders of the file's path ("fs/ext4"), or the module, or "kernel" if neither is
 * known. Writes to `out` and returns it.
 */
const char *subsystem_folder(const char *file, const char *module, char *out, size_t size);

#endif
