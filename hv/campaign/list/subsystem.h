/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To which part of the kernel a source file belongs, by the kernel's own file MAINTAINERS: the section whose pattern fits the
 * file's name most closely. Sections for all files ("THE REST") do not count.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_SUBSYSTEM_H
#define OUTRIDER_CAMPAIGN_LIST_SUBSYSTEM_H

#include <stddef.h>

#include "hv/base/err.h"

struct subsystems;

/* Read MAINTAINERS in the folder of a kernel's source. NULL with EXIT_INPUT: it cannot be read, or has no section. */
struct subsystems *subsystems_read(const char *folder, struct err *err);
void subsystems_free(struct subsystems *s);

/*
 * The title of the section that `file`, a path below the folder, belongs to. NULL: there is none, or `s` is NULL, or `file` is
 * "". The title belongs to `s`, and is as the file has it.
 */
const char *subsystem_find(const struct subsystems *s, const char *file);

/*
 * What stands for a section where there is none: the first two folders of the file's name ("fs/ext4"), or the module, or
 * "kernel" when neither is known. Returns `out`.
 */
const char *subsystem_folder(const char *file, const char *module, char *out, size_t size);

#endif
