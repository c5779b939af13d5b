/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of planted INT3s. The guest's text must come out of it as it went in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/detect/core/point.h"
#include "hv/detect/core/point_pages.h"
#include "tests/unit/target/fake_target.h"

#define CAPACITY 64u
#define TEXT 0xffffffff81000000ull
#define TEXT_GPA 0x400000ull
#define PLACES 256u /* instructions in the text, of four bytes each */

struct table {
	struct fake_target *ft;
	struct points points;
	uint8_t text[4 * PLACES]; /* as the guest wrote it */
};

static int setup(void **state)
{
	struct table *t = calloc(1, sizeof(*t));

	*state = t;
	if (!t)
		return -1;
	t->ft = fake_target_new(1, 4);
	if (!t->ft || points_init(&t->points, &t->ft->target, CAPACITY))
		return -1;
	for (unsigned i = 0; i < PLACES; i++)
		memcpy(t->text + 4 * i, (const uint8_t[]){0x48, 0x8b, 0x47, (uint8_t)i}, 4); /* mov i(%rdi), %rax */
	fake_write(t->ft, TEXT_GPA, t->text, sizeof(t->text));
	return 0;
}

static int teardown(void **state)
{
	struct table *t = *state;

	points_fini(&t->points);
	fake_target_free(t->ft);
	free(t);
	return 0;
}

static struct insn insn_at(const struct table *t, unsigned place)
{
	struct insn insn = {.addr = TEXT + 4 * place, .len = 4};

	memcpy(insn.bytes, t->text + 4 * place, 4);
	return insn;
}

static struct point *plant(struct table *t, unsigned place)
{
	struct insn insn = insn_at(t, place);

	return points_plant(&t->points, &insn, TEXT_GPA + 4 * place);
}

static uint8_t byte_at(struct table *t, unsigned place)
{
	return fake_byte(t->ft, TEXT_GPA + 4 * place);
}

static void test_plant_and_remove(void **state)
{
	struct table *t = *state;
	struct point *p = plant(t, 5);

	assert_non_null(p);
	assert_int_equal(byte_at(t, 5), X86_INT3);
	assert_ptr_equal(points_find(&t->points, TEXT + 20), p);
	assert_null(points_find(&t->points, TEXT + 21));
	assert_int_equal(p->gpa, TEXT_GPA + 20);
	assert_memory_equal(p->insn.bytes, t->text + 20, 4);
	assert_null(p->window);
	assert_null(plant(t, 5)); /* there is one already */
	assert_int_equal(t->points.count, 1);

	points_remove(&t->points, p);
	assert_int_equal(byte_at(t, 5), 0x48);
	assert_null(points_find(&t->points, TEXT + 20));
	assert_int_equal(t->points.count, 0);
}

/* The guest has patched its text since it was decoded. */
static void test_refuses_other_bytes(void **state)
{
	struct table *t = *state;

	for (unsigned i = 0; i < 4; i++) {
		uint8_t patched[4];

		memcpy(patched, t->text + 4 * i, 4);
		patched[i] ^= 0x55;
		fake_write(t->ft, TEXT_GPA + 4 * i, patched, 4);
		assert_null(plant(t, i));
		assert_int_equal(byte_at(t, i), patched[0]);
	}
	fake_write(t->ft, TEXT_GPA + 40, "\xcc", 1); /* an INT3 of its own */
	assert_null(plant(t, 10));
	assert_int_equal(t->points.count, 0);
}

static void test_refuses_what_is_not_ram(void **state)
{
	struct table *t = *state;
	struct insn insn = insn_at(t, 0);

	assert_null(points_plant(&t->points, &insn, FAKE_RAM));
	assert_null(points_plant(&t->points, &insn, ~0ull));
	assert_int_equal(t->points.count, 0);
}

/* The byte is not touched if it is not our INT3 any more, or not in our text. */
static void test_removes_only_its_own(void **state)
{
	struct table *t = *state;
	struct point *overwritten = plant(t, 1), *reused = plant(t, 2);

	fake_write(t->ft, TEXT_GPA + 4, "\xe9", 1);
	points_remove(&t->points, overwritten);
	assert_int_equal(byte_at(t, 1), 0xe9);

	/* The page was freed, and now holds data that happen to have an 0xcc there. */
	fake_write(t->ft, TEXT_GPA + 8, "\xcc\x01\x02\x03", 4);
	points_remove(&t->points, reused);
	assert_int_equal(byte_at(t, 2), 0xcc);
	assert_int_equal(t->points.count, 0);
}

/* The point is the last byte of RAM and of a page. The detector reads nothing after it. */
static void test_last_byte_of_page(void **state)
{
	struct table *t = *state;
	struct insn insn = insn_at(t, 0);
	struct point *p;

	insn.addr = TEXT + 0xfff;
	fake_write(t->ft, FAKE_RAM - 1, insn.bytes, 1);
	p = points_plant(&t->points, &insn, FAKE_RAM - 1);
	assert_non_null(p);
	assert_int_equal(fake_byte(t->ft, FAKE_RAM - 1), X86_INT3);
	points_remove(&t->points, p);
	assert_int_equal(fake_byte(t->ft, FAKE_RAM - 1), 0x48);
}

static void test_full(void **state)
{
	struct table *t = *state;

	for (unsigned i = 0; i < CAPACITY; i++)
		assert_non_null(plant(t, i));
	assert_null(plant(t, CAPACITY));
	assert_int_equal(byte_at(t, CAPACITY), 0x48);
	points_remove(&t->points, points_find(&t->points, TEXT + 12));
	assert_non_null(plant(t, CAPACITY));
}

static void test_overlay(void **state)
{
	struct table *t = *state;
	uint8_t copy[16];

	plant(t, 1);
	plant(t, 3);
	fake_write(t->ft, TEXT_GPA + 8, "\xcc", 1); /* the guest's own stays */
	assert_int_equal(target_read_phys(&t->ft->target, TEXT_GPA, copy, sizeof(copy)), 0);
	points_overlay(&t->points, TEXT, copy, sizeof(copy));
	assert_memory_equal(copy, t->text, 8);
	assert_int_equal(copy[8], 0xcc);
	assert_memory_equal(copy + 9, t->text + 9, 7);
	/* The copy begins in the middle, and none of its INT3s is ours. */
	memset(copy, 0xcc, sizeof(copy));
	points_overlay(&t->points, TEXT + 13, copy, sizeof(copy));
	for (unsigned i = 0; i < sizeof(copy); i++)
		assert_int_equal(copy[i], 0xcc);
}

static void check_model(struct table *t, const bool *model)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		const struct point *p = points_find(&t->points, TEXT + 4 * i);

		assert_int_equal(p != NULL, model[i]);
		assert_int_equal(byte_at(t, i), model[i] ? X86_INT3 : 0x48);
		n += model[i];
		if (p) {
			assert_int_equal(p->addr, TEXT + 4 * i);
			assert_int_equal(t->points.armed[p->position], p - t->points.slots);
		}
	}
	assert_int_equal(t->points.count, n);
}

/* Plant and remove at random, and compare with an array of flags. The hash has runs of collisions to close up. */
static void test_against_model(void **state)
{
	struct table *t = *state;
	struct rng rng = {.state = 42};
	bool model[PLACES] = {false};

	for (unsigned step = 0; step < 60000; step++) {
		unsigned place = (unsigned)rng_below(&rng, PLACES);

		if (model[place]) {
			points_remove(&t->points, points_find(&t->points, TEXT + 4 * place));
			model[place] = false;
		} else {
			bool room = t->points.count < CAPACITY;

			assert_int_equal(plant(t, place) != NULL, room);
			model[place] = room;
		}
		if (step % 97 == 0)
			check_model(t, model);
	}
	check_model(t, model);
	while (t->points.count)
		points_remove(&t->points, &t->points.slots[t->points.armed[rng_below(&rng, t->points.count)]]);
	assert_memory_equal(t->ft->ram + TEXT_GPA, t->text, sizeof(t->text));
}

/* Sample points may be on a few pages, and on all that have a hook. */
static void test_pages(void **state)
{
	const uint64_t page = X86_PAGE_SIZE;
	struct table *t = *state;
	struct point *first = plant(t, 1), *hook = plant(t, 2), *second = plant(t, 3);

	/* The text of this test is one page: the points' addresses alone count here. */
	first->addr = page;
	hook->addr = 2 * page;
	hook->hook = 1;
	second->addr = 3 * page;
	assert_true(point_page_free(&t->points, page + 8, 2));
	assert_true(point_page_free(&t->points, 2 * page + 8, 2));
	assert_true(point_page_free(&t->points, 3 * page - 1, 2));
	assert_true(point_page_free(&t->points, 3 * page + 8, 2));
	assert_false(point_page_free(&t->points, 4 * page, 2));
	assert_true(point_page_free(&t->points, 4 * page, 3));
	/* A sample point beside a hook takes no page. */
	second->addr = 2 * page + 16;
	assert_true(point_page_free(&t->points, 4 * page, 2));
	assert_false(point_page_free(&t->points, 4 * page, 1));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_plant_and_remove),
		T(test_refuses_other_bytes),
		T(test_refuses_what_is_not_ram),
		T(test_removes_only_its_own),
		T(test_last_byte_of_page),
		T(test_full),
		T(test_overlay),
		T(test_against_model),
		T(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
