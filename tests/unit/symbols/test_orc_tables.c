// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding ORC tables and their layout, by the guest's types, the kernel's symbols and a struct module. */
#include "tests/unit/symbols/orc_world.h"

static void expect_refusal(int result, const struct err *err)
{
	assert_int_equal(result, -1);
	assert_int_equal(err->code, EXIT_INPUT);
	assert_non_null(strstr(err->text, "stacks: "));
}

static const struct size_case {
	const char *shows;
	uint32_t size;
} size_cases[] = {
	{"format: entries of no bytes", 0},
	{"format: entries that are too short", 5},
	{"format: entries that are too long", ORC_ENTRY_MAX + 1},
	{"format: entries of a gigabyte", 1u << 30},
};

/* The state is the row. */
static void test_size_refused(void **state)
{
	const struct size_case *c = *state;
	struct btf *btf = make_types(WITH_END, c->size);
	struct orc_format format;
	struct err err = {0};

	expect_refusal(orc_find_format(btf, &format, &err), &err);
	btf_free(btf);
}

static void test_types_without_an_entry(void **state)
{
	struct orc_format format;
	struct btf_maker m = {0};
	struct err err = {0};
	struct btf *btf;
	struct blob b;

	(void)state;
	make_module_type(&m);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, NULL);
	expect_refusal(orc_find_format(btf, &format, &err), &err);
	btf_free(btf);
	make_free(&m);
	blob_free(&b);
}

/* Find the kernel's table by symbols with this end of the addresses. If not `whole`, leave out the first two symbols. */
static int find_kernel_table(uint64_t stop, bool whole, struct orc_table *table, struct err *err)
{
	const struct symbol symbols[] = {
		{"__start_orc_unwind_ip", IPS, 0, 'R'},
		{"__stop_orc_unwind_ip", stop, 0, 'R'},
		{"__start_orc_unwind", ENTRIES, 0, 'R'},
		{"__stop_orc_unwind", ENTRIES + 100 * ENTRY_SIZE + 2, 0, 'R'}, /* padded */
	};
	const size_t from = whole ? 0 : 2;
	struct symtab *kernel;
	struct world w;
	int found;

	open_world(&w, WITH_END);
	kernel = symtab_from_array(symbols + from, COUNT(symbols) - from, NULL);
	assert_non_null(kernel);
	found = orc_find_kernel(kernel, &w.format, table, err);
	symtab_free(kernel);
	close_world(&w);
	return found;
}

static void test_kernel_table(void **state)
{
	struct orc_table table;

	(void)state;
	assert_int_equal(find_kernel_table(IPS + 400, true, &table, NULL), 0);
	assert_int_equal(table.ips, IPS);
	assert_int_equal(table.entries, ENTRIES);
	assert_int_equal(table.count, 100);
}

static const struct stop_case {
	const char *shows;
	uint64_t stop;
} stop_cases[] = {
	{"kernel's table: no addresses", IPS},
	{"kernel's table: less than no addresses", IPS - 4},
	{"kernel's table: an address less than entries", IPS + 396},
	{"kernel's table: an address more than entries", IPS + 404},
	{"kernel's table: addresses without end", 0xffffffffffffffff},
};

/* The state is the row. */
static void test_wrong_kernel_table(void **state)
{
	const struct stop_case *c = *state;
	struct orc_table table;
	struct err err = {0};

	expect_refusal(find_kernel_table(c->stop, true, &table, &err), &err);
	assert_int_equal(table.count, 0);
}

static void test_kernel_without_symbols_of_a_table(void **state)
{
	struct orc_table table;

	(void)state;
	assert_int_equal(find_kernel_table(IPS + 400, false, &table, NULL), -1);
}

static void put(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Find a module's table by a struct module at `gva`. A valid struct module is at MODULE. */
static int find_module_table(uint64_t gva, uint64_t count, uint64_t ips, uint64_t entries, struct orc_table *table,
			     struct err *err)
{
	struct world w;
	int found;

	open_world(&w, WITH_SIGNAL);
	finish(&w);
	put(w.module + NUM_ORCS, count);
	put(w.module + ORC_IP, ips);
	put(w.module + ORC, entries);
	found = orc_find_module(&w.reader, w.btf, gva, table, err);
	close_world(&w);
	return found;
}

static void test_module_table(void **state)
{
	struct orc_table table;

	(void)state;
	assert_int_equal(find_module_table(MODULE, 10, IPS, ENTRIES, &table, NULL), 0);
	assert_int_equal(table.count, 10);
	assert_int_equal(table.ips, IPS);
	assert_int_equal(table.entries, ENTRIES);
}

static const struct module_case {
	const char *shows;
	uint64_t count, ips, entries;
} module_cases[] = {
	{"module's table: no entries", 0, IPS, ENTRIES},
	{"module's table: too many entries", UINT32_MAX, IPS, ENTRIES},
	{"module's table: addresses at 0", 10, 0, ENTRIES},
	{"module's table: entries in user space", 10, IPS, 0x1000},
	{"module's table: addresses across the end", 10, UINT64_MAX - 8, ENTRIES},
	{"module's table: entries across the end", 10, IPS, UINT64_MAX - 8},
};

/* The state is the row. */
static void test_wrong_module_table(void **state)
{
	const struct module_case *c = *state;
	struct orc_table table;
	struct err err = {0};

	expect_refusal(find_module_table(MODULE, c->count, c->ips, c->entries, &table, &err), &err);
	assert_int_equal(table.count, 0);
}

static void test_module_in_user_space(void **state)
{
	struct orc_table table;

	(void)state;
	assert_int_equal(find_module_table(0x1000, 10, IPS, ENTRIES, &table, NULL), -1);
}

static void test_module_across_the_end(void **state)
{
	struct orc_table table;

	(void)state;
	assert_int_equal(find_module_table(UINT64_MAX - 10, 10, IPS, ENTRIES, &table, NULL), -1);
}

/* Add a test for every row of a table. A row begins with the test's name. */
static struct CMUnitTest *add_rows(struct CMUnitTest *next, CMUnitTestFunction test, const void *rows, size_t count,
				   size_t size)
{
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * size;

		*next++ =
			(struct CMUnitTest){.name = *(const char *const *)row, .test_func = test, .initial_state = (void *)row};
	}
	return next;
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(test_types_without_an_entry),
		cmocka_unit_test(test_kernel_table),
		cmocka_unit_test(test_kernel_without_symbols_of_a_table),
		cmocka_unit_test(test_module_table),
		cmocka_unit_test(test_module_in_user_space),
		cmocka_unit_test(test_module_across_the_end),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(size_cases) + COUNT(stop_cases) + COUNT(module_cases)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	next = add_rows(next, test_size_refused, size_cases, COUNT(size_cases), sizeof(size_cases[0]));
	next = add_rows(next, test_wrong_kernel_table, stop_cases, COUNT(stop_cases), sizeof(stop_cases[0]));
	add_rows(next, test_wrong_module_table, module_cases, COUNT(module_cases), sizeof(module_cases[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
