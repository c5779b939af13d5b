/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of others, made fit for a terminal, for JSON, XML and HTML, and for a log that programs parse. Such text is cleaned
 * once, where it enters: what comes out of the guest or a debug file when the record takes it, what comes out of a JSON file
 * when the file is read, and a message when it is made. What is inside needs no further care about control characters.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_BASE_CLEAN_H
#define OUTRIDER_BASE_CLEAN_H

#include <stddef.h>

/* Bytes that clean_text() may need for a text of `n` bytes, with the NUL. */
#define CLEAN_MAX(n) (4 * (n) + 1)

/*
 * Copy the text at `text`, which ends at a NUL or after `n` bytes. Bytes that are not printable ASCII become \xHH, and the
 * backslash does too: a guest must not steer the user's terminal, and JSON must be UTF-8. A \xHH that is there already stays as
 * it is, so clean text comes out as it went in. The copy is cut at `size` bytes, never inside a \xHH, and always ends with a
 * NUL.
 */
void clean_text(const char *text, size_t n, char *out, size_t size);

/*
 * Turn what clean_text() made back, for a name that must be found outside, as that of a file: each \xHH becomes its byte, and
 * \x00 ends the text. The result must not be shown. It is cut at `size` bytes, and always ends with a NUL.
 */
void unclean_text(const char *clean, char *out, size_t size);

/* All that clean_text() makes of a text, from malloc(). NULL: memory ran out. */
char *clean_copy(const char *text, size_t n);

/* Do the same in place to the text in the `size` bytes at `text`, at most CLEAN_FIELD_MAX. What no longer fits is cut. */
#define CLEAN_FIELD_MAX 1024
void clean_field(char *text, size_t size);

/*
 * Make a message for the user fit for a terminal, in place, in the `size` bytes at `text`, at most CLEAN_FIELD_MAX: one line,
 * without control characters. A message may quote a file's name, so letters of any language stay. What becomes \xHH is every
 * byte that is a control character, every one that is not UTF-8, and every one of a character that moves or hides text: those
 * for the direction of writing, and the invisible ones of U+2000 to U+206F and U+FEFF. What no longer fits is cut.
 */
void clean_line(char *text, size_t size);

#endif
