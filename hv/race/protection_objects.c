// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks the lifetimes of accessed objects, and whether more than one context has accessed an object in its lifetime. */
#include "hv/race/protection_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/race/protection.h"

#define FIRST_ROOM 64u
#define PAGE_BYTES 4096u
#define WORD_BYTES 8u	/* size of a datum outside of known objects, in bytes */
#define PIECE_ALIGN 64u /* alignment of the objects in a pool, in bytes: that of a cache line, as in the block layer */

/* What an entry stands for. */
enum part {
	OBJECT, /* an object, by its start address */
	WORD,	/* an aligned word of memory outside of known objects */
	PAGE,	/* a page at whose start an object was freed or allocated; only its `life` is used */
	PIECE,	/* an object in a pool that was reused, by its start address; only its `life` is used */
};

struct prot_object {
	uint64_t gva;
	/*
	 * A hash of the kernel's description of the object. If the description changes, another object has replaced this one,
	 * and the detector did not see the old one freed.
	 */
	uint64_t identity;
	/* The first context that accessed the object in this lifetime. */
	int64_t who;
	uint32_t life;
	uint8_t part;
	bool touched, shared;
};

void prot_objects_free(struct prot_objects *t)
{
	free(t->list);
	race_index_free(&t->index);
	t->list = NULL;
	t->room = 0;
}

struct wanted {
	const struct prot_objects *t;
	uint64_t gva;
	enum part part;
};

static bool is_wanted(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct prot_object *o = &w->t->list[position];

	return o->gva == w->gva && o->part == w->part;
}

static uint64_t hash_of(const struct prot_objects *t, uint64_t gva, enum part part)
{
	const uint64_t words[2] = {gva, part};

	return siphash(&t->key, words, sizeof(words));
}

/* Returns the entry for this kind of part at `gva`, or NULL if there is none. */
static struct prot_object *find(const struct prot_objects *t, uint64_t gva, enum part part)
{
	struct wanted w = {t, gva, part};
	size_t at = race_index_find(&t->index, hash_of(t, gva, part), is_wanted, &w);

	return at == RACE_INDEX_NONE ? NULL : &t->list[at];
}

static enum prot_objects_rc make_room(struct prot_objects *t)
{
	uint32_t room = t->room ? 2 * t->room : FIRST_ROOM;
	struct prot_object *list;

	if (t->index.count == PROTECTION_OBJECTS_MAX)
		return PROT_OBJECTS_FULL;
	if (race_index_make_room(&t->index) < 0)
		return PROT_OBJECTS_NO_MEMORY;
	if (t->index.count < t->room)
		return PROT_OBJECTS_OK;
	list = realloc(t->list, room * sizeof(*list));
	if (!list)
		return PROT_OBJECTS_NO_MEMORY;
	t->list = list;
	t->room = room;
	return PROT_OBJECTS_OK;
}

/* Find or add an entry. *out is valid until the next entry is added. */
static enum prot_objects_rc have(struct prot_objects *t, uint64_t gva, enum part part, struct prot_object **out)
{
	enum prot_objects_rc rc;

	*out = find(t, gva, part);
	if (*out)
		return PROT_OBJECTS_OK;
	rc = make_room(t);
	if (rc != PROT_OBJECTS_OK)
		return rc;
	*out = &t->list[t->index.count];
	**out = (struct prot_object){.gva = gva, .part = (uint8_t)part};
	race_index_add(&t->index, hash_of(t, gva, part));
	return PROT_OBJECTS_OK;
}

static void begin_life(struct prot_object *o, uint32_t life)
{
	o->life = life;
	o->touched = false;
	o->shared = false;
}

static uint64_t identity_of(const struct prot_objects *t, const struct guest_memory *m)
{
	struct {
		char cache[sizeof(m->cache)], type[sizeof(m->type)], symbol[sizeof(m->symbol.name)];
		uint32_t kind, size;
	} what;

	memset(&what, 0, sizeof(what));
	snprintf(what.cache, sizeof(what.cache), "%s", m->cache);
	snprintf(what.type, sizeof(what.type), "%s", m->type);
	snprintf(what.symbol, sizeof(what.symbol), "%s", m->symbol.name);
	what.kind = m->kind;
	what.size = m->object_size;
	return siphash(&t->key, &what, sizeof(what));
}

/* Returns the reused object that contains the word, or NULL: the last one that begins at the word or before it. */
static const struct prot_object *piece_of(const struct prot_objects *t, uint64_t word)
{
	const struct prot_object *piece = NULL;
	uint64_t at = word / PIECE_ALIGN * PIECE_ALIGN;

	for (unsigned i = 0; t->has_pieces && !piece && i < LOCK_REUSED_BYTES / PIECE_ALIGN; i++)
		piece = find(t, at - i * PIECE_ALIGN, PIECE);
	return piece;
}

/*
 * Returns the lifetime of a word outside of known objects. All pages and pieces take their numbers from one counter, so the
 * larger number is the later lifetime, and a word that comes from one piece to another never has the same number again.
 */
static uint32_t word_life(const struct prot_objects *t, uint64_t gva)
{
	const struct prot_object *piece = piece_of(t, gva), *page = find(t, gva / PAGE_BYTES * PAGE_BYTES, PAGE);
	uint32_t life = page ? page->life : 0;

	return piece && piece->life > life ? piece->life : life;
}

/* Find or add the entry of the datum's object or word. Begin a new lifetime if another object is at that address now. */
static enum prot_objects_rc entry_of(struct prot_objects *t, const struct lock_datum *d, struct prot_object **out)
{
	enum prot_objects_rc rc = d->memory.object ? have(t, d->memory.object, OBJECT, out)
						   : have(t, d->gva / WORD_BYTES * WORD_BYTES, WORD, out);
	uint64_t identity;

	if (rc != PROT_OBJECTS_OK)
		return rc;
	if (!d->memory.object) {
		uint32_t life = word_life(t, d->gva);

		if ((*out)->life != life)
			begin_life(*out, life);
		return rc;
	}
	identity = identity_of(t, &d->memory);
	if ((*out)->touched && (*out)->identity != identity)
		begin_life(*out, (*out)->life + 1);
	(*out)->identity = identity;
	return rc;
}

enum prot_objects_rc prot_objects_touch(struct prot_objects *t, const struct lock_datum *d, int64_t who, uint32_t *life,
					bool *shared)
{
	struct prot_object *o;
	enum prot_objects_rc rc = entry_of(t, d, &o);

	if (rc != PROT_OBJECTS_OK)
		return rc;
	if (!o->touched)
		o->who = who;
	o->shared |= o->touched && o->who != who;
	o->touched = true;
	*life = o->life;
	*shared = o->shared;
	return rc;
}

enum prot_objects_rc prot_objects_end(struct prot_objects *t, uint64_t gva)
{
	struct prot_object *o = find(t, gva, OBJECT);
	enum prot_objects_rc rc;

	if (o)
		begin_life(o, o->life + 1);
	/*
	 * For a large object the kernel's allocator uses whole pages instead of a slab, so the detector does not know the
	 * memory as an object, and tracks each word of it. A large object begins at the start of a page, so end the lifetime of
	 * the words of this page.
	 */
	if (gva % PAGE_BYTES)
		return PROT_OBJECTS_OK;
	rc = have(t, gva, PAGE, &o);
	if (rc == PROT_OBJECTS_OK)
		begin_life(o, ++t->lives);
	return rc;
}

enum prot_objects_rc prot_objects_reuse(struct prot_objects *t, uint64_t gva)
{
	struct prot_object *o = find(t, gva, OBJECT);
	enum prot_objects_rc rc;

	if (o) {
		begin_life(o, o->life + 1);
		return PROT_OBJECTS_OK;
	}
	rc = have(t, gva / PIECE_ALIGN * PIECE_ALIGN, PIECE, &o);
	if (rc == PROT_OBJECTS_OK) {
		begin_life(o, ++t->lives);
		t->has_pieces = true;
	}
	return rc;
}
