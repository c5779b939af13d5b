/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a datum among the arguments of a macro that marks an access in C source, such as READ_ONCE(). Only the pruner uses
 * this header.
 */
#ifndef OUTRIDER_PRUNER_CODE_OPERAND_H
#define OUTRIDER_PRUNER_CODE_OPERAND_H

#include "hv/race/names.h"

/* A datum as a C statement writes it. */
struct operand {
	/* The last part of the datum's path. "": not known. */
	char name[DEBUGINFO_PATH_MAX];
	/* The path ends with an index, as in "slots[3]". */
	bool element;
	/* The name is a pointer to the datum, as in "*name". */
	bool pointee;
};

static inline bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Set *out to the datum as a C statement writes it. */
void operand_of(const struct datum_name *d, struct operand *out);

/* Returns the closing parenthesis for the opening parenthesis at `text`, or the end of the text if there is none. */
const char *operand_end(const char *text);

/*
 * Returns whether the first argument in the parentheses from `from` to `to` accesses the datum itself. Returns false if the
 * datum is only a pointer or an index by which the argument reaches other memory, or an argument of another call. The function
 * sees only the text, and returns false in doubt.
 */
bool operand_is_accessed(const struct operand *o, const char *from, const char *to);

/* Returns whether the datum's name appears anywhere in the parentheses from `from` to `to`. */
bool operand_mentioned(const struct operand *o, const char *from, const char *to);

#endif
