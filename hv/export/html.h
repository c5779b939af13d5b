/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the HTML page share. */
#ifndef OUTRIDER_EXPORT_HTML_H
#define OUTRIDER_EXPORT_HTML_H

#include "hv/export/internal.h"

/* Write text of our own, and escape the characters that mean something in HTML. */
void html_text(FILE *out, const char *text);

/* Write the guest's text in the `size` bytes at `text`. It is made printable and then escaped. */
void html_guest(FILE *out, const char *text, size_t size);

/* Write the section of one race. `level` is a class of the style sheet. */
void html_race(FILE *out, const struct export_race *r, const char *level, const char *verdict);

#endif
