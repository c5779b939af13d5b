/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts and choices that several exports of races share. Private to hv/export/. */
#ifndef OUTRIDER_EXPORT_INTERNAL_H
#define OUTRIDER_EXPORT_INTERNAL_H

#include "hv/export/export.h"
#include "hv/base/clean.h"
#include "hv/report/datum.h"

/* Bytes that a name of at most 256 bytes can have once it is made printable, including the NUL. */
#define EXPORT_NAME_MAX CLEAN_MAX(256)
#define EXPORT_TITLE_MAX (2 * EXPORT_NAME_MAX + DATUM_TEXT_MAX + 128) /* bytes of a title, including the NUL */

/* Make the string in the `size` bytes at `text` printable; `size` is at most 256. */
void export_text(const char *text, size_t size, char out[EXPORT_NAME_MAX]);

/* Write the name of a side's function, or the address of the access if the function is unknown. */
void export_function(const struct race_side *side, char out[EXPORT_NAME_MAX]);

/*
 * Returns the index of the primary side, which represents a race if a format allows only one location. The primary side must be
 * the same in every run and build, since servers identify a race by it. Which side was held is chance. So the primary side is
 * the one with a source line or, if both or neither have one, the side that comes first in the race's key.
 */
unsigned export_primary(const struct race *race);

/*
 * Write who made a side's access, in words that are the same in every run: the function, or the kind of device and request. For
 * an unseen writer, write a phrase that says so.
 */
void export_who(const struct race *race, unsigned which, char out[EXPORT_NAME_MAX]);

/* Write the title of a race with the primary side first: "write in f against read in g: inode->i_state". */
void export_title(const struct race *race, char out[EXPORT_TITLE_MAX]);

/* Returns the source line that stands for the access of side `which` (race_names_place()), or NULL if it is unknown. */
const struct source_line *export_line(const struct race *race, unsigned which);

/* Returns the run in which a race was first seen, or NULL if it is unknown. */
const struct run_facts *export_first_run(const struct export_run *run, const struct race *race);

/* Returns the version line of the kernel in which a race was first seen, or NULL if it is unknown. */
const char *export_banner(const struct export_run *run, const struct race *race);

#endif
