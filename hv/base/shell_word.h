/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes arguments of a command so that a shell takes them as they are: users copy commands from reports. */
#ifndef OUTRIDER_BASE_SHELL_WORD_H
#define OUTRIDER_BASE_SHELL_WORD_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write the argument `word`, in single quotes if a POSIX shell would change it without quotes. If the argument has more than
 * `most` bytes, write its first `most` bytes and "...", in quotes. Control characters are not replaced; see hv/base/clean.h.
 */
void shell_word(FILE *out, const char *word, size_t most);

/* Returns what shell_word() writes, in memory from malloc(), or NULL if memory runs out. */
char *shell_word_copy(const char *word, size_t most);

#endif
