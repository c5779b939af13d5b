/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects that accesses were to: which life each is in, and whether anybody but its creator has touched it in this life.
 * Memory of which no object is known is taken word by word, and its lives are those of what begins with its page.
 *
 * No locks: one thread at a time.
 */
#ifndef OUTRIDER_RACE_PROTECTION_OBJECTS_H
#define OUTRIDER_RACE_PROTECTION_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/siphash.h"
#include "hv/race/index.h"
#include "hv/race/lock_moment.h"

struct prot_object;

/* All zero but for the key: an empty table. */
struct prot_objects {
	struct prot_object *list;
	/* Of `list`, and how many there is room for. */
	struct race_index index;
	uint32_t room;
	/* For the hashes, since addresses are the guest's. */
	struct siphash_key key;
};

void prot_objects_free(struct prot_objects *t);

enum prot_objects_rc { PROT_OBJECTS_OK, PROT_OBJECTS_FULL, PROT_OBJECTS_NO_MEMORY };

/*
 * Note that `who` (struct prot_access) accesses the datum. *life becomes the life that its object is in, and *shared whether
 * another context than `who` has accessed the object before in this life. Both are left alone unless the result is OK.
 */
enum prot_objects_rc prot_objects_touch(struct prot_objects *t, const struct lock_datum *d, int64_t who, uint32_t *life,
					bool *shared);

/* The life of the object that begins at `gva` is over. */
enum prot_objects_rc prot_objects_end(struct prot_objects *t, uint64_t gva);

#endif
