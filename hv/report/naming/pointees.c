// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the structs in the guest's memory, from the types that debug files give for the pointers that instructions used. */
#include "hv/report/naming/pointees.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "hv/base/siphash.h"
#include "hv/race/index.h"
#include "hv/race/slab_name.h"

/*
 * Maximum number of pointees that one search looks at. To find the pointee that contains an access, pointees_at() looks at the
 * pointees that begin before the access. To find the pointees that contradict a given one, find_clashes() looks at the pointees
 * that begin inside it. If a search would have to look at more, the datum gets no name.
 */
#define LOOKED_THROUGH 256
#define FIRST_ROOM 64
/* A slab object is larger than its struct by less than this number of bytes, because objects are aligned to cache lines. */
#define CACHE_ALIGNED 64u

/*
 * What debug files say of the pointer in one register at one instruction, for one distance in bytes from the pointer to the
 * access. Kept, so that the debug files are asked only once.
 */
struct answer {
	uint64_t pc;
	int64_t distance;
	uint32_t size;
	uint8_t gpr;
	struct debuginfo *di; /* NULL: unknown pointee */
	uint64_t type;	      /* type of the pointee, as debuginfo_datum.owner_id */
	uint64_t type_size;
	/* Bytes from the start of the pointee to the access. */
	uint64_t offset;
	/* Name of the type, without "struct ". "" if the name is too long. */
	char tag[64];
};

/* A slab cache with the name of a struct, and that struct. All objects of the cache have this type. */
struct cache_type {
	char cache[64];
	struct debuginfo *di;
	uint64_t type, size;
};

struct pointee {
	uint64_t start, size;
	struct debuginfo *di;
	uint64_t type;
	uint32_t life;
	/*
	 * The first access through the pointer: bytes from the start of the pointee to the access, and the access's size in
	 * bytes.
	 */
	uint64_t offset;
	uint32_t used;
	bool doubtful; /* another pointer contradicts this one */
};

/* A cached answer of a debug file: which member of a type has the `size` bytes at an offset in the type. */
struct known_member {
	struct debuginfo *di;
	uint64_t type, offset;
	uint32_t size;
	bool known;
	struct pointee_member member;
};

struct pointees {
	const struct naming *naming;
	struct siphash_key key;
	struct answer *answers;
	struct race_index index; /* index of `answers` */
	size_t answer_room;
	struct known_member *members;
	struct race_index member_index;
	size_t member_room;
	struct pointee *list;
	size_t count, room;
	struct cache_type *caches;
	size_t cache_count, cache_room;
};

/*
 * Structs that are only found inside other structs. A pointer to such a struct does not identify the object, and naming data by
 * the pointer would merge many data into one.
 */
static const char *const embedded[] = {
	"callback_head",     "completion",   "delayed_work",	 "hlist_bl_head",    "hlist_bl_node",
	"hlist_head",	     "hlist_node",   "hlist_nulls_node", "hrtimer",	     "kref",
	"list_head",	     "llist_head",   "llist_node",	 "lockref",	     "mutex",
	"qspinlock",	     "raw_spinlock", "rb_node",		 "rb_root",	     "rb_root_cached",
	"refcount_struct",   "rt_mutex",     "rw_semaphore",	 "semaphore",	     "seqcount",
	"seqcount_spinlock", "spinlock",     "timer_list",	 "wait_queue_entry", "wait_queue_head",
	"work_struct",	     "xarray",
};

const char *pointee_tag(const char *owner)
{
	static const char *const words[] = {"struct ", "union "};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if (!strncmp(owner, words[i], len) && (isalpha((unsigned char)owner[len]) || owner[len] == '_'))
			return owner + len;
	}
	return NULL;
}

static bool is_embedded(const char *tag)
{
	for (unsigned i = 0; i < sizeof(embedded) / sizeof(embedded[0]); i++) {
		if (!strcmp(embedded[i], tag))
			return true;
	}
	return false;
}

struct pointees *pointees_new(const struct naming *n)
{
	struct pointees *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->naming = n;
	siphash_key_make(&p->key);
	return p;
}

void pointees_free(struct pointees *p)
{
	if (!p)
		return;
	race_index_free(&p->index);
	race_index_free(&p->member_index);
	free(p->answers);
	free(p->members);
	free(p->list);
	free(p->caches);
	free(p);
}

/* Make room for one more element of `size` bytes in a list. Returns 0, or -1 if memory runs out. */
static int make_room(void **list, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : FIRST_ROOM;
	void *at;

	if (count < *room)
		return 0;
	at = reallocarray(*list, more, size);
	if (!at)
		return -1;
	*list = at;
	*room = more;
	return 0;
}

/* ---- what one pointer points to ---- */

/*
 * Check that `pc` is still in the function of the site's name. If the module was loaded again meanwhile, another function may
 * be at that address.
 */
static bool is_site_of(struct debuginfo *di, const char *site, uint64_t pc)
{
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	int count = debuginfo_lines(di, pc, frames, NULL);
	const char *colon = strchr(site, ':'), *name = colon ? colon + 1 : site;
	size_t len = count > 0 && frames[count - 1].function ? strlen(frames[count - 1].function) : 0;

	/* Accept "f+0x12", and "f.isra.0+0x12" for a clone that the compiler has made. */
	return len && !strncmp(frames[count - 1].function, name, len) && (name[len] == '+' || name[len] == '.');
}

/* Look up the pointee of the use's pointer. Fills in *a if debug files say for certain that the pointee is a named struct. */
static void ask(const struct pointees *p, const struct pointer_use *use, struct answer *a)
{
	struct debug_image image;
	struct debuginfo_datum d, member;
	struct err err = {0};
	struct debuginfo *di =
		naming_image_of_site(p->naming, use->site, use->pc, &image) ? debug_images_of(p->naming->images, &image) : NULL;
	int found = di && is_site_of(di, use->site, use->pc)
			    ? debuginfo_datum(di, use->pc, (enum x86_gpr)a->gpr, a->distance, a->size, &d, 1, &err)
			    : 0;
	const char *tag;

	if (found > 0 && d.fit >= DEBUGINFO_FIT_INSIDE)
		found = debuginfo_member(di, d.owner_id, d.offset, a->size, &member, &err);
	else if (found > 0)
		found = 0;
	if (found < 0)
		debug_images_failed(p->naming->images, &image, &err);
	tag = found > 0 ? pointee_tag(member.owner) : NULL;
	if (!tag || is_embedded(tag))
		return;
	a->di = di;
	a->type = d.owner_id;
	a->type_size = d.owner_size;
	a->offset = d.offset;
	if (strlen(tag) < sizeof(a->tag))
		memcpy(a->tag, tag, strlen(tag) + 1);
}

struct wanted {
	const struct pointees *p;
	const struct answer *answer;
};

static bool is_wanted(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct answer *a = &w->p->answers[position], *b = w->answer;

	return a->pc == b->pc && a->distance == b->distance && a->size == b->size && a->gpr == b->gpr;
}

/* Returns the cached answer for the use, asking the debug files at the first call. Returns NULL if memory runs out. */
static const struct answer *answer_of(struct pointees *p, const struct pointer_use *use)
{
	struct answer a = {
		.pc = use->pc, .distance = (int64_t)(use->gva - use->base.value), .size = use->size, .gpr = use->base.gpr};
	const uint64_t words[4] = {a.pc, (uint64_t)a.distance, a.size, a.gpr};
	uint64_t hash = siphash(&p->key, words, sizeof(words));
	struct wanted w = {p, &a};
	size_t at = race_index_find(&p->index, hash, is_wanted, &w);

	if (at != RACE_INDEX_NONE)
		return &p->answers[at];
	at = p->index.count;
	if (make_room((void **)&p->answers, at, &p->answer_room, sizeof(a)) || race_index_make_room(&p->index))
		return NULL;
	ask(p, use, &a);
	p->answers[at] = a;
	race_index_add(&p->index, hash);
	return &p->answers[at];
}

static const struct cache_type *type_of_cache(const struct pointees *p, const struct guest_memory *m)
{
	for (size_t i = 0; i < p->cache_count && m->object && slab_has_one_type(m); i++) {
		if (strcmp(p->caches[i].cache, m->cache) == 0)
			return &p->caches[i];
	}
	return NULL;
}

/*
 * Learn the struct of a slab cache: if the cache is named like the struct of one of its objects, and the sizes fit, all its
 * objects are that struct. A cache that the kernel has merged, or may have merged, is not learned. Returns 0, or -1 if memory
 * runs out.
 */
static int learn_cache(struct pointees *p, const struct guest_memory *m, uint64_t start, const struct answer *a)
{
	struct cache_type *c;

	if (!slab_has_one_type(m) || start != m->object || strcmp(a->tag, m->cache) != 0 ||
	    m->object_size - a->type_size >= CACHE_ALIGNED || type_of_cache(p, m))
		return 0;
	if (make_room((void **)&p->caches, p->cache_count, &p->cache_room, sizeof(*p->caches)))
		return -1;
	c = &p->caches[p->cache_count++];
	*c = (struct cache_type){.di = a->di, .type = a->type, .size = a->type_size};
	memcpy(c->cache, a->tag, sizeof(c->cache));
	return 0;
}

int pointees_learn(struct pointees *p, const struct pointer_use *use)
{
	const struct guest_memory *m = use->memory;
	const struct answer *a;
	uint64_t start;

	if (!use->base.value)
		return 0;
	a = answer_of(p, use);
	if (!a)
		return -1;
	start = use->gva - a->offset;
	if (!a->di || start > use->gva || start + a->type_size < start)
		return 0;
	/* Ignore a struct that extends outside of its object: it has been identified wrongly. */
	if (m->object && (start < m->object || start + a->type_size > m->object + m->object_size))
		return 0;
	if (make_room((void **)&p->list, p->count, &p->room, sizeof(*p->list)) || learn_cache(p, m, start, a))
		return -1;
	p->list[p->count++] = (struct pointee){start, a->type_size, a->di, a->type, use->life, a->offset, use->size, false};
	return 0;
}

/* ---- what is at an address ---- */

/* Sort so that a struct comes before the structs that it contains. */
static int by_start(const void *a, const void *b)
{
	const struct pointee *x = a, *y = b;
	int order = order_u64(x->start, y->start);

	if (!order)
		order = order_u64(y->size, x->size);
	if (!order)
		order = order_u64(x->type, y->type);
	if (!order)
		order = order_u64((uintptr_t)x->di, (uintptr_t)y->di);
	return order ? order : order_u64(x->life, y->life);
}

/* Returns the number of pointees that begin at or before `gva`. */
static size_t up_to(const struct pointees *p, uint64_t gva)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->list[middle].start <= gva)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct wanted_member {
	const struct pointees *p;
	const struct known_member *member;
};

static bool is_wanted_member(void *ctx, size_t position)
{
	const struct wanted_member *w = ctx;
	const struct known_member *a = &w->p->members[position], *b = w->member;

	return a->di == b->di && a->type == b->type && a->offset == b->offset && a->size == b->size;
}

/* Fill in *k from the debug file. Reject names that do not fit: a truncated name could equal another one. */
static void ask_member(struct known_member *k)
{
	struct debuginfo_datum d;
	const char *tag;

	if (debuginfo_member(k->di, k->type, k->offset, k->size, &d, NULL) <= 0 || d.fit < DEBUGINFO_FIT_INSIDE)
		return;
	tag = pointee_tag(d.owner);
	if (!tag || strlen(tag) >= sizeof(k->member.owner) || strlen(d.member) >= sizeof(k->member.member))
		return;
	memcpy(k->member.owner, tag, strlen(tag) + 1);
	memcpy(k->member.member, d.member, strlen(d.member) + 1);
	k->member.owner_size = d.owner_size;
	k->known = true;
}

/* Find the member `offset` bytes into the pointee. Returns false if debug files do not have it. */
static bool member_of(struct pointees *p, const struct pointee *t, uint64_t offset, uint32_t size, struct pointee_member *out)
{
	struct known_member k = {.di = t->di, .type = t->type, .offset = offset, .size = size};
	const uint64_t words[4] = {(uintptr_t)k.di, k.type, k.offset, k.size};
	uint64_t hash = siphash(&p->key, words, sizeof(words));
	struct wanted_member w = {p, &k};
	size_t at = race_index_find(&p->member_index, hash, is_wanted_member, &w), count = p->member_index.count;

	if (at != RACE_INDEX_NONE) {
		*out = p->members[at].member;
		return p->members[at].known;
	}
	ask_member(&k);
	/* Cache the result. If memory runs out, the result is not cached, and the next lookup asks the debug file again. */
	if (!make_room((void **)&p->members, count, &p->member_room, sizeof(k)) && !race_index_make_room(&p->member_index)) {
		p->members[count] = k;
		race_index_add(&p->member_index, hash);
	}
	*out = k.member;
	return k.known;
}

/*
 * `large` and `small` are members of two structs at the same bytes. Returns true if the smaller struct can be a part of the
 * larger one: its path to these bytes, such as "flags", is the end of the larger struct's path, such as "vfs_inode.flags".
 */
static bool is_part(const struct pointee_member *large, const struct pointee_member *small)
{
	size_t whole = strlen(large->member), part = strlen(small->member);

	if (large->owner_size == small->owner_size && strcmp(large->owner, small->owner) == 0)
		return strcmp(large->member, small->member) == 0;
	return part && whole > part && !strcmp(large->member + whole - part, small->member) &&
	       (large->member[whole - part - 1] == '.' || small->member[0] == '[');
}

static bool is_larger(const struct pointee_member *a, const struct pointee_member *b)
{
	return a->owner_size > b->owner_size || (a->owner_size == b->owner_size && strlen(a->member) > strlen(b->member));
}

static bool agree(const struct pointee_member *a, const struct pointee_member *b)
{
	return is_larger(b, a) ? is_part(b, a) : is_part(a, b);
}

/*
 * Returns true if the two pointees contradict each other: they may be of the same lifetime, and `inner` begins inside `outer`,
 * but is not a part of `outer`.
 */
static bool clashes(struct pointees *p, const struct pointee *outer, const struct pointee *inner)
{
	struct pointee_member o, i;
	uint64_t distance = inner->start - outer->start;

	if (outer->life != inner->life && outer->life != POINTEE_ANY_LIFE && inner->life != POINTEE_ANY_LIFE)
		return false;
	if (inner->size > outer->size - distance)
		return true;
	return !member_of(p, outer, distance + inner->offset, inner->used, &o) ||
	       !member_of(p, inner, inner->offset, inner->used, &i) || !agree(&o, &i);
}

/* Of two pointees that contradict each other, either may be wrong. Mark both. */
static void find_clashes(struct pointees *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct pointee *outer = &p->list[i];

		for (size_t k = i + 1; k < p->count && p->list[k].start - outer->start < outer->size; k++) {
			if (k - i <= LOOKED_THROUGH && !clashes(p, outer, &p->list[k]))
				continue;
			outer->doubtful = p->list[k].doubtful = true;
			if (k - i > LOOKED_THROUGH)
				break;
		}
	}
}

void pointees_sort(struct pointees *p)
{
	size_t kept = 0;

	if (p->count)
		qsort(p->list, p->count, sizeof(*p->list), by_start);
	for (size_t i = 0; i < p->count; i++) {
		if (!kept || by_start(&p->list[kept - 1], &p->list[i]))
			p->list[kept++] = p->list[i];
	}
	p->count = kept;
	find_clashes(p);
}

/*
 * Find the member at `gva` in an object to which no known pointer points, if all objects of its slab cache have a known type.
 */
static bool by_cache(struct pointees *p, uint64_t gva, uint32_t size, const struct guest_memory *memory,
		     struct pointee_member *out)
{
	const struct cache_type *c = type_of_cache(p, memory);
	uint64_t offset = gva - memory->object;

	return c && offset < c->size && member_of(p, &(const struct pointee){.di = c->di, .type = c->type}, offset, size, out);
}

bool pointees_at(struct pointees *p, uint64_t gva, uint32_t size, const struct guest_memory *memory, uint32_t life,
		 struct pointee_member *out)
{
	unsigned looked = 0;
	bool any = false;

	for (size_t i = up_to(p, gva); i-- > 0;) {
		const struct pointee *t = &p->list[i];
		struct pointee_member m;

		if (memory->object && t->start < memory->object)
			break;
		if (++looked > LOOKED_THROUGH)
			return false;
		if (gva - t->start >= t->size || (life != t->life && life != POINTEE_ANY_LIFE && t->life != POINTEE_ANY_LIFE))
			continue;
		if (t->doubtful || !member_of(p, t, gva - t->start, size, &m) || (any && !agree(out, &m)))
			return false;
		if (!any || is_larger(&m, out))
			*out = m;
		any = true;
	}
	return any || by_cache(p, gva, size, memory, out);
}
