/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a marked access in C source is around: the operand of a macro like READ_ONCE(). Pruner's own. */
#ifndef OUTRIDER_PRUNER_OPERAND_H
#define OUTRIDER_PRUNER_OPERAND_H

#include "hv/race/names.h"

/* A datum as it stands in a statement. */
struct operand {
	char name[DEBUGINFO_PATH_MAX]; /* the last part of its path; "": not known */
	bool element;		       /* the path has an index behind that: "slots[3]" */
	bool pointee;		       /* it is "*name" */
};

static inline bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void operand_of(const struct datum_name *d, struct operand *out);

/* The parenthesis that closes the one at `text`, or the text's end. */
const char *operand_end(const char *text);

/*
 * Whether the datum is what the first argument in the parentheses from `from` to `to` accesses last: not a pointer or an index
 * on the way there, nor the argument of another call. Told by the text alone; in doubt it is not.
 */
bool operand_stands(const struct operand *o, const char *from, const char *to);

/* Whether its name stands there at all. */
bool operand_mentioned(const struct operand *o, const char *from, const char *to);

#endif
