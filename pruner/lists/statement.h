/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the statement of a source line. Its text shows macros that mark an access and leave no trace in machine code. Only the
 * pruner uses this header.
 */
#ifndef OUTRIDER_PRUNER_LISTS_STATEMENT_H
#define OUTRIDER_PRUNER_LISTS_STATEMENT_H

#include <stdbool.h>

#include "symbols/files/sources.h"

#define STATEMENT_MAX 4096

/*
 * Set `text` to the statement at line `line` of the source file that a report calls `file`. Debug files give one line for an
 * access, and the macro may be on another line of the statement. So the text includes the lines before and after that belong to
 * the statement. The text has at most LINES_MAX lines. Open parentheses and operators at the end of a line show that the
 * statement continues. The text has no comments, no contents of quotes and no preprocessor lines.
 *
 * The report, and so `file`, is untrusted. `sources` decides which files may be read, and may be NULL. Returns false when there
 * is no such line.
 */
bool statement_at(struct sources *sources, const char *file, unsigned line, char text[STATEMENT_MAX]);

#endif
