/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table over a list that only grows: from a hash to the positions of the entries with that hash. It knows nothing of the
 * entries themselves. An addition and a search take constant time on average, however long the list is.
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
	/* entries[i] is of the list's entry i. */
	struct race_index_entry *entries;
	/* Position of the first entry of each bucket, or RACE_INDEX_NONE. */
	size_t *buckets;
	/* Length of the list. */
	size_t count;
	/* How many buckets there are, and how many entries there is room for: 0 or a power of two. */
	size_t room;
};

void race_index_free(struct race_index *index);

/* Make room for one more entry, so that the next race_index_add() cannot fail. 0, or -1: memory ran out. */
int race_index_make_room(struct race_index *index);

/* Enter the list's next entry, with its hash. There must be room. */
void race_index_add(struct race_index *index, uint64_t hash);

/*
 * The position of the entry with that hash for which is(ctx, position) is true; RACE_INDEX_NONE: there is none. is() is called
 * for entries with that very hash only, the last one added first.
 */
size_t race_index_find(const struct race_index *index, uint64_t hash, bool (*is)(void *ctx, size_t position), void *ctx);

#endif
