/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The key of a race (hv/race/race_key.h) as printable strings: what stays the same in every build of the kernel. Pure
 * functions. Only hv/campaign/store/ and its tests use this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_KEY_H
#define OUTRIDER_CAMPAIGN_STORE_KEY_H

#include "hv/campaign/store/store.h"
#include "hv/campaign/store/text.h"
#include "hv/race/race.h"

struct store_key {
	/* Sorted in byte order of function, module and kind. */
	struct store_side sides[2];
	/* Both sides as one text, the same for all races with these two sides. */
	const char *sides_text;
	/* The datum's name from debug files, as "struct rq.nr_running" or "jiffies_64". "": unknown. */
	const char *datum;
	/*
	 * The datum's place, as "mount_lock+0" or "struct task_struct.flags". The place comes from the guest kernel's own
	 * symbols and BTF, so it is the same with and without debug files. "": unknown.
	 */
	const char *place;
	/*
	 * The sides with the datum, or with the place if the datum has no name. Races with the same identity are the same
	 * race.
	 */
	const char *identity;
	/* A hash of the identity: the race's id for users. */
	char name[STORE_RACE_ID_MAX];
};

/* Make the key of a report's race. `text` owns its strings; text_failed() says afterwards whether memory ran out. */
void store_key(const struct race *race, struct store_text *text, struct store_key *out);

/*
 * Set sides_text, identity and name from the rest of the key. The sides must be sorted in byte order of function, module and
 * kind.
 */
void store_key_seal(struct store_key *key, struct store_text *text);

#endif
