// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether data that critical sections access change later (fates.h). */
#include "hv/detect/locks/fates.h"

#include <string.h>

#define WORD 8u
/* An access that was seen in this many cases is no longer armed: the pruner's rules need fewer. */
#define SEEN_ENOUGH 512u

static bool is_followed(const struct fates *f, uint64_t pc, uint64_t first, uint64_t second, unsigned *at)
{
	const struct section_fate *found = section_fate_find(f->list, f->count, pc, first, second);

	*at = found ? (unsigned)(found - f->list) : f->count;
	return found;
}

/* Returns the index of a fate to replace: one that belongs to no suspicion. SECTION_FATES_MAX: there is none. */
static unsigned replaceable(const struct fates *f)
{
	unsigned at = 0;

	while (at < f->count && f->suspected[at])
		at++;
	return at < f->count ? at : SECTION_FATES_MAX;
}

static bool same_test(const struct lock_test *a, const struct lock_test *b)
{
	return a->known == b->known && a->mask == b->mask && a->value == b->value;
}

/* Drop the cases of this fate. */
static void drop_cases(struct fates *f, unsigned fate)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		if (f->cases[i].fate == fate)
			f->cases[i].stage = FATE_FREE;
	}
}

void fates_follow(struct fates *f, uint64_t pc, uint64_t first, uint64_t second, const struct lock_test *test, bool suspected)
{
	unsigned at;
	bool known = is_followed(f, pc, first, second, &at);

	if (!known && f->count == SECTION_FATES_MAX)
		at = suspected ? replaceable(f) : SECTION_FATES_MAX;
	if (at == SECTION_FATES_MAX)
		return;
	/* Other text may be there by now, which looks for another value. */
	if (!known || !same_test(&f->tests[at], test)) {
		drop_cases(f, at);
		f->count += at == f->count;
		f->list[at] = (struct section_fate){.pc = pc, .first = first, .second = second};
		f->tests[at] = *test;
		f->suspected[at] = false;
	}
	f->suspected[at] |= suspected;
	f->gone[at] = false;
}

bool fates_has(const struct fates *f, uint64_t pc)
{
	for (unsigned i = 0; i < f->count; i++) {
		if (f->list[i].pc == pc)
			return true;
	}
	return false;
}

uint64_t fates_site(struct fates *f)
{
	for (unsigned i = 0; i < f->count; i++) {
		unsigned at = f->turn++ % f->count;

		if (!f->gone[at] && f->list[at].seen + f->list[at].missed[0] + f->list[at].missed[1] < SEEN_ENOUGH)
			return f->list[at].pc;
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

static void open_case(struct fates *f, unsigned fate, const struct lock_who *who, const struct section_call *section,
		      uint64_t gva, uint32_t size)
{
	struct fate_case *c = NULL;
	bool again = false;

	for (unsigned i = 0; !again && i < FATE_CASES_MAX; i++) {
		c = &f->cases[i];
		again = c->stage && c->fate == fate && lock_who_same(&c->who, who);
	}
	for (unsigned i = 0; !again && i < FATE_CASES_MAX; i++) {
		struct fate_case *other = &f->cases[i];

		if (!c || !other->stage || (c->stage && other->taken < c->taken))
			c = other;
	}
	*c = (struct fate_case){.stage = FATE_FIRST,
				.fate = fate,
				.who = *who,
				.lock = section->gva,
				.taken = section->number,
				.word = gva / WORD * WORD,
				.shift = (unsigned)(gva % WORD) * 8};
	c->bits = (size == WORD ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1) << c->shift;
	changes(f, c);
	c->equal = (c->value >> c->shift & f->tests[fate].mask) == f->tests[fate].value;
}

void fates_access(struct fates *f, const struct lock_who *who, uint64_t pc, const struct section_call *section, uint64_t gva,
		  uint32_t size)
{
	if (!size || gva % WORD + size > WORD)
		return;
	for (unsigned i = 0; i < f->count; i++) {
		if (f->list[i].pc == pc && f->list[i].first == section->taken_at)
			open_case(f, i, who, section, gva, size);
	}
}

static void end_case(struct fates *f, struct fate_case *c, bool acted)
{
	struct section_fate *fate = &f->list[c->fate];

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
	unsigned i = 0;

	while (i < n && made[i] != c->taken)
		i++;
	c->stage = i < n ? FATE_SECOND : FATE_FREE;
	if (i == n)
		return;
	c->lock = lock;
	f->list[c->fate].reached[c->equal] += f->tests[c->fate].known;
	c->moved_bits = changes(f, c);
}

void fates_again(struct fates *f, const struct lock_who *who, const struct section_call *call, struct sections *s)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		struct fate_case *c = &f->cases[i];
		struct section_fate *fate = &f->list[c->fate];

		if (c->stage != FATE_GAP || call->taken_at != fate->first || !lock_who_same(&c->who, who))
			continue;
		if (!sections_remembers(s, who, c->taken))
			fate->missed[c->equal] += f->tests[c->fate].known;
		c->stage = FATE_FREE;
	}
}

void fates_take(struct fates *f, const struct lock_who *who, const struct section_call *call, const uint64_t *made, unsigned n)
{
	for (unsigned i = 0; i < FATE_CASES_MAX; i++) {
		struct fate_case *c = &f->cases[i];

		if (c->stage == FATE_GAP && call->taken_at == f->list[c->fate].second && lock_who_same(&c->who, who))
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
			if (!f->list[c->fate].second)
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
		f->gone[i] |= f->list[i].pc - base < size;
	fates_hole(f);
}
