/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements of C source, for the words that mark an access and leave nothing in machine code. Pruner's own. */
#ifndef OUTRIDER_PRUNER_STATEMENT_H
#define OUTRIDER_PRUNER_STATEMENT_H

#include <stdbool.h>

#define STATEMENT_MAX 4096

/*
 * The text around line `line` of a file below `folder`: that line with those before and behind it that are the same statement,
 * as far as is told by parentheses and operators, a few at most; without comments, what is in quotes, and preprocessor lines.
 * An access is given one line of its statement, and its macro may stand in another. Paths come from a report, which may be
 * anybody's: only files below the folder are opened. False: there is no such line.
 */
bool statement_at(const char *folder, const char *file, unsigned line, char text[STATEMENT_MAX]);

#endif
