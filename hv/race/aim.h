/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known races that are to happen again, and their sites. A site is found again by its name, and by its instruction: another
 * build of the kernel may have another one there.
 *
 * One thread fills a table, and any thread may read it from then on.
 */
#ifndef OUTRIDER_RACE_AIM_H
#define OUTRIDER_RACE_AIM_H

#include <stddef.h>
#include <stdint.h>

#include "hv/race/race.h"
#include "symbols/insn/insn.h"

struct aim_site {
	/* "function" or "module:function", as site_function() says. */
	char function[SITE_NAME_MAX];
	/* From the start of the function, in bytes. */
	uint32_t offset;
	/* The instruction, and up to so many bytes of code behind it. 0: it is not known. */
	uint8_t code[INSN_MAX_LEN];
	uint8_t code_len;
};

struct aim_race {
	char id[RACE_ID_MAX];
	/* The names of both sides, for messages, and of a side without a site why it has none. NULL: it has one. */
	char site[2][SITE_NAME_MAX];
	const char *why_not[2];
	/* Those of the sides that have a site: 0 to 2 of them. */
	struct aim_site sites[2];
	unsigned count;
};

struct aim;

/* NULL: memory ran out. */
struct aim *aim_new(void);

/* NULL is allowed. */
void aim_free(struct aim *aim);

/*
 * Add a race, whose strings are printable. A side that a device made, that nobody saw, or whose instruction is not known has no
 * site. Returns what was added, which is the table's and moves with the next call; NULL: memory ran out.
 */
const struct aim_race *aim_add(struct aim *aim, const struct race *race);

size_t aim_count(const struct aim *aim);

/* Race number `i`, below aim_count(). */
const struct aim_race *aim_race(const struct aim *aim, size_t i);

#endif
