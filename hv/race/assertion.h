/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An assertion: a user's statement that a lock protects a datum, and how the recorded accesses (protection.h) agree with it.
 * Plain data; pruner/locks/assertions.h parses and checks assertions.
 */
#ifndef OUTRIDER_RACE_ASSERTION_H
#define OUTRIDER_RACE_ASSERTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/site.h"

/* A group of accesses that break an assertion in the same way: the same site, operation, kind, context and locks. */
struct assertion_break {
	char site[SITE_NAME_MAX];
	/* The function that contains the site, and the operation, with the module's name. "": unknown. */
	char function[SITE_NAME_MAX], operation[SITE_NAME_MAX];
	/* Kind of the accesses (enum insn_rw bits), and their context (enum guest_context_kind). */
	uint8_t rw, context;
	/* The held locks as text: "cb_lock, rtnl_mutex (shared)". "": none. Printable. */
	char held[256];
	uint64_t count;
};

struct assertion {
	/* File, line and summary in one line: "nic.flags: writes under cb_lock". Printable. */
	const char *file;
	unsigned line;
	char *text;
	/*
	 * Shell patterns, separated by blanks, for the names of data (`datum`), of locks (`under`) and of functions (`by`).
	 * `under` is NULL if the assertion says nothing about locks, `by` is NULL if it says nothing about functions.
	 */
	char *datum, *under, *by;
	/* The kinds of access that the assertion covers: enum insn_rw bits. */
	uint8_t rw;
	/* The user accepts that the assertion is never checked. */
	bool optional;
	/* Number of accesses to the datum, of any kind. 0: no access to the datum was recorded. */
	uint64_t seen;
	/*
	 * Number of accesses that were checked against the assertion (`checked`), that broke the assertion (`broken`), and that
	 * could not be checked because their held locks are unknown (`unknown`).
	 */
	uint64_t checked, broken, unknown;
	/* Sorted by number of accesses, highest first. */
	struct assertion_break *breaks;
	size_t break_count;
};

struct assertions {
	char *file;
	/* In file order. */
	struct assertion *list;
	size_t count;
};

enum assertion_state {
	ASSERTION_BROKEN,
	/* No access was checked, so nothing supports the assertion. */
	ASSERTION_NEVER_CHECKED,
	/* Accesses were checked, but for each of them it is unknown which locks were held. */
	ASSERTION_NOT_KNOWN,
	/*
	 * No access broke the assertion, and for at least one checked access all held locks are known; see assertion_state().
	 */
	ASSERTION_HELD,
};

/*
 * Returns the result of checking an assertion. An assertion with `by = nobody` says that no function makes the accesses that it
 * covers. Such an assertion is ASSERTION_HELD if no such access was recorded, but other accesses to the datum were.
 */
enum assertion_state assertion_state(const struct assertion *a);

/* Returns the number of assertions that an access broke. */
size_t assertions_broken(const struct assertions *a);

/* Returns how many assertions are ASSERTION_NEVER_CHECKED or ASSERTION_NOT_KNOWN. Optional assertions do not count. */
size_t assertions_unchecked(const struct assertions *a);

#endif
