// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether data that critical sections access change later (fates.h). */
#include "hv/detect/locks/fates.h"

#include <string.h>

#define WORD 8u
/* An access that was seen in this many cases is no longer armed: the pruner's rules need fewer. */
#define SEEN_ENOUGH 512u

/* Returns the access, or NULL if it is not followed. */
static struct followed *find(struct fates *f, uint64_t pc, uint64_t first, uint64_t second)
{
	for (unsigned i = 0; i < f->count; i++) {
		struct section_fate *fate = &f->list[i].fate;

		if (fate->pc == pc && fate->first == first && fate->second == second)
			return &f->list[i];
	}
	return NULL;
}

/* Returns an entry to fill in: a new one or, if there is no room and it is for a suspicion, one that belongs to none. Or NULL.
 */
static struct followed *room(struct fates *f, bool suspected)
{
	if (f->count < SECTION_FATES_MAX)
		return &f->list[f->count++];
	for (unsigned i = 0; suspected && i < f->count; i++) {
		if (!f->list[i].suspected)
			return &f->list[i];
	}
	return NULL;
}

static bool same_test(const struct lock_test *a, const struct lock_test *b)
{
	return a->known == b->known && a->mask == b->mask && a->value == b->value;
}

/* Drop the cases of this access. */
static void drop_cases(struct fates *f, const struct followed *of)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		if (&f->list[f->cases[i].followed] == of)
			f->cases[i].stage = FATE_FREE;
	}
}

void fates_follow(struct fates *f, uint64_t pc, uint64_t first, uint64_t second, const struct lock_test *test, bool suspected)
{
	struct followed *known = find(f, pc, first, second), *of = known ? known : room(f, suspected);

	if (!of)
		return;
	/* Other text may be there by now, which looks for another value. */
	if (!known || !same_test(&of->test, test)) {
		drop_cases(f, of);
		*of = (struct followed){.fate = {.pc = pc, .first = first, .second = second}, .test = *test};
	}
	of->suspected |= suspected;
	of->gone = false;
}

bool fates_has(const struct fates *f, uint64_t pc)
{
	for (unsigned i = 0; i < f->count; i++) {
		if (f->list[i].fate.pc == pc)
			return true;
	}
	return false;
}

uint64_t fates_site(struct fates *f)
{
	for (unsigned i = 0; i < f->count; i++) {
		const struct followed *of = &f->list[f->turn++ % f->count];

		if (!of->gone && of->fate.seen + of->fate.missed[0] + of->fate.missed[1] < SEEN_ENOUGH)
			return of->fate.pc;
	}
	return 0;
}

/* Read the datum of the case, and return the bits that have changed since it was last read. Drops the case on failure. */
static uint64_t changes(struct fates *f, struct fate_case *c)
{
	uint64_t word, before = c->value;

	if (!f->read(f->ctx, c->word, &word)) {
		c->stage = FATE_FREE;
		return 0;
	}
	c->value = word & c->bits;
	return (before ^ c->value) >> c->shift;
}

static void open_case(struct fates *f, unsigned followed, const struct lock_who *who, const struct section_call *section,
		      uint64_t gva, uint32_t size)
{
	struct fate_case *c = NULL;
	bool again = false;

	for (unsigned i = 0; !again && i < FATE_CASES_MAX; i++) {
		c = &f->cases[i];
		again = c->stage && c->followed == followed && lock_who_same(&c->who, who);
	}
	for (unsigned i = 0; !again && i < FATE_CASES_MAX; i++) {
		struct fate_case *other = &f->cases[i];

		if (!c || !other->stage || (c->stage && other->taken < c->taken))
			c = other;
	}
	*c = (struct fate_case){.stage = FATE_FIRST,
				.followed = followed,
				.who = *who,
				.lock = section->gva,
				.taken = section->number,
				.word = gva / WORD * WORD,
				.shift = (unsigned)(gva % WORD) * 8};
	c->bits = (size == WORD ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1) << c->shift;
	changes(f, c);
	c->equal = (c->value >> c->shift & f->list[followed].test.mask) == f->list[followed].test.value;
}

void fates_access(struct fates *f, const struct lock_who *who, uint64_t pc, const struct section_call *section, uint64_t gva,
		  uint32_t size)
{
	if (!size || gva % WORD + size > WORD)
		return;
	for (unsigned i = 0; i < f->count; i++) {
		if (f->list[i].fate.pc == pc && f->list[i].fate.first == section->taken_at)
			open_case(f, i, who, section, gva, size);
	}
}

static void end_case(struct fates *f, struct fate_case *c, bool acted)
{
	struct section_fate *fate = &f->list[c->followed].fate;

	fate->seen++;
	fate->own += c->own_bits != 0;
	fate->own_bits |= c->own_bits;
	fate->moved += c->moved_bits != 0;
	fate->moved_bits |= c->moved_bits;
	fate->acted += acted && !c->moved_bits;
	c->stage = FATE_FREE;
}

/* A call that begins the second section: of the case's activation, if the case's first section is one of `made`. */
static void enter_second(struct fates *f, struct fate_case *c, uint64_t lock, const uint64_t *made, unsigned n)
{
	struct followed *of = &f->list[c->followed];
	unsigned i = 0;

	while (i < n && made[i] != c->taken)
		i++;
	c->stage = i < n ? FATE_SECOND : FATE_FREE;
	if (i == n)
		return;
	c->lock = lock;
	of->fate.reached[c->equal] += of->test.known;
	c->moved_bits = changes(f, c);
}

void fates_again(struct fates *f, const struct lock_who *who, const struct section_call *call, struct sections *s)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		struct fate_case *c = &f->cases[i];
		struct followed *of = &f->list[c->followed];

		if (c->stage != FATE_GAP || call->taken_at != of->fate.first || !lock_who_same(&c->who, who))
			continue;
		if (!sections_remembers(s, who, c->taken))
			of->fate.missed[c->equal] += of->test.known;
		c->stage = FATE_FREE;
	}
}

void fates_take(struct fates *f, const struct lock_who *who, const struct section_call *call, const uint64_t *made, unsigned n)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		struct fate_case *c = &f->cases[i];

		if (c->stage == FATE_GAP && call->taken_at == f->list[c->followed].fate.second && lock_who_same(&c->who, who))
			enter_second(f, c, call->gva, made, n);
	}
}

void fates_give(struct fates *f, const struct lock_who *who, uint64_t gva)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		struct fate_case *c = &f->cases[i];
		uint64_t bits;

		if (c->stage == FATE_FREE || c->stage == FATE_GAP || c->lock != gva || !lock_who_same(&c->who, who))
			continue;
		bits = changes(f, c);
		if (c->stage == FATE_FIRST) {
			c->own_bits = bits;
			c->stage = FATE_GAP;
			if (!f->list[c->followed].fate.second)
				end_case(f, c, false);
		} else if (c->stage == FATE_SECOND) {
			end_case(f, c, bits);
		}
	}
}

void fates_object_ends(struct fates *f, uint64_t gva, uint32_t bytes)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		if (f->cases[i].word - gva / WORD * WORD < bytes)
			f->cases[i].stage = FATE_FREE;
	}
}

void fates_hole(struct fates *f)
{
	memset(f->cases, 0, sizeof(f->cases));
}

void fates_text_gone(struct fates *f, uint64_t base, uint64_t size)
{
	for (unsigned i = 0; i < f->count; i++)
		f->list[i].gone |= f->list[i].fate.pc - base < size;
	fates_hole(f);
}
