/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An assertion: what somebody who knows the code says of a datum, and what the record of accesses (protection.h) says to it.
 * Plain data: pruner/assertions.h reads and checks it.
 */
#ifndef OUTRIDER_RACE_ASSERTION_H
#define OUTRIDER_RACE_ASSERTION_H

#include <stddef.h>
#include <stdint.h>

#include "hv/race/site.h"

/* Accesses that break an assertion and are the same in all of this. */
struct assertion_break {
	char site[SITE_NAME_MAX];
	/* With their modules. "": not known. */
	char function[SITE_NAME_MAX], operation[SITE_NAME_MAX];
	/* enum insn_rw bits, and enum guest_context_kind. */
	uint8_t rw, context;
	/* The locks that were held, for people: "cb_lock, rtnl_mutex (shared)". "": none. Printable. */
	char held[256];
	uint64_t count;
};

struct assertion {
	/* Where it is written, and what it says, in one line: "nic.flags: writes under cb_lock". Printable. */
	const char *file;
	unsigned line;
	char *text;
	/* Shell patterns, with blanks between them. `under` and `by` may be NULL: then that is not asserted. */
	char *datum, *under, *by;
	/* Which accesses it is about: enum insn_rw bits. */
	uint8_t rw;
	/* How many accesses it was checked against, how many of these broke it, and of how many what was held is not known. */
	uint64_t checked, broken, unknown;
	/* The most accesses first. */
	struct assertion_break *breaks;
	size_t break_count;
};

struct assertions {
	char *file;
	/* In the order of the file. */
	struct assertion *list;
	size_t count;
};

#endif
