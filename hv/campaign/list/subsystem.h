/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps a source file to a subsystem of the kernel by the kernel's file MAINTAINERS: the section with the most specific pattern
 * that matches the file. Sections that match all files ("THE REST") are ignored.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_SUBSYSTEM_H
#define OUTRIDER_CAMPAIGN_LIST_SUBSYSTEM_H

#include <stddef.h>

#include "hv/base/err.h"

struct subsystems;

/*
 * Read the file MAINTAINERS in the folder of a kernel's source. Free the result with subsystems_free(). Returns NULL with err
 * set: EXIT_INPUT if the file cannot be read, is too large, or has no section with files; EXIT_INTERNAL if memory runs out.
 */
struct subsystems *subsystems_read(const char *folder, struct err *err);
void subsystems_free(struct subsystems *s);

/*
 * Returns the title of the section for `file`, a path relative to the source tree. Returns NULL if there is no such section,
 * `s` is NULL, or `file` is "". The title belongs to `s`, and is not made printable.
 */
const char *subsystem_find(const struct subsystems *s, const char *file);

/*
 * Write a substitute for a section to `out`, and return `out`: the first two folders of the file's path ("fs/ext4"), or its
 * only folder; else the module; else "kernel". The path of a file is used only if it is relative.
 */
const char *subsystem_folder(const char *file, const char *module, char *out, size_t size);

#endif
