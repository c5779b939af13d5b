/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the HTML page. */
#ifndef OUTRIDER_EXPORT_HTML_H
#define OUTRIDER_EXPORT_HTML_H

#include "hv/export/internal.h"

/* Our own text, with what means something in HTML escaped. */
void html_text(FILE *out, const char *text);

/* Text of the guest's in `size` bytes: made printable, then escaped. */
void html_guest(FILE *out, const char *text, size_t size);

/* The race's own section; `level` is a class of the style sheet. */
void html_race(FILE *out, const struct export_race *r, const char *level, const char *verdict);

#endif
