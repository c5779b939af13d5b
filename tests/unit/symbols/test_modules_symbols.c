// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbols and the sections of a module. */
#include "tests/unit/symbols/modules_world.h"

/* ---- symbols ---- */

static void test_symbols(void **state)
{
	struct world *w = make_world(true);
	struct module_info *list;
	struct symbol sym;
	struct symtab *st;
	struct err err = {0};
	size_t n;

	(void)state;
	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err), 0);
	st = module_symbols(&w->reader, w->btf, &list[0], &err);
	if (!st)
		fail_msg("%s", err.text);
	/*
	 * The table leaves out undefined symbols, marks that are no data, and a symbol that would put a line break into a
	 * report.
	 */
	assert_int_equal(symtab_count(st), 4);
	assert_int_equal(symtab_at(st, TEXT + 0x3200, &sym), -1);
	assert_int_equal(symtab_at(st, 400, &sym), -1);
	assert_int_equal(symtab_at(st, TEXT + 0x800000, &sym), 0);
	assert_int_equal(symtab_find(st, "race_reader", &sym), 0);
	assert_true(sym.addr == TEXT + 48 && sym.size == 40 && sym.type == 't');
	assert_int_equal(symtab_find(st, "shared", &sym), 0);
	assert_int_equal(sym.type, 'b');
	symtab_free(st);
	free(list);
	free_world(w);
}

/* The memory of the symbols may have any content when the reader gets there. */
static const struct gone_case {
	const char *shows;
	size_t at;
	uint64_t value;
} gone_cases[] = {
	{"symbols gone: the table at 0", 0, 0},
	{"symbols gone: the table where nothing is mapped", 0, TABLES + 100000},
	{"symbols gone: none", 8, 0},
	{"symbols gone: two million", 8, 1u << 21},
	{"symbols gone: more than there are", 8, 5000},
	{"symbols gone: names in user space", 16, 0x1234},
	{"symbols gone: types at the end of addresses", 24, UINT64_MAX},
};

/* The state is the row. */
static void test_symbols_gone(void **state)
{
	const struct gone_case *c = *state;
	struct world *w = make_world(true);
	struct module_info *list;
	struct err err = {0};
	size_t n;

	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err), 0);
	put(w->tables.bytes + c->at, c->value);
	assert_null(module_symbols(&w->reader, w->btf, &list[0], &err));
	assert_int_equal(err.code, EXIT_INPUT);
	free(list);
	free_world(w);
}

/* ---- sections ---- */

static unsigned sections_of_first(struct world *w, struct image_section *out, unsigned max)
{
	struct module_info *list;
	unsigned found;
	size_t n;

	assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, NULL), 0);
	found = module_sections(&w->reader, w->btf, &list[0], out, max);
	free(list);
	return found;
}

static const struct layout_case {
	const char *shows;
	bool newest;
} layout_cases[] = {
	{"sections: before 6.14", false},
	{"sections: since 6.14", true},
};

/* The state is the row. */
static void test_sections(void **state)
{
	const struct layout_case *c = *state;
	struct world *w = make_world(c->newest);
	struct image_section out[8];

	assert_int_equal(sections_of_first(w, out, 8), 2);
	assert_string_equal(out[0].name, ".text");
	assert_true(out[0].addr == TEXT);
	assert_string_equal(out[1].name, ".data");
	assert_true(out[1].addr == TEXT + 0x1000);
	free_world(w);
}

static const struct layout_case room_cases[] = {
	{"room for one section: before 6.14", false},
	{"room for one section: since 6.14", true},
};

/* The state is the row. */
static void test_room_for_one_section(void **state)
{
	const struct layout_case *c = *state;
	struct world *w = make_world(c->newest);
	struct image_section out[1];

	assert_int_equal(sections_of_first(w, out, 1), 1);
	free_world(w);
}

/* An invalid name or address ends the list, and the reader takes nothing after it. */
static const struct wild_case {
	const char *shows;
	size_t at;
	uint64_t value;
	unsigned found;
} wild_cases[] = {
	{"wild sections: no name", 16, 0, 0},
	{"wild sections: a name that is not mapped", 16, 0xffff888009000000ull, 0},
	{"wild sections: no kernel address", 16 + 48, 0x1234, 0},
	{"wild sections: a name with a line break", 512 + 16, 0x0a61746164ull, 1},
	{"wild sections: a count that is too large", 8, UINT64_MAX, 3},
};

/* The state is the row. */
static void test_wild_sections(void **state)
{
	const struct wild_case *c = *state;
	struct world *w = make_world(false);
	struct image_section out[8];

	put(w->sections + c->at, c->value);
	assert_int_equal(sections_of_first(w, out, 8), c->found);
	free_world(w);
}

int main(void)
{
	struct CMUnitTest tests[1 + COUNT(gone_cases) + COUNT(layout_cases) + COUNT(room_cases) + COUNT(wild_cases)],
		*next = tests;

	*next++ = (struct CMUnitTest)cmocka_unit_test(test_symbols);
	for (size_t i = 0; i < COUNT(gone_cases); i++)
		*next++ = ROW(test_symbols_gone, &gone_cases[i]);
	for (size_t i = 0; i < COUNT(layout_cases); i++)
		*next++ = ROW(test_sections, &layout_cases[i]);
	for (size_t i = 0; i < COUNT(room_cases); i++)
		*next++ = ROW(test_room_for_one_section, &room_cases[i]);
	for (size_t i = 0; i < COUNT(wild_cases); i++)
		*next++ = ROW(test_wild_sections, &wild_cases[i]);
	return cmocka_run_group_tests_name("symbols: a module's symbols and sections", tests, NULL, NULL);
}
