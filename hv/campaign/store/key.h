/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a race the same in every build of the kernel. docs/campaigns.md argues it. Pure functions. Only hv/campaign/store/
 * and its tests use this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_KEY_H
#define OUTRIDER_CAMPAIGN_STORE_KEY_H

#include "hv/campaign/store/store.h"
#include "hv/campaign/store/text.h"
#include "hv/race/race.h"

struct race_key {
	/* In byte order of function, module and kind. */
	struct store_side sides[2];
	/* Both sides as one text. */
	const char *sides_text;
	/* What debug files call the datum: "struct rq.nr_running", "jiffies_64". "": they were not there, or do not know it. */
	const char *datum;
	/*
	 * Where the datum is by the guest's own tables: "mount_lock+0", "struct task_struct.flags". It is the same whether
	 * there are debug files or not. "": they do not know it.
	 */
	const char *place;
	/* The sides with the datum, or where it has no name with the place. Two races are one if this is one. */
	const char *identity;
	/* A hash of the identity. */
	char name[STORE_RACE_ID_MAX];
};

/* The key of a race of a report. Its strings are in `text`, which tells whether memory ran out. */
void race_key(const struct race *race, struct store_text *text, struct race_key *out);

/* Make sides_text, identity and name of the rest of a key. The sides must stand in their order. */
void race_key_seal(struct race_key *key, struct store_text *text);

#endif
