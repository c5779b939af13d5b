/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operand of a macro that marks an access in C source, such as READ_ONCE(). Only the pruner uses this header. */
#ifndef OUTRIDER_PRUNER_OPERAND_H
#define OUTRIDER_PRUNER_OPERAND_H

#include "hv/race/names.h"

/* A datum as it stands in a statement. */
struct operand {
	char name[DEBUGINFO_PATH_MAX]; /* The last part of the datum's path. "": it is not known. */
	bool element;		       /* The path ends in an index behind the name, as in "slots[3]". */
	bool pointee;		       /* The datum is what the name points to, as in "*name". */
};

static inline bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Set *out to how the datum stands in a statement. */
void operand_of(const struct datum_name *d, struct operand *out);

/* Returns the parenthesis that closes the one at `text`, or the end of the text. */
const char *operand_end(const char *text);

/*
 * Returns whether the first argument in the parentheses from `from` to `to` accesses the datum itself. The datum must not be a
 * pointer or an index on the way to what is accessed, nor the argument of another call. Only the text is looked at, and in
 * doubt the answer is false.
 */
bool operand_stands(const struct operand *o, const char *from, const char *to);

/* Returns whether the datum's name stands anywhere in these parentheses. */
bool operand_mentioned(const struct operand *o, const char *from, const char *to);

#endif
