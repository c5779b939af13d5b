/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that came out of the guest, made fit for a terminal and for JSON. */
#ifndef OUTRIDER_BASE_CLEAN_H
#define OUTRIDER_BASE_CLEAN_H

#include <stddef.h>

/* Bytes that clean_text() may need for a text of `n` bytes, with the NUL. */
#define CLEAN_MAX(n) (4 * (n) + 1)

/*
 * Copy the text at `text`, which ends at a NUL or after `n` bytes. Bytes that are not printable ASCII become \xHH, and the
 * backslash does too: a guest must not steer the user's terminal, and JSON must be UTF-8. The copy is cut at `size` bytes, and
 * always ends with a NUL.
 */
void clean_text(const char *text, size_t n, char *out, size_t size);

/* Turn what clean_text() made back: each \xHH becomes its byte, and \x00 ends the text. The result is cut at `size` bytes, and
 * always ends with a NUL. */
void unclean_text(const char *clean, char *out, size_t size);

#endif
