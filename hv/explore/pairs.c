// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds and ranks the candidates in two recordings (pairs.h).
 *
 * A granule is eight aligned bytes of memory. A granule is identified by its GPA, because one byte can have two GVAs. If the
 * GPA is unknown, the granule is identified by its GVA. A spot stands for all accesses to one granule by one instruction of one
 * side, and has the first of these accesses. The spots of each side are sorted by granule, and each spot of side 0 is paired
 * with the spots of side 1 in the same granule.
 */
#include "hv/explore/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/explore/held.h"
#include "symbols/insn/insn.h"

#define GRANULE 8u
/* Maximum number of granules of one access that are examined. If an instruction copies or clears more, the rest is ignored. */
#define GRANULES_MAX 512u
/*
 * Size of socket_lock_t.owned in bytes. By the size, act_of() tells lock_sock_nested()'s store to `owned` from its other
 * stores: these release a spinlock, and are of one byte.
 */
#define OWNER_SIZE 4u

/*
 * What identifies an instruction. An instruction of a library function counts as a different instruction for each caller of the
 * library.
 */
struct site {
	uint64_t wants; /* explore_wants() */
	uint64_t pc;
};

/* An instruction of one side. */
struct code {
	struct site site;
	uint64_t times;
	enum pairs_code kind;
	bool baseline; /* the baseline program executes it, too */
};

struct spot {
	uint64_t granule;
	const struct explore_access *access;
};

struct side {
	const struct pairs_input *in;
	const struct explore_access *access;
	uint32_t count;
	struct code *codes;
	size_t code_count;
	struct held sections;
	struct spot *spots;
	size_t spot_count;
};

struct pair {
	const struct explore_access *access[2];
	bool fresh;
};

struct pairs {
	struct pair *pair;
	size_t count;
};

/* ---- the instructions of a side ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct site site_of(const struct explore_access *a)
{
	return (struct site){.wants = explore_wants(a), .pc = a->pc};
}

static int by_site(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->wants != y->wants)
		return x->wants < y->wants ? -1 : 1;
	return (x->pc > y->pc) - (x->pc < y->pc);
}

static int compare_sites(const struct explore_access *a, const struct explore_access *b)
{
	const struct site x = site_of(a), y = site_of(b);

	return by_site(&x, &y);
}

/* Returns the instruction that makes the access. */
static const struct code *code_of(const struct side *s, const struct explore_access *a)
{
	const struct site site = site_of(a);
	size_t low = 0, high = s->code_count;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (by_site(&s->codes[middle].site, &site) <= 0)
			low = middle;
		else
			high = middle;
	}
	return &s->codes[low];
}

/* Returns the sites of the accesses in ascending order, or NULL if memory ran out. */
static struct site *sorted_sites(const struct explore_access *access, uint32_t count)
{
	struct site *sites = calloc(count + 1u, sizeof(*sites));

	for (uint32_t i = 0; sites && i < count; i++)
		sites[i] = site_of(&access[i]);
	if (sites)
		qsort(sites, count, sizeof(*sites), by_site);
	return sites;
}

static int find_codes(struct side *s, const struct pairs_input *in)
{
	struct site *sites = sorted_sites(s->access, s->count), *others = sorted_sites(in->baseline, in->baseline_count);

	s->codes = calloc(s->count + 1u, sizeof(*s->codes));
	for (uint32_t i = 0; sites && others && s->codes && i < s->count; i++) {
		if (i == 0 || by_site(&sites[i], &sites[i - 1]) != 0)
			s->codes[s->code_count++] = (struct code){
				.site = sites[i],
				.kind = in->code(in->ctx, sites[i].wants),
				.baseline = bsearch(&sites[i], others, in->baseline_count, sizeof(*others), by_site),
			};
		s->codes[s->code_count - 1].times++;
	}
	free(others);
	free(sites);
	return s->codes && sites && others ? 0 : -1;
}

/* ---- critical sections ---- */

static bool is_lock(enum pairs_code kind)
{
	return kind >= PAIRS_LOCK;
}

/*
 * Returns what the access does to a lock at its address. A locked access of a lock function takes the lock, unless the
 * function's name says that it releases locks. lock_sock_nested() takes a socket by a store to the socket's `owned`, which
 * release_sock() clears (net/core/sock.c). HELD_NOTHING is also the answer for a release: a release may be inlined in code that
 * is no lock function, so held_find() takes every other write to a taken lock for its release.
 */
static enum held_act act_of(void *opaque, const struct explore_access *a)
{
	const struct side *s = opaque;
	enum pairs_code kind = code_of(s, a)->kind;

	if (kind < PAIRS_LOCK || (s->in->allocated && s->in->allocated(s->in->ctx, a->gva)))
		return HELD_NOTHING;
	if (kind == PAIRS_OWNS)
		return a->size == OWNER_SIZE && !a->locked ? HELD_TAKES : HELD_NOTHING;
	if (!a->locked)
		return HELD_NOTHING;
	if (kind == PAIRS_LOCK_SHARED)
		return HELD_TAKES_SHARED;
	return kind == PAIRS_LOCK ? HELD_TAKES : HELD_NOTHING;
}

/*
 * Store in out[] the accesses by which this side releases locks after its access of the pair, so that the other side can come
 * to its own access. The first of them releases the common lock: the lock that both sides hold at their accesses, or the last
 * one to be released if there are several. If this side then still holds a lock that the other side takes before its access,
 * such as the spinlock within lock_sock(), the next one releases that lock, and so on. Returns their number.
 */
static unsigned find_releases(const struct side s[2], const struct pair *p, unsigned side,
			      const struct explore_access *out[EXPLORE_RELEASES_MAX])
{
	const struct held *own = &s[side].sections, *other = &s[!side].sections;
	uint32_t before = p->access[!side]->at;
	const struct held_section *next = held_common(own, p->access[side]->at, other, before);
	unsigned count = 0;

	while (next && next->release && count < EXPLORE_RELEASES_MAX) {
		out[count++] = next->release;
		next = held_waited_for(own, next->to, other, before, true);
	}
	return count;
}

/* ---- the words of locks ---- */

/* The addresses of all locks that either side takes, in ascending order. */
struct lock_words {
	uint64_t *gva;
	size_t count;
};

static int find_lock_words(const struct side s[2], struct lock_words *out)
{
	*out = (struct lock_words){.gva = calloc((size_t)s[0].sections.count + s[1].sections.count + 1, sizeof(*out->gva))};
	if (!out->gva)
		return -1;
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t n = 0; n < s[i].sections.count; n++)
			out->gva[out->count++] = s[i].sections.section[n].gva;
	qsort(out->gva, out->count, sizeof(*out->gva), by_number);
	return 0;
}

/*
 * Returns whether the access touches the word of a lock. Code that is no lock function can do so, too: the release or a test of
 * a lock may be inlined there.
 */
static bool is_of_lock(const struct lock_words *locks, const struct explore_access *a)
{
	size_t low = 0, high = locks->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (locks->gva[middle] < a->gva)
			low = middle + 1;
		else
			high = middle;
	}
	return low < locks->count && locks->gva[low] - a->gva < a->size;
}

/* ---- spots ---- */

static uint64_t granules_of(const struct explore_access *a)
{
	uint64_t n = a->size ? (a->gva % GRANULE + a->size - 1) / GRANULE + 1 : 0;

	return n < GRANULES_MAX ? n : GRANULES_MAX;
}

static int by_granule(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->granule != y->granule)
		return x->granule < y->granule ? -1 : 1;
	if (compare_sites(x->access, y->access) != 0)
		return compare_sites(x->access, y->access);
	return (x->access > y->access) - (x->access < y->access);
}

static int find_spots(struct side *s, const struct lock_words *locks)
{
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < s->count; i++)
		n += granules_of(&s->access[i]);
	s->spots = calloc(n + 1, sizeof(*s->spots));
	if (!s->spots)
		return -1;
	n = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct explore_access *a = &s->access[i];

		if (is_lock(code_of(s, a)->kind) || is_of_lock(locks, a))
			continue;
		for (uint64_t g = 0; g < granules_of(a); g++)
			s->spots[n++] = (struct spot){.granule = explore_place(a) / GRANULE + g, .access = a};
	}
	qsort(s->spots, n, sizeof(*s->spots), by_granule);
	for (size_t i = 0; i < n; i++)
		if (!kept || s->spots[kept - 1].granule != s->spots[i].granule ||
		    compare_sites(s->spots[kept - 1].access, s->spots[i].access) != 0)
			s->spots[kept++] = s->spots[i];
	s->spot_count = kept;
	return 0;
}

/* ---- pairs ---- */

static bool conflict(const struct explore_access *a, const struct explore_access *b)
{
	uint64_t x = explore_place(a), y = explore_place(b);
	bool overlap = x < y ? y - x < a->size : x - y < b->size;

	return overlap && (a->rw | b->rw) & INSN_WRITE && !(a->commutes && a->commutes == b->commutes);
}

static int add_pair(struct pairs *p, const struct pair *pair)
{
	struct pair *to = list_grow(&p->pair, &p->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = *pair;
	return 0;
}

/* Returns whether the side writes the granule, whose spots begin at `i`, before it reads any of it. */
static bool writes_first(const struct side *s, size_t i)
{
	const struct explore_access *first = s->spots[i].access;

	for (uint64_t granule = s->spots[i].granule; i < s->spot_count && s->spots[i].granule == granule; i++)
		if (s->spots[i].access < first)
			first = s->spots[i].access;
	return first->rw == INSN_WRITE;
}

/* Pair the spots of one granule: spots of side 0 from `a` on, and of side 1 from `b` on. */
static int join_granule(const struct pairs_input *in, const struct side s[2], size_t a, size_t b, struct pairs *out)
{
	uint64_t granule = s[0].spots[a].granule;
	bool lasting = in->lasting(in->ctx, s[0].spots[a].access->gva) || in->lasting(in->ctx, s[1].spots[b].access->gva);
	bool fresh = writes_first(&s[0], a) && writes_first(&s[1], b) && !lasting;

	for (; a < s[0].spot_count && s[0].spots[a].granule == granule; a++)
		for (size_t i = b; i < s[1].spot_count && s[1].spots[i].granule == granule; i++) {
			const struct pair pair = {{s[0].spots[a].access, s[1].spots[i].access}, fresh};

			if (conflict(pair.access[0], pair.access[1]) && add_pair(out, &pair) < 0)
				return -1;
		}
	return 0;
}

static size_t next_granule(const struct side *s, size_t i)
{
	uint64_t granule = s->spots[i].granule;

	while (i < s->spot_count && s->spots[i].granule == granule)
		i++;
	return i;
}

static int join(const struct pairs_input *in, const struct side s[2], struct pairs *out)
{
	size_t a = 0, b = 0;

	while (a < s[0].spot_count && b < s[1].spot_count) {
		uint64_t x = s[0].spots[a].granule, y = s[1].spots[b].granule;

		if (x == y && join_granule(in, s, a, b, out) < 0)
			return -1;
		if (x <= y)
			a = next_granule(&s[0], a);
		if (y <= x)
			b = next_granule(&s[1], b);
	}
	return 0;
}

/* ---- candidates ---- */

static int by_code(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	for (unsigned i = 0; i < 2; i++)
		if (compare_sites(x->access[i], y->access[i]) != 0)
			return compare_sites(x->access[i], y->access[i]);
	for (unsigned i = 0; i < 2; i++)
		if (x->access[i] != y->access[i])
			return x->access[i] < y->access[i] ? -1 : 1;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct explore_candidate *x = a, *y = b;
	int late = (int)explore_reasons(x) - (int)explore_reasons(y);
	uint64_t p = x->side[0].times * x->side[1].times, q = y->side[0].times * y->side[1].times;

	if (late)
		return late;
	if (x->baseline != y->baseline)
		return x->baseline < y->baseline ? -1 : 1;
	if (x->module != y->module)
		return x->module ? -1 : 1;
	if (p != q)
		return p < q ? -1 : 1;
	for (unsigned i = 0; i < 2; i++)
		if (x->side[i].access.at != y->side[i].access.at)
			return x->side[i].access.at < y->side[i].access.at ? -1 : 1;
	return by_number(&x->side[0].access.pc, &y->side[0].access.pc);
}

/*
 * Returns the schedules in which side `first` runs first and most likely blocks the other side, as bits 1 << enum
 * explore_schedule. There are two kinds. A flip holds `first` before its access until the other side has made its own access.
 * So a flip blocks if `first` then holds a lock that the other side takes before its access. A pause holds `first` after
 * `release` or, if `release` is NULL, after its access, until the other side's program has ended. So a pause blocks if `first`
 * then holds a lock that the other side takes anywhere. A lock that the other side takes as a reader does not count: the other
 * side took this lock when it ran alone, but in the trial it often does not need the lock. For example, a walk of a path takes
 * a directory's lock only for a name that is not in the cache, and `first` may have put the name there before it was held.
 */
static uint8_t find_blocked(const struct side s[2], const struct pair *p, unsigned first, const struct explore_access *release)
{
	const struct held *own = &s[first].sections, *other = &s[!first].sections;
	uint32_t at = p->access[first]->at;
	uint8_t blocked = 0;

	if (held_waited_for(own, at, other, p->access[!first]->at, false))
		blocked |= 1u << (first ? EXPLORE_FLIP_B : EXPLORE_FLIP_A);
	if (held_waited_for(own, release ? release->at : at, other, UINT32_MAX, false))
		blocked |= 1u << (first ? EXPLORE_PAUSE_B : EXPLORE_PAUSE_A);
	return blocked;
}

static void describe(const struct side s[2], const struct pair *p, struct explore_candidate *out)
{
	*out = (struct explore_candidate){.fresh = p->fresh, .after = -1};
	for (unsigned i = 0; i < 2; i++) {
		const struct code *code = code_of(&s[i], p->access[i]);
		const struct explore_access *release[EXPLORE_RELEASES_MAX];
		unsigned releases = find_releases(s, p, i, release);

		out->side[i] = (struct explore_side){.access = *p->access[i], .times = code->times};
		for (unsigned n = 0; n < releases; n++)
			out->side[i].release[n] = (struct explore_release){release[n]->pc, release[n]->gva};
		out->common_lock |= releases > 0;
		out->blocked |= find_blocked(s, p, i, releases ? release[releases - 1] : NULL);
		out->locked |= p->access[i]->locked;
		out->baseline += code->baseline;
		out->serves_all |= code->kind == PAIRS_SERVES_ALL || p->access[i]->service;
		out->module |= code->kind == PAIRS_MODULE;
		out->other_call |= p->access[i]->other_call;
	}
}

static struct explore_candidate *rank(const struct side s[2], struct pairs *pairs, size_t *count)
{
	struct explore_candidate *out = calloc(pairs->count + 1, sizeof(*out));

	*count = 0;
	if (!out)
		return NULL;
	qsort(pairs->pair, pairs->count, sizeof(*pairs->pair), by_code);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *p = &pairs->pair[i];

		if (i == 0 || compare_sites(p[-1].access[0], p->access[0]) != 0 ||
		    compare_sites(p[-1].access[1], p->access[1]) != 0)
			describe(s, p, &out[(*count)++]);
	}
	qsort(out, *count, sizeof(*out), by_rank);
	return out;
}

struct explore_candidate *pairs_find(const struct pairs_input *in, size_t *count)
{
	struct explore_candidate *out = NULL;
	struct side s[2] = {0};
	struct lock_words locks = {0};
	struct pairs pairs = {0};
	bool failed = false;

	*count = (size_t)-1;
	for (unsigned i = 0; i < 2 && !failed; i++) {
		s[i].in = in;
		s[i].access = in->access[i];
		s[i].count = in->count[i];
		failed = find_codes(&s[i], in) < 0 || held_find(&s[i].sections, s[i].access, s[i].count, act_of, &s[i]) < 0;
	}
	failed = failed || find_lock_words(s, &locks) < 0 || find_spots(&s[0], &locks) < 0 || find_spots(&s[1], &locks) < 0;
	if (!failed && join(in, s, &pairs) == 0) {
		*count = 0;
		if (pairs.count)
			out = rank(s, &pairs, count);
		if (pairs.count && !out)
			*count = (size_t)-1;
	}
	for (unsigned i = 0; i < 2; i++) {
		free(s[i].codes);
		held_free(&s[i].sections);
		free(s[i].spots);
	}
	free(locks.gva);
	free(pairs.pair);
	return out;
}
