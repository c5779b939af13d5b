// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the critical sections in the recording of one side (held.h). */
#include "hv/explore/held.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"

/*
 * Maximum number of locks that a side can hold at a time. When one more lock is taken, the lock that was taken first counts as
 * never released. Without a limit, a guest that takes many locks and releases none would make all searches slow.
 */
#define OPEN_MAX 64u
/*
 * Number of sections from one element of held.open to the next. A smaller number costs memory, because an element takes as much
 * memory as 8 sections. A larger number costs time, because a search looks at all sections from an element on, up to this
 * number.
 */
#define OPEN_INTERVAL 256u
#define NOT_RELEASED 0u /* the value of `to` until the lock is released; no release has this instruction number */

/* Indices of the sections that were open when a section began. */
struct held_open {
	uint32_t section[OPEN_MAX];
	uint32_t count;
};

/* ---- finding ---- */

static void close_section(struct held_open *open, uint32_t n)
{
	memmove(open->section + n, open->section + n + 1, (--open->count - n) * sizeof(*open->section));
}

static void open_section(struct held *h, struct held_open *open, const struct explore_access *take, bool shared)
{
	if (open->count == OPEN_MAX)
		close_section(open, 0);
	if (h->count % OPEN_INTERVAL == 0)
		h->open[h->count / OPEN_INTERVAL] = *open;
	open->section[open->count++] = h->count;
	h->section[h->count++] =
		(struct held_section){.gva = take->gva, .from = take->at, .to = NOT_RELEASED, .shared = shared};
}

static int compare_locks(const struct held_section *a, const struct held_section *b)
{
	int rc = order_u64(a->gva, b->gva);

	if (!rc)
		rc = order_u64(a->shared, b->shared);
	return rc ? rc : order_u64(a->from, b->from);
}

static int by_lock(const void *a, const void *b, void *sections)
{
	const struct held_section *section = sections;

	return compare_locks(&section[*(const uint32_t *)a], &section[*(const uint32_t *)b]);
}

int held_find(struct held *h, const struct explore_access *access, uint32_t count,
	      enum held_act (*act)(void *ctx, const struct explore_access *access), void *ctx)
{
	struct held_open open = {.count = 0};

	*h = (struct held){.section = calloc(count + 1u, sizeof(*h->section)),
			   .open = calloc(count / OPEN_INTERVAL + 1u, sizeof(*h->open)),
			   .by_lock = calloc(count + 1u, sizeof(*h->by_lock))};
	if (!h->section || !h->open || !h->by_lock)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		const struct explore_access *a = &access[i];
		enum held_act does = a->rw & INSN_WRITE ? act(ctx, a) : HELD_NOTHING;
		uint32_t n = 0;

		if (!(a->rw & INSN_WRITE))
			continue;
		while (n < open.count && h->section[open.section[n]].gva != a->gva)
			n++;
		if (n < open.count) {
			if (does == HELD_NOTHING) {
				h->section[open.section[n]].to = a->at;
				h->section[open.section[n]].release = a;
			}
			close_section(&open, n);
		}
		if (does != HELD_NOTHING)
			open_section(h, &open, a, does == HELD_TAKES_SHARED);
	}
	for (uint32_t i = 0; i < h->count; i++)
		h->by_lock[i] = i;
	qsort_r(h->by_lock, h->count, sizeof(*h->by_lock), by_lock, h->section);
	return 0;
}

void held_free(struct held *h)
{
	free(h->section);
	free(h->open);
	free(h->by_lock);
	*h = (struct held){0};
}

/* ---- searching ---- */

/* Returns the number of sections that sort before `key` in by_lock. */
static uint32_t rank_of(const struct held *h, const struct held_section *key)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_locks(&h->section[h->by_lock[middle]], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns the section at index `rank` of by_lock if it is a section of the lock at `gva` and its `shared` is as given;
 * otherwise NULL.
 */
static const struct held_section *ranked(const struct held *h, uint32_t rank, uint64_t gva, bool shared)
{
	const struct held_section *s = rank < h->count ? &h->section[h->by_lock[rank]] : NULL;

	return s && s->gva == gva && s->shared == shared ? s : NULL;
}

/* Returns whether the side holds the lock at `gva` at its instruction number `at`, in a section whose `shared` is as given. */
static bool holds(const struct held *h, uint64_t gva, bool shared, uint32_t at)
{
	const struct held_section after = {.gva = gva, .shared = shared, .from = at};
	/* Sections of one lock do not overlap, so only the last one that begins at `at` or before can contain `at`. */
	uint32_t rank = rank_of(h, &after);
	const struct held_section *s = ranked(h, rank, gva, shared);

	if (!s || s->from != at)
		s = rank ? ranked(h, rank - 1, gva, shared) : NULL;
	return s && at <= s->to;
}

/* Returns whether a section of the lock at `gva`, with `shared` as given, begins before the instruction number `before`. */
static bool takes(const struct held *h, uint64_t gva, bool shared, uint32_t before)
{
	const struct held_section first = {.gva = gva, .shared = shared};
	const struct held_section *s = ranked(h, rank_of(h, &first), gva, shared);

	return s && s->from < before;
}

/* Returns the number of sections that begin at the instruction number `at` or before. */
static uint32_t begun(const struct held *h, uint32_t at)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (h->section[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Call each() for all sections that contain the instruction number `at`, and maybe for sections that have ended before. Makes
 * at most OPEN_MAX + OPEN_INTERVAL calls.
 */
static void around(const struct held *h, uint32_t at, void (*each)(void *ctx, const struct held_section *s), void *ctx)
{
	uint32_t end = begun(h, at), start = end ? (end - 1) / OPEN_INTERVAL : 0;

	for (uint32_t i = 0; end && i < h->open[start].count; i++)
		each(ctx, &h->section[h->open[start].section[i]]);
	for (uint32_t i = start * OPEN_INTERVAL; i < end; i++)
		each(ctx, &h->section[i]);
}

/* A search of held_common() or held_waited_for(). */
struct search {
	const struct held *other;
	uint32_t at, other_at;
	bool readers;
	const struct held_section *last;
};

static void look_for_common(void *ctx, const struct held_section *s)
{
	struct search *search = ctx;

	if (search->at <= s->to && (!search->last || s->to > search->last->to) &&
	    (holds(search->other, s->gva, false, search->other_at) ||
	     (!s->shared && holds(search->other, s->gva, true, search->other_at))))
		search->last = s;
}

const struct held_section *held_common(const struct held *own, uint32_t at, const struct held *other, uint32_t other_at)
{
	struct search search = {.other = other, .at = at, .other_at = other_at};

	around(own, at, look_for_common, &search);
	return search.last;
}

static void look_for_waited(void *ctx, const struct held_section *s)
{
	struct search *search = ctx;

	if (search->at < s->to && (!search->last || s->to > search->last->to) &&
	    (takes(search->other, s->gva, false, search->other_at) ||
	     (search->readers && !s->shared && takes(search->other, s->gva, true, search->other_at))))
		search->last = s;
}

const struct held_section *held_waited_for(const struct held *own, uint32_t at, const struct held *other, uint32_t before,
					   bool readers)
{
	struct search search = {.other = other, .at = at, .other_at = before, .readers = readers};

	around(own, at, look_for_waited, &search);
	return search.last;
}
