/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes untrusted text safe for terminals, JSON, XML, HTML and logs that programs parse. Text is cleaned once, on entry. Text
 * from the guest or a debug file is cleaned when it is stored in the record of a race, text from a JSON file when the file is
 * read, and a message when the message is made. Code that uses the text later need not expect control characters.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_BASE_CLEAN_H
#define OUTRIDER_BASE_CLEAN_H

#include <stddef.h>

/* Maximum number of bytes that clean_text() writes for a text of `n` bytes, including the NUL. */
#define CLEAN_MAX(n) (4 * (n) + 1)

/*
 * Copy the text at `text`, which ends at a NUL or after `n` bytes. Each byte that is not printable ASCII, and each backslash,
 * becomes \xHH: a guest must not control the user's terminal, and JSON must be UTF-8. A \xHH in the text stays, so cleaning
 * twice changes nothing. The copy is truncated to `size` bytes, including its NUL, and never inside a \xHH.
 */
void clean_text(const char *text, size_t n, char *out, size_t size);

/*
 * Reverse clean_text(): each \xHH becomes its byte, and \x00 ends the text. For a name that leaves Outrider, such as
 * the path of a source file in a URI. Do not print the result. It is truncated to `size` bytes, including its NUL.
 */
void unclean_text(const char *clean, char *out, size_t size);

/* Returns the whole result of clean_text() in memory from malloc(), or NULL if memory runs out. */
char *clean_copy(const char *text, size_t n);

#define CLEAN_FIELD_MAX 1024

/*
 * Clean the text in the `size` bytes at `text` in place; `size` is at most CLEAN_FIELD_MAX. The result is truncated to `size`.
 */
void clean_field(char *text, size_t size);

/*
 * Make a message for the user safe for a terminal, in place, in the `size` bytes at `text`, at most CLEAN_FIELD_MAX. Unlike
 * clean_text(), it keeps letters of all languages, since a message may quote a file's name. It replaces by \xHH: control
 * characters, bytes that are not UTF-8, and all bytes of characters that reorder or hide text (directional marks, invisible
 * characters of U+2000 to U+206F and U+FEFF). The result is one line, truncated to `size`.
 */
void clean_line(char *text, size_t size);

#endif
