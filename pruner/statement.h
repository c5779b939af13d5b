/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statements of C source. They have the words that mark an access and leave nothing in machine code. Only the pruner uses this
 * header.
 */
#ifndef OUTRIDER_PRUNER_STATEMENT_H
#define OUTRIDER_PRUNER_STATEMENT_H

#include <stdbool.h>

#include "symbols/files/sources.h"

#define STATEMENT_MAX 4096

/*
 * Set `text` to the statement at line `line` of the source file that a report calls `file`. Debug files give an access one line
 * of its statement, and the access's macro may stand in another line, so the text has the lines before and behind that belong
 * to the statement. Which lines belong to it is told by parentheses and operators, and there are only a few of them. The text
 * has no comments, no contents of quotes and no preprocessor lines.
 *
 * `file` comes from a report that anybody may have written; `sources` says which files may be read, and may be NULL. Returns
 * false when there is no such line.
 */
bool statement_at(struct sources *sources, const char *file, unsigned line, char text[STATEMENT_MAX]);

#endif
