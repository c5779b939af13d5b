// SPDX-License-Identifier: GPL-2.0-or-later
/* ORC tables in made-up guest memory, in the three layouts that kernels have had. */
#include "hv/base/rng.h"
#include "symbols/unwind/orc.h"
#include "tests/unit/test_sym_btf_maker.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define IPS 0xffffffff82c00000ull
#define ENTRIES 0xffffffff82d00000ull
#define TEXT 0xffffffff81000000ull
#define MODULE 0xffffffffc0100000ull
#define STRUCT_MODULE 64
#define NUM_ORCS 8
#define ORC_IP 16
#define ORC 24
#define ENTRY_SIZE 6

enum layout { WITH_END, WITH_END_AND_SIGNAL, WITH_SIGNAL, LAYOUTS };

struct world {
	enum layout layout;
	struct btf *btf;
	struct orc_format format;
	struct fake_memory mem;
	struct guest_reader reader;
	struct blob ips, entries;
	uint8_t module[STRUCT_MODULE];
};

static void bits(struct btf_maker *m, const char *name, uint32_t type, uint32_t offset, uint32_t size)
{
	make_field(m, name, type, size << 24 | offset);
}

static void make_entry_type(struct btf_maker *m, enum layout layout, uint32_t size)
{
	uint32_t s16 = make_int(m, "s16", 2), u32 = make_int(m, "unsigned int", 4);

	make_type(m, "orc_entry", BTF_STRUCT | KIND_FLAG, layout == WITH_END_AND_SIGNAL ? 7 : 6, size);
	make_field(m, "sp_offset", s16, 0);
	make_field(m, "bp_offset", s16, 16);
	bits(m, "sp_reg", u32, 32, 4);
	bits(m, "bp_reg", u32, 36, 4);
	bits(m, "type", u32, 40, layout == WITH_SIGNAL ? 3 : 2);
	if (layout != WITH_END)
		bits(m, "signal", u32, layout == WITH_SIGNAL ? 43 : 42, 1);
	if (layout != WITH_SIGNAL)
		bits(m, "end", u32, layout == WITH_END ? 42 : 43, 1);
}

static void make_module_type(struct btf_maker *m)
{
	uint32_t u32 = make_int(m, "u32", 4), ptr = make_type(m, "", BTF_PTR, 0, 0), arch;

	arch = make_type(m, "mod_arch_specific", BTF_STRUCT, 3, 24);
	make_field(m, "num_orcs", u32, 0);
	make_field(m, "orc_unwind_ip", ptr, (ORC_IP - NUM_ORCS) * 8);
	make_field(m, "orc_unwind", ptr, (ORC - NUM_ORCS) * 8);
	make_type(m, "module", BTF_STRUCT, 1, STRUCT_MODULE);
	make_field(m, "arch", arch, NUM_ORCS * 8);
}

static struct btf *make_types(enum layout layout, uint32_t size)
{
	struct btf_maker m = {0};
	struct btf *btf;
	struct blob b;

	make_entry_type(&m, layout, size);
	make_module_type(&m);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, NULL);
	assert_non_null(btf);
	make_free(&m);
	blob_free(&b);
	return btf;
}

static void open_world(struct world *w, enum layout layout)
{
	*w = (struct world){.layout = layout};
	w->btf = make_types(layout, ENTRY_SIZE);
	assert_int_equal(orc_find_format(w->btf, &w->format, NULL), 0);
	w->reader = fake_reader(&w->mem);
}

static void close_world(struct world *w)
{
	btf_free(w->btf);
	blob_free(&w->ips);
	blob_free(&w->entries);
}

/* An entry as the kernel's tools write it; `raw` is the byte with type, signal and end. */
static void add(struct world *w, uint64_t addr, int sp_offset, int bp_offset, unsigned sp, unsigned bp, unsigned raw)
{
	blob_u32(&w->ips, (uint32_t)(addr - (IPS + w->ips.len)));
	blob_u16(&w->entries, (uint16_t)sp_offset);
	blob_u16(&w->entries, (uint16_t)bp_offset);
	blob_u8(&w->entries, sp | bp << 4);
	blob_u8(&w->entries, raw);
}

static struct orc_table finish(struct world *w)
{
	w->mem.count = 0;
	fake_memory_map(&w->mem, IPS, w->ips.bytes, w->ips.len);
	fake_memory_map(&w->mem, ENTRIES, w->entries.bytes, w->entries.len);
	fake_memory_map(&w->mem, MODULE, w->module, sizeof(w->module));
	return (struct orc_table){IPS, ENTRIES, (uint32_t)(w->ips.len / 4)};
}

static int find(const struct world *w, const struct orc_table *table, uint64_t pc, struct orc_rule *out)
{
	return orc_find_rule(&w->reader, &w->format, table, pc, out);
}

/* The same meaning, in each layout's own words. */
static void test_layouts(void **state)
{
	static const struct {
		unsigned sp, raw[LAYOUTS];
		enum orc_type type;
		bool interrupted;
	} cases[] = {
		{ORC_BASE_SP, {0, 0, 2}, ORC_CALL, false},
		{ORC_BASE_SP, {1, 1 | 4, 3 | 8}, ORC_REGS, true},
		{ORC_BASE_SP, {2, 2 | 4, 4 | 8}, ORC_REGS_PARTIAL, true},
		{ORC_BASE_NONE, {4, 8, 1}, ORC_END, false},
		{ORC_BASE_NONE, {0, 0, 0}, ORC_UNDEFINED, false},
		{ORC_BASE_SP, {3, 3, 7}, ORC_UNDEFINED, false},
	};

	(void)state;
	for (unsigned layout = 0; layout < LAYOUTS; layout++) {
		struct orc_table table;
		struct world w;

		open_world(&w, layout);
		for (size_t i = 0; i < COUNT(cases); i++)
			add(&w, TEXT + i * 16, -8, 24, cases[i].sp, ORC_BASE_PREV_SP, cases[i].raw[layout]);
		table = finish(&w);
		for (size_t i = 0; i < COUNT(cases); i++) {
			struct orc_rule rule;

			assert_int_equal(find(&w, &table, TEXT + i * 16 + 3, &rule), 0);
			assert_int_equal(rule.type, cases[i].type);
			assert_int_equal(rule.sp_base, cases[i].sp);
			assert_int_equal(rule.bp_base, ORC_BASE_PREV_SP);
			assert_int_equal(rule.sp_offset, -8);
			assert_int_equal(rule.bp_offset, 24);
			if (rule.type == ORC_CALL || rule.type == ORC_REGS || rule.type == ORC_REGS_PARTIAL)
				assert_int_equal(rule.interrupted, cases[i].interrupted);
		}
		close_world(&w);
	}
}

static void test_lookup(void **state)
{
	struct orc_table table;
	struct orc_rule rule;
	struct world w;

	(void)state;
	open_world(&w, WITH_SIGNAL);
	for (int i = 0; i < 1000; i++)
		add(&w, TEXT + 0x100 + (unsigned)i / 2 * 8, i, 0, ORC_BASE_SP, ORC_BASE_NONE, 2);
	table = finish(&w);
	assert_int_equal(find(&w, &table, TEXT + 0xff, &rule), -1);
	assert_int_equal(find(&w, &table, 0, &rule), -1);
	for (int i = 0; i < 500; i++) {
		/* Of two entries for one address the last one counts. */
		w.mem.reads = 0;
		assert_int_equal(find(&w, &table, TEXT + 0x100 + (unsigned)i * 8, &rule), 0);
		assert_int_equal(rule.sp_offset, 2 * i + 1);
		assert_int_equal(find(&w, &table, TEXT + 0x107 + (unsigned)i * 8, &rule), 0);
		assert_int_equal(rule.sp_offset, 2 * i + 1);
		assert_true(w.mem.reads <= 24);
	}
	assert_int_equal(find(&w, &table, UINT64_MAX, &rule), 0);
	assert_int_equal(rule.sp_offset, 999);
	table.count = 0;
	assert_int_equal(find(&w, &table, TEXT + 0x100, &rule), -1);
	close_world(&w);
}

/* A hundred rules, of which not all can be read. */
static struct orc_table hundred_rules(struct world *w)
{
	open_world(w, WITH_END);
	for (unsigned i = 0; i < 100; i++)
		add(w, TEXT + i * 16, 8, 0, ORC_BASE_SP, ORC_BASE_NONE, 0);
	return finish(w);
}

static void test_rule_before_the_unreadable(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = hundred_rules(&w);

	(void)state;
	w.mem.ranges[1].len = 50 * ENTRY_SIZE;
	assert_int_equal(find(&w, &table, TEXT + 49 * 16, &rule), 0);
	close_world(&w);
}

static void test_unreadable_rule(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = hundred_rules(&w);

	(void)state;
	w.mem.ranges[1].len = 50 * ENTRY_SIZE;
	assert_int_equal(find(&w, &table, TEXT + 50 * 16, &rule), -1);
	close_world(&w);
}

static void test_unreadable_addresses(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = hundred_rules(&w);

	(void)state;
	w.mem.ranges[0].len = 4;
	assert_int_equal(find(&w, &table, TEXT + 49 * 16, &rule), -1);
	close_world(&w);
}

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

/* What the kernel's symbols say, with that end of the addresses. The first of them is left out if it is not `whole`. */
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

/* What a struct module at MODULE says, when it is looked for at `gva`. */
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

/* Whatever the tables hold, a lookup ends soon, and with a rule out of the table's own words or none. */
static void test_mutated(void **state)
{
	struct rng rng = {.state = 1};

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct orc_table table;
		struct orc_rule rule;
		struct world w;

		open_world(&w, (enum layout)(round % LAYOUTS));
		for (unsigned i = 0; i < 64; i++)
			add(&w, TEXT + i * 16, 8, 0, ORC_BASE_SP, ORC_BASE_NONE, 2);
		table = finish(&w);
		for (unsigned i = 0; i < 32; i++) {
			struct blob *b = rng_below(&rng, 2) ? &w.ips : &w.entries;

			b->bytes[rng_below(&rng, b->len)] = (uint8_t)rng_next(&rng);
		}
		if (!rng_below(&rng, 4))
			table.count = (uint32_t)rng_next(&rng);
		if (!rng_below(&rng, 4))
			table.entries = rng_next(&rng);
		w.mem.reads = 0;
		if (find(&w, &table, TEXT + rng_below(&rng, 64 * 16), &rule) == 0)
			assert_true(rule.type <= ORC_REGS_PARTIAL);
		assert_true(w.mem.reads <= 34);
		close_world(&w);
	}
}

/* Every row of a table is a test, whose name the row begins with. */
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
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_rule_before_the_unreadable),
		cmocka_unit_test(test_unreadable_rule),
		cmocka_unit_test(test_unreadable_addresses),
		cmocka_unit_test(test_types_without_an_entry),
		cmocka_unit_test(test_kernel_table),
		cmocka_unit_test(test_kernel_without_symbols_of_a_table),
		cmocka_unit_test(test_module_table),
		cmocka_unit_test(test_module_in_user_space),
		cmocka_unit_test(test_module_across_the_end),
		cmocka_unit_test(test_mutated),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(size_cases) + COUNT(stop_cases) + COUNT(module_cases)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	next = add_rows(next, test_size_refused, size_cases, COUNT(size_cases), sizeof(size_cases[0]));
	next = add_rows(next, test_wrong_kernel_table, stop_cases, COUNT(stop_cases), sizeof(stop_cases[0]));
	add_rows(next, test_wrong_module_table, module_cases, COUNT(module_cases), sizeof(module_cases[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
