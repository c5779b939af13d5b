/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target sites of a run (--aim): the sites of known races that the run is to see again. A site is found again by its name
 * and by the bytes of its instruction, because another build of the kernel may have a different instruction at that offset.
 *
 * One thread fills the table. After that any thread may read it without a lock.
 */
#ifndef OUTRIDER_RACE_AIM_H
#define OUTRIDER_RACE_AIM_H

#include <stddef.h>
#include <stdint.h>

#include "hv/race/race.h"
#include "symbols/insn/insn.h"

struct aim_site {
	/* "function" or "module:function", by site_function(). */
	char function[SITE_NAME_MAX];
	/* Offset from the start of the function, in bytes. */
	uint32_t offset;
	/* The instruction's bytes, and as many of the code bytes after it as fit. Length 0: the bytes are unknown. */
	uint8_t code[INSN_MAX_LEN];
	uint8_t code_len;
};

struct aim_race {
	char id[RACE_ID_MAX];
	/* For messages: the names of both sides, and the reason why a side has no site, or NULL if it has one. */
	char site[2][SITE_NAME_MAX];
	const char *why_not[2];
	/* The sites of the sides that have one: 0 to 2. */
	struct aim_site sites[2];
	unsigned count;
};

struct aim;

/* Returns NULL if memory runs out. */
struct aim *aim_new(void);

/* `aim` may be NULL. */
void aim_free(struct aim *aim);

/*
 * Add a race, whose strings must be printable. A side gets no site if a device made it, it was not seen, its instruction is
 * unknown or LOCKed, or it is in no known function. Returns the new entry, which belongs to the table and is valid until the
 * next call; or NULL if memory runs out.
 */
const struct aim_race *aim_add(struct aim *aim, const struct race *race);

size_t aim_count(const struct aim *aim);

/* Returns race `i`, which must be below aim_count(). */
const struct aim_race *aim_race(const struct aim *aim, size_t i);

#endif
