// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/index.h"

#include <stdlib.h>

#define FIRST_ROOM 64

void race_index_free(struct race_index *index)
{
	free(index->entries);
	free(index->buckets);
	*index = (struct race_index){0};
}

static void link_entry(struct race_index *index, size_t position)
{
	size_t *bucket = &index->buckets[index->entries[position].hash & (index->room - 1)];

	index->entries[position].next = *bucket;
	*bucket = position;
}

int race_index_make_room(struct race_index *index)
{
	size_t room = index->room ? 2 * index->room : FIRST_ROOM;
	struct race_index_entry *entries;
	size_t *buckets;

	if (index->count < index->room)
		return 0;
	entries = realloc(index->entries, room * sizeof(*entries));
	if (!entries)
		return -1;
	index->entries = entries;
	buckets = realloc(index->buckets, room * sizeof(*buckets));
	if (!buckets)
		return -1;
	index->buckets = buckets;
	index->room = room;
	for (size_t i = 0; i < room; i++)
		buckets[i] = RACE_INDEX_NONE;
	for (size_t i = 0; i < index->count; i++)
		link_entry(index, i);
	return 0;
}

void race_index_add(struct race_index *index, uint64_t hash)
{
	index->entries[index->count].hash = hash;
	link_entry(index, index->count++);
}

size_t race_index_find(const struct race_index *index, uint64_t hash, bool (*is)(void *ctx, size_t position), void *ctx)
{
	size_t at = index->room ? index->buckets[hash & (index->room - 1)] : RACE_INDEX_NONE;

	while (at != RACE_INDEX_NONE && !(index->entries[at].hash == hash && is(ctx, at)))
		at = index->entries[at].next;
	return at;
}
