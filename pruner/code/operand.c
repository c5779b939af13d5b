// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the datum of an access in the text of a marking macro's first argument, such as "foo->bar" in READ_ONCE(foo->bar). */
#include "pruner/code/operand.h"

#include <string.h>

#include "pruner/lists/datum_match.h"

#define DEPTH_MAX 32

/* The state of the scan through the macro's argument. */
struct progress {
	/* The number of open parentheses, without the macro's own. */
	unsigned depth;
	/* One bit for each open parenthesis: 1 if the parenthesis holds the arguments of a call. */
	uint32_t is_call;
	int brackets;
	bool star; /* A `*` has dereferenced an expression. */
};

void operand_of(const struct datum_name *d, struct operand *out)
{
	const char *last = strrchr(d->path, '.'), *bracket = strchr(last ? last : d->path, '[');

	*out = (struct operand){.element = bracket != NULL, .pointee = d->path[0] == '*'};
	datum_last_part(d, out->name);
}

const char *operand_end(const char *text)
{
	int depth = 0;

	for (; *text; text++) {
		depth += *text == '(';
		depth -= *text == ')';
		if (depth == 0)
			break;
	}
	return text;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool is_name(const struct operand *o, const char *at, const char *to)
{
	size_t len = strlen(o->name);

	return len && at + len <= to && strncmp(at, o->name, len) == 0 && !is_word_char(at[-1]) && !is_word_char(at[len]);
}

bool operand_mentioned(const struct operand *o, const char *from, const char *to)
{
	for (const char *at = from + 1; at < to; at++) {
		if (is_name(o, at, to))
			return true;
	}
	return false;
}

/*
 * Returns whether the text after the datum's name uses the datum only to reach another datum: "name->", "(name)->", or
 * "name[3]" if the datum is not an element.
 */
static bool leads_on(const struct operand *o, const char *at, const char *to)
{
	int brackets = 0;

	for (; at < to && (brackets || is_blank(*at) || *at == ')' || *at == '['); at++) {
		if (*at == '[' && !o->element)
			return true;
		brackets += *at == '[';
		brackets -= *at == ']';
	}
	return strncmp(at, "->", 2) == 0;
}

/* Returns whether the star is part of a cast, "(struct thing *)", where it dereferences nothing. */
static bool is_in_cast(const char *star, const char *to)
{
	while (star < to && (*star == '*' || is_blank(*star)))
		star++;
	return *star == ')';
}

/*
 * Returns whether the parenthesis holds the arguments of a call, which may use them in any way. this_cpu_ptr(&x) stands for the
 * variable x of this CPU, and does not count as a call.
 */
static bool holds_arguments(const char *parenthesis, const char *from)
{
	static const char cpu_ptr[] = "cpu_ptr";
	const size_t len = sizeof(cpu_ptr) - 1;
	const char *end = parenthesis;

	while (is_blank(end[-1]))
		end--;
	if (parenthesis[1] == '&' && (size_t)(end - from) > len && strncmp(end - len, cpu_ptr, len) == 0)
		return false;
	return is_word_char(end[-1]) || end[-1] == ')' || end[-1] == ']';
}

/* Advance by one character. Returns false at the end of the argument, and when parentheses nest deeper than DEPTH_MAX. */
static bool pass(struct progress *p, const char *at, const char *from, const char *to)
{
	if (*at == '(') {
		if (p->depth == DEPTH_MAX)
			return false;
		p->is_call &= ~(1u << p->depth);
		p->is_call |= (uint32_t)holds_arguments(at, from) << p->depth++;
	} else if (*at == ')') {
		if (!p->depth)
			return false;
		p->is_call &= ~(1u << --p->depth);
	}
	p->brackets += *at == '[';
	p->brackets -= *at == ']';
	p->star |= *at == '*' && !is_in_cast(at, to);
	return *at != ',' || p->depth || p->brackets;
}

bool operand_is_accessed(const struct operand *o, const char *from, const char *to)
{
	struct progress p = {0};

	for (const char *at = from + 1; at < to && pass(&p, at, from, to); at++) {
		if (!p.brackets && !p.is_call && (!p.star || o->pointee) && is_name(o, at, to) &&
		    !leads_on(o, at + strlen(o->name), to))
			return true;
	}
	return false;
}
