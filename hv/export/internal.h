/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several exports share. Only hv/export/ uses this header. */
#ifndef OUTRIDER_EXPORT_INTERNAL_H
#define OUTRIDER_EXPORT_INTERNAL_H

#include "hv/export/export.h"
#include "hv/base/clean.h"
#include "hv/report/datum.h"

#define EXPORT_NAME_MAX CLEAN_MAX(256)
#define EXPORT_TITLE_MAX (2 * EXPORT_NAME_MAX + DATUM_TEXT_MAX + 128)

/* Make the string in the `size` bytes at `text` printable. `size` is at most 256. */
void export_text(const char *text, size_t size, char out[EXPORT_NAME_MAX]);

/* The name of a side's function, or the address of a side whose function has no name. */
void export_function(const struct race_side *side, char out[EXPORT_NAME_MAX]);

/*
 * The side that stands for a race where only one can. Which side was held is chance, and a server takes a race at another place
 * for another one. So it is the side with a source line, or else the one whose site comes first.
 */
unsigned export_primary(const struct race *race);

/*
 * What made the access of a side, which is the same in every run: the function, a device with the kind of request, or "a writer
 * nobody saw".
 */
void export_who(const struct race *race, unsigned which, char out[EXPORT_NAME_MAX]);

/* The title of a race, with the primary side first, for example "write in f against read in g: inode->i_state". */
void export_title(const struct race *race, char out[EXPORT_TITLE_MAX]);

/* Returns the source line of the access of side `which`, or NULL when it is not known. */
const struct source_line *export_line(const struct race *race, unsigned which);

/* Returns what is known of the run in which a race was seen first. NULL: nothing is known of that run. */
const struct run_facts *export_first_run(const struct export_run *run, const struct race *race);

/* Returns the banner of the kernel in which a race was seen first, or NULL when that kernel is not known. */
const char *export_banner(const struct export_run *run, const struct race *race);

#endif
