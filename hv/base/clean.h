/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that came out of the guest, made fit for a terminal and for JSON. */
#ifndef OUTRIDER_BASE_CLEAN_H
#define OUTRIDER_BASE_CLEAN_H

#include <stddef.h>

/* Room for any string of `n` bytes, terminator included. */
#define CLEAN_MAX(n) (4 * (n) + 1)

/*
 * Copy the string in the `n` bytes at `text`, ended by NUL or by the end of them. Bytes that are not printable ASCII, and the
 * backslash, become \xHH: a guest must not steer the user's terminal, and JSON must be UTF-8. Cut at `size`, always ended.
 */
void clean_text(const char *text, size_t n, char *out, size_t size);

/* The other way round: \xHH back to its byte. Cut at `size`, always ended; a NUL ends it. */
void unclean_text(const char *clean, char *out, size_t size);

#endif
