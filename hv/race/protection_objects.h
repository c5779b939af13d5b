/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lifetimes of accessed objects, and whether a context other than the first has accessed an object in its lifetime. Memory
 * outside of known objects is tracked per word. The lifetime of a word ends when an object at the start of the word's page is
 * freed or allocated, and when an object that contains the word is reused (prot_objects_reuse()).
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

/* An empty table is all zero, except for the member `key`. */
struct prot_objects {
	struct prot_object *list;
	/* Index of `list`, and its capacity. */
	struct race_index index;
	uint32_t room;
	/* The latest number that the lifetime of a page, or of a reused object outside of known objects, got. */
	uint32_t lives;
	/* There is a reused object outside of known objects. */
	bool has_pieces;
	/* Key of the hashes, since addresses come from the guest. */
	struct siphash_key key;
};

/* Free all entries. The key stays. */
void prot_objects_free(struct prot_objects *t);

enum prot_objects_rc { PROT_OBJECTS_OK, PROT_OBJECTS_FULL, PROT_OBJECTS_NO_MEMORY };

/*
 * Record that `who` (see struct prot_access) accesses the datum. Sets *life to the lifetime of its object, and *shared if a
 * context other than `who` has accessed the object earlier in this lifetime. Leaves *life and *shared unchanged unless the
 * result is PROT_OBJECTS_OK.
 */
enum prot_objects_rc prot_objects_touch(struct prot_objects *t, const struct lock_datum *d, int64_t who, uint32_t *life,
					bool *shared);

/*
 * End the lifetime of the object that begins at `gva` and, if `gva` is the start of a page, of the words of this page outside
 * of known objects.
 */
enum prot_objects_rc prot_objects_end(struct prot_objects *t, uint64_t gva);

/*
 * The object that begins at `gva` goes back to its pool: end its lifetime. In memory outside of known objects, its words are
 * those from `gva`, rounded down to 64 bytes, up to the next object that was reused, at most LOCK_REUSED_BYTES. The words of a
 * neighbour that was never reused may be among them: their accesses are then compared with fewer others.
 */
enum prot_objects_rc prot_objects_reuse(struct prot_objects *t, uint64_t gva);

#endif
