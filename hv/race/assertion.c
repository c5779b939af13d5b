// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks assertions, in which a user says that a lock protects a datum, against the recorded accesses. */
#include "hv/race/assertion.h"

#include <string.h>

/* An assertion with this value of `by` says that no function makes the accesses that the assertion covers. */
#define NOBODY "nobody"

enum assertion_state assertion_state(const struct assertion *a)
{
	bool none_is_right = a->by && strcmp(a->by, NOBODY) == 0;

	if (a->broken)
		return ASSERTION_BROKEN;
	if (!a->checked)
		return none_is_right && a->seen ? ASSERTION_HELD : ASSERTION_NEVER_CHECKED;
	return a->unknown == a->checked ? ASSERTION_NOT_KNOWN : ASSERTION_HELD;
}

size_t assertions_broken(const struct assertions *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->count; i++)
		n += assertion_state(&a->list[i]) == ASSERTION_BROKEN;
	return n;
}

size_t assertions_unchecked(const struct assertions *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->count; i++) {
		enum assertion_state state = assertion_state(&a->list[i]);

		n += !a->list[i].optional && (state == ASSERTION_NEVER_CHECKED || state == ASSERTION_NOT_KNOWN);
	}
	return n;
}
