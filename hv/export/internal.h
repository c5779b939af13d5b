/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the exports. */
#ifndef OUTRIDER_EXPORT_INTERNAL_H
#define OUTRIDER_EXPORT_INTERNAL_H

#include "hv/export/export.h"
#include "hv/base/clean.h"
#include "hv/report/datum.h"

#define EXPORT_NAME_MAX CLEAN_MAX(256)
#define EXPORT_TITLE_MAX (2 * EXPORT_NAME_MAX + DATUM_TEXT_MAX + 128)

/* The string in `size` bytes at `text`, of at most 256, made printable. */
void export_text(const char *text, size_t size, char out[EXPORT_NAME_MAX]);

/* The function of a side, or its address where it has no name. */
void export_function(const struct race_side *side, char out[EXPORT_NAME_MAX]);

/* "write in f against read in g: inode->i_state" */
void export_title(const struct race *race, char out[EXPORT_TITLE_MAX]);

/* The line of the access; NULL: not known. */
const struct source_line *export_line(const struct race *race, unsigned which);

#endif
