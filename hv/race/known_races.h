/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The known races that a run is to see again (--aim), and their target sites. A site is found again by its name and by the
 * bytes of its instruction, because another build of the kernel may have a different instruction at that offset.
 *
 * One thread fills the table. After that any thread may read it without a lock.
 */
#ifndef OUTRIDER_RACE_KNOWN_RACES_H
#define OUTRIDER_RACE_KNOWN_RACES_H

#include <stddef.h>
#include <stdint.h>

#include "hv/race/race.h"
#include "symbols/insn/insn.h"

struct target_site {
	/* "function" or "module:function", as site_function() writes it. */
	char function[SITE_NAME_MAX];
	/* Offset from the start of the function, in bytes. */
	uint32_t offset;
	/*
	 * The instruction's bytes, followed by as many bytes of the code after the instruction as fit. Length 0: the bytes are
	 * unknown.
	 */
	uint8_t code[INSN_MAX_LEN];
	uint8_t code_len;
};

struct known_race {
	char id[RACE_ID_MAX];
	/*
	 * For messages: the names of both sides, and for each side the reason why it has no target site, or NULL if it has a
	 * target site.
	 */
	char site[2][SITE_NAME_MAX];
	const char *why_not[2];
	/* The target sites, `count` of them: 0 to 2, at most one per side. */
	struct target_site sites[2];
	unsigned count;
};

struct known_races;

/* Returns NULL if memory runs out. */
struct known_races *known_races_new(void);

/* `known` may be NULL. */
void known_races_free(struct known_races *known);

/*
 * Add a race, whose strings must be printable. A side gets no target site in four cases: a device made the side's access, the
 * access was not seen, the access's instruction is unknown or LOCKed and no get (hv/detect/window/last_put.h), or the
 * instruction is in no known function. Returns the new entry, which belongs to the table and is valid until the next call; or
 * NULL if memory runs out.
 */
const struct known_race *known_races_add(struct known_races *known, const struct race *race);

size_t known_races_count(const struct known_races *known);

/* Returns race `i`, which must be below known_races_count(). */
const struct known_race *known_races_get(const struct known_races *known, size_t i);

#endif
