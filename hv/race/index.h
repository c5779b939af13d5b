/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash index of an append-only list: maps a hash to the positions of the list entries with that hash. The index does not
 * access the entries of the list. Adding and searching take constant time on average.
 *
 * No locks: one thread at a time.
 */
#ifndef OUTRIDER_RACE_INDEX_H
#define OUTRIDER_RACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RACE_INDEX_NONE SIZE_MAX

struct race_index_entry {
	uint64_t hash;
	/* Position of the next entry in the same bucket, or RACE_INDEX_NONE. */
	size_t next;
};

/* All zero: the index of an empty list. */
struct race_index {
	/* entries[i] belongs to list entry i. */
	struct race_index_entry *entries;
	/* Position of the first entry in each bucket, or RACE_INDEX_NONE. */
	size_t *buckets;
	/* Length of the list. */
	size_t count;
	/* Number of buckets and capacity of entries[]: 0 or a power of two. */
	size_t room;
};

/* Free the index's memory and empty it. */
void race_index_free(struct race_index *index);

/* Make room for one more entry, so that the next race_index_add() cannot fail. Returns 0, or -1 if memory runs out. */
int race_index_make_room(struct race_index *index);

/* Add the list's next entry with its hash. There must be room. */
void race_index_add(struct race_index *index, uint64_t hash);

/*
 * Returns the position of an entry with that hash for which is(ctx, position) returns true, or RACE_INDEX_NONE. is() is called
 * only for entries with that hash, the last added first.
 */
size_t race_index_find(const struct race_index *index, uint64_t hash, bool (*is)(void *ctx, size_t position), void *ctx);

#endif
