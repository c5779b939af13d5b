// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the list of a guest's modules, which may change or have any content meanwhile. */
#include "hv/base/rng.h"
#include "tests/unit/symbols/modules_world.h"

/* ---- valid lists ---- */

/* The made-up struct module has either mem[] or core_layout, at the same offsets. */
static const struct list_case {
	const char *shows;
	bool with_mem;
} list_cases[] = {
	{"list: with core_layout", false},
	{"list: with mem[]", true},
};

/* The state is the row. */
static void test_list(void **state)
{
	const struct list_case *c = *state;
	struct world *w = make_world(c->with_mem);
	struct module_info *list;
	struct err err = {0};
	size_t n;

	if (modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err))
		fail_msg("%s", err.text);
	assert_int_equal(n, 3);
	assert_string_equal(list[0].name, "third");
	assert_true(list[0].addr == HEAP && list[0].text == TEXT && list[0].text_size == 0x2000);
	assert_true(list[0].noinstr == TEXT + 0x100 && list[0].noinstr_size == 0x40);
	assert_int_equal(list[0].state, MODULE_LIVE);
	assert_int_equal(list[0].init_text_size, 0);
	assert_int_equal(list[1].state, MODULE_COMING);
	assert_true(list[1].init_text == TEXT + 0x80000 && list[1].init_text_size == 0x1000);
	assert_string_equal(list[2].name, "first");
	assert_int_equal(list[2].build_id_len, 20);
	assert_memory_equal(list[2].build_id, "ABCDEFGHIJKLMNOPQRST", 20);
	free(list);
	free_world(w);
}

static void test_empty_list(void **state)
{
	struct world *w = make_world(true);
	struct module_info *list;
	size_t n = 9;

	(void)state;
	put(w->head, HEAD);
	put(w->head + 8, HEAD);
	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, NULL), 0);
	assert_int_equal(n, 0);
	assert_null(list);
	free_world(w);
}

static void test_wild_text(void **state)
{
	/* A module with an impossible text address is listed without text. */
	struct world *w = make_world(true);
	struct module_info *list;
	size_t n;

	(void)state;
	put(module_at(w, 1) + TEXT_BASE, 0x1000);
	put(module_at(w, 2) + TEXT_LEN, 0xffffffff);
	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_true(list[1].text == 0 && list[1].text_size == 0);
	assert_true(list[2].text == 0 && list[2].text_size == 0);
	free(list);
	free_world(w);
}

/* ---- lists that are refused ---- */

static void refuse_list(struct world *w)
{
	struct module_info *list;
	struct err err = {0};
	size_t n;

	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_null(list);
	free_world(w);
}

static const struct corrupt_case {
	const char *shows;
	size_t at;
	uint64_t value;
} corrupt_cases[] = {
	{"corrupt: an entry that points to itself", LIST, HEAP + LIST},
	{"corrupt: an entry that points to 0", LIST, 0},
	{"corrupt: an entry that points to user space", LIST, 0x41414141},
	{"corrupt: an entry that points between words", LIST, HEAP + LIST + 1},
	{"corrupt: an entry with LIST_POISON2 behind it", LIST + 8, 0xdead000000000122ull},
	{"corrupt: no name", NAME, 0},
	{"corrupt: a name that is none", NAME, 0x5b1b5b1b},
	{"corrupt: a state that is none", STATE, 77},
	{"corrupt: noinstr text outside of the text", NOINSTR, TEXT + 0x10000},
};

/* The state is the row. */
static void test_corrupt_list(void **state)
{
	const struct corrupt_case *c = *state;
	struct world *w = make_world(true);

	put(w->heap + c->at, c->value);
	refuse_list(w);
}

/* Every link of the circle is consistent. */
static void test_circle_that_does_not_come_back_to_the_head(void **state)
{
	struct world *w = make_world(true);

	(void)state;
	put(module_at(w, 2) + LIST, list_gva(1));
	refuse_list(w);
}

static void test_list_of_which_only_the_head_can_be_read(void **state)
{
	struct world *w = make_world(true);

	(void)state;
	w->mem.count = 1;
	refuse_list(w);
}

/* ---- lists that change ---- */

/* While the reader reads the first module, remove the second one as list_del_rcu() does, once. */
static void remove_second(struct fake_memory *mem, uint64_t gva)
{
	struct world *w = mem->user;

	if (gva != HEAP || mem->reads < 3)
		return;
	put(module_at(w, 0) + LIST, list_gva(2));
	put(module_at(w, 2) + LIST + 8, list_gva(0));
	put(module_at(w, 1) + LIST + 8, 0xdead000000000122ull);
}

static void test_removed_meanwhile(void **state)
{
	struct world *w = make_world(true);
	struct module_info *list;
	size_t n;

	(void)state;
	w->mem.on_read = remove_second;
	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].name, "third");
	assert_string_equal(list[1].name, "first");
	free(list);
	free_world(w);
}

/* The reader refuses a list that changes with every read of its head. */
static void flip_state(struct fake_memory *mem, uint64_t gva)
{
	struct world *w = mem->user;

	if (gva == HEAD)
		module_at(w, 2)[STATE] = (module_at(w, 2)[STATE] + 1) % 3;
}

static void test_never_still(void **state)
{
	struct world *w = make_world(true);

	(void)state;
	w->mem.on_read = flip_state;
	refuse_list(w);
}

/* ---- stamps, which tell whether a list has changed ---- */

static uint64_t stamp_of(struct world *w)
{
	uint64_t stamp;

	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &stamp), 0);
	return stamp;
}

static void test_stamp_of_the_same_list(void **state)
{
	struct world *w = make_world(true);
	uint64_t first = stamp_of(w);

	(void)state;
	assert_true(stamp_of(w) == first);
	free_world(w);
}

static void test_stamp_of_another_state(void **state)
{
	struct world *w = make_world(true);
	uint64_t first = stamp_of(w);

	(void)state;
	put(module_at(w, 1) + STATE, MODULE_LIVE);
	assert_true(stamp_of(w) != first);
	free_world(w);
}

static void test_stamp_without_a_module(void **state)
{
	struct world *w = make_world(true);
	uint64_t first = stamp_of(w);

	(void)state;
	remove_second(&(struct fake_memory){.user = w, .reads = 3}, HEAP);
	assert_true(stamp_of(w) != first);
	free_world(w);
}

static void test_stamp_of_a_corrupt_list(void **state)
{
	struct world *w = make_world(true);
	uint64_t stamp;

	(void)state;
	put(module_at(w, 0) + LIST + 8, 0);
	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &stamp), -1);
	free_world(w);
}

/* ---- any list ---- */

/* Structures may be overwritten before they are read: the reader returns a valid answer or an error. */
static void test_mutated(void **state)
{
	struct rng rng = {.state = 5};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct world *w = make_world(i % 2);
		struct module_info *list;
		struct err err = {0};
		size_t n;

		for (uint64_t k = rng_below(&rng, 4); k < 5; k++) {
			put(w->heap + rng_below(&rng, sizeof(w->heap) - 8), rng_next(&rng) >> rng_below(&rng, 64));
			put(w->notes + rng_below(&rng, sizeof(w->notes) - 8), rng_next(&rng) >> rng_below(&rng, 64));
			put(w->tables.bytes + rng_below(&rng, 400), rng_next(&rng) >> rng_below(&rng, 64));
		}
		if (modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err)) {
			assert_int_equal(err.code, EXIT_INPUT);
			n = 0;
		}
		for (size_t m = 0; m < n; m++) {
			assert_true(strlen(list[m].name) > 0 && list[m].build_id_len <= sizeof(list[m].build_id));
			symtab_free(module_symbols(&w->reader, w->btf, &list[m], NULL));
		}
		free(list);
		free_world(w);
	}
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(test_empty_list),
		cmocka_unit_test(test_wild_text),
		cmocka_unit_test(test_circle_that_does_not_come_back_to_the_head),
		cmocka_unit_test(test_list_of_which_only_the_head_can_be_read),
		cmocka_unit_test(test_removed_meanwhile),
		cmocka_unit_test(test_never_still),
		cmocka_unit_test(test_stamp_of_the_same_list),
		cmocka_unit_test(test_stamp_of_another_state),
		cmocka_unit_test(test_stamp_without_a_module),
		cmocka_unit_test(test_stamp_of_a_corrupt_list),
		cmocka_unit_test(test_mutated),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(list_cases) + COUNT(corrupt_cases)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < COUNT(list_cases); i++)
		*next++ = ROW(test_list, &list_cases[i]);
	for (size_t i = 0; i < COUNT(corrupt_cases); i++)
		*next++ = ROW(test_corrupt_list, &corrupt_cases[i]);
	return cmocka_run_group_tests_name("symbols: modules", tests, NULL, NULL);
}
