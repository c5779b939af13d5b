/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical sections of random recordings: each search finds what a look at all sections finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/explore/held.h"

#define ACCESSES 3000u /* more than 1000 sections: several elements of held.open */
#define LOCKS 8u
#define MANY_LOCKS 500u /* more than are kept open */
#define QUESTIONS 20u
#define SEEDS 5u

struct recording {
	struct explore_access access[ACCESSES];
	struct held held;
};

/* The size of an access says what it does. */
static enum held_act act(void *ctx, const struct explore_access *a)
{
	(void)ctx;
	return (enum held_act)a->size;
}

static void make(struct recording *r, struct rng *rng, unsigned locks)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < ACCESSES; i++) {
		at += 1 + (uint32_t)rng_below(rng, 3);
		r->access[i] = (struct explore_access){.gva = 0x1000 + 8 * rng_below(rng, locks),
						       .at = at,
						       .size = (uint32_t)rng_below(rng, 3),
						       .rw = rng_below(rng, 8) ? INSN_WRITE : INSN_READ};
	}
	assert_int_equal(held_find(&r->held, r->access, ACCESSES, act, NULL), 0);
	assert_true(r->held.count > 1000);
}

static const struct held_section *all_common(const struct held *own, uint32_t at, const struct held *other, uint32_t other_at)
{
	const struct held_section *last = NULL;

	for (uint32_t i = 0; i < own->count; i++)
		for (uint32_t n = 0; n < other->count; n++) {
			const struct held_section *a = &own->section[i], *b = &other->section[n];

			if (a->gva == b->gva && a->from <= at && at <= a->to && b->from <= other_at && other_at <= b->to &&
			    !(a->shared && b->shared) && (!last || a->to > last->to))
				last = a;
		}
	return last;
}

static const struct held_section *all_waited_for(const struct held *own, uint32_t at, const struct held *other, uint32_t before,
						 bool readers)
{
	const struct held_section *last = NULL;

	for (uint32_t i = 0; i < own->count; i++)
		for (uint32_t n = 0; n < other->count; n++) {
			const struct held_section *a = &own->section[i], *b = &other->section[n];

			if (b->shared && (a->shared || !readers))
				continue;
			if (a->gva == b->gva && a->from <= at && at < a->to && b->from < before && (!last || a->to > last->to))
				last = a;
		}
	return last;
}

/* How many of the answers were yes. */
struct yes {
	unsigned common, blocked;
};

static void compare(unsigned locks, uint64_t seed, struct yes *yes)
{
	static struct recording r[2];
	struct rng rng = {seed};

	for (unsigned side = 0; side < 2; side++)
		make(&r[side], &rng, locks);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		uint32_t at = (uint32_t)rng_below(&rng, 2 * ACCESSES), other = (uint32_t)rng_below(&rng, 2 * ACCESSES);
		const struct held_section *last = held_common(&r[0].held, at, &r[1].held, other);

		assert_ptr_equal(last, all_common(&r[0].held, at, &r[1].held, other));
		yes->common += last != NULL;
		/* Mostly, a lock that is needed early is not. */
		other /= 1 + (uint32_t)rng_below(&rng, 1000);
		last = held_waited_for(&r[0].held, at, &r[1].held, other, i % 2);
		assert_ptr_equal(last, all_waited_for(&r[0].held, at, &r[1].held, other, i % 2));
		yes->blocked += last != NULL;
	}
	for (unsigned side = 0; side < 2; side++)
		held_free(&r[side].held);
}

static void searches_find_what_is_there(void **state)
{
	struct yes yes = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		compare(LOCKS, seed, &yes);
		compare(MANY_LOCKS, seed, &yes);
	}
	assert_in_range(yes.common, 1, 2 * SEEDS * QUESTIONS - 1);
	assert_in_range(yes.blocked, 1, 2 * SEEDS * QUESTIONS - 1);
}

static void a_side_without_sections_holds_nothing(void **state)
{
	const struct explore_access none[] = {{.gva = 0x1000, .at = 1, .size = HELD_NOTHING, .rw = INSN_WRITE}};
	struct held h;

	(void)state;
	assert_int_equal(held_find(&h, none, 1, act, NULL), 0);
	assert_null(held_common(&h, 1, &h, 1));
	assert_null(held_waited_for(&h, 1, &h, UINT32_MAX, true));
	held_free(&h);
	assert_int_equal(held_find(&h, none, 0, act, NULL), 0);
	assert_null(held_waited_for(&h, 0, &h, UINT32_MAX, true));
	held_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_find_what_is_there),
		cmocka_unit_test(a_side_without_sections_holds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
