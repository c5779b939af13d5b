/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queries of debuginfo.h on a small program with known answers. It is compiled and linked in all the ways of kernels and
 * modules: DWARF 4 and 5, by gcc and clang, linked with relocations kept, relocatable, compressed, with type units.
 */
#include "tests/unit/symbols/dwarf_sample.h"

#include "symbols/insn/insn.h"

#define SLIDE 0x1234000ull
#define MODULE 0xffffffffc0000000ull /* The sections of a relocatable sample are placed from here on, STEP apart. */
#define STEP 0x10000ull

struct open_sample {
	struct sample file;
	struct debuginfo *di;
	bool linked;
};

static const char *const sections[] = {".text", ".text.unlikely", ".data", ".bss", ".rodata", ".data..percpu"};

static uint64_t section_base(const char *name)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!strcmp(sections[i], name))
			return MODULE + i * STEP;
	}
	fail_msg("sections[] has no %s", name);
	return 0;
}

static void setup(struct open_sample *s, const char *compiler, const char *flags)
{
	struct err err = {0};

	s->linked = !strstr(flags, "-c ");
	sample_build(&s->file, compiler, flags);
	s->di = debuginfo_open(s->file.path, &err);
	if (!s->di)
		fail_msg("%s", err.text);
	if (s->linked)
		debuginfo_slide(s->di, SLIDE);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		size_t len;
		bool there = sample_section(&s->file, sections[i], &len);

		assert_int_equal(debuginfo_place(s->di, sections[i], section_base(sections[i])), there && !s->linked ? 0 : -1);
	}
}

static void teardown(struct open_sample *s)
{
	debuginfo_close(s->di);
	sample_free(&s->file);
}

/* Run-time address of a symbol. */
static uint64_t address(const struct open_sample *s, const char *name)
{
	struct place p = sample_symbol(&s->file, name);

	if (!s->linked)
		return section_base(p.section) + p.offset;
	return strcmp(p.section, ".data..percpu") ? p.addr + SLIDE : p.addr;
}

static int lines(const struct open_sample *s, uint64_t pc, struct debuginfo_frame *frames)
{
	struct err err = {0};
	int n = debuginfo_lines(s->di, pc, frames, &err);

	if (n < 0)
		fail_msg("%s", err.text);
	return n;
}

static bool ends_with(const char *s, const char *end)
{
	return s && strlen(s) >= strlen(end) && !strcmp(s + strlen(s) - strlen(end), end);
}

static bool frame_is(const struct debuginfo_frame *f, const char *function, unsigned line, bool inlined)
{
	return f->function && !strcmp(f->function, function) && f->line == line && f->inlined == inlined &&
	       ends_with(f->file, "chain.c");
}

static void check_chain(const struct open_sample *s)
{
	struct place p = sample_symbol(&s->file, "outermost");
	uint64_t start = address(s, "outermost");
	struct debuginfo_frame f[DEBUGINFO_MAX_FRAMES];
	unsigned found = 0;

	for (uint64_t pc = start; pc < start + p.size; pc++) {
		int n = lines(s, pc, f);

		assert_true(n >= 1);
		assert_string_equal(f[n - 1].function, "outermost");
		found += n == 3 && frame_is(&f[0], "innermost", 102, true) && frame_is(&f[1], "middle", 107, true) &&
			 frame_is(&f[2], "outermost", 112, false);
	}
	assert_true(found > 0);
}

static void check_lines(const struct open_sample *s)
{
	struct debuginfo_frame f[DEBUGINFO_MAX_FRAMES];

	check_chain(s);
	assert_int_equal(lines(s, address(s, "cold"), f), 1);
	assert_string_equal(f[0].function, "cold");
	assert_true(ends_with(f[0].file, "sample.c"));
	assert_false(f[0].inlined);
	/* An address without code, and an address of data. */
	assert_int_equal(lines(s, 0x1000000, f), 0);
	assert_int_equal(lines(s, address(s, "global_outer"), f), 0);
}

static void expect_variable(const struct open_sample *s, const char *symbol, uint64_t offset, size_t size, const char *path,
			    const char *type)
{
	struct debuginfo_datum d;
	struct err err = {0};

	if (debuginfo_variable_at(s->di, address(s, symbol) + offset, size, &d, &err) != 1)
		fail_msg("%s+%lu: not found%s%s", symbol, (unsigned long)offset, err.code ? ": " : "", err.text);
	assert_string_equal(d.path, path);
	assert_string_equal(d.type, type);
	assert_int_equal(d.start, address(s, symbol));
	assert_int_equal(d.offset, offset);
	assert_false(err.code);
}

/* Offsets in struct outer: link 0, word 16, flags 24, in 32 (20 each), name 92, parent 112, x 120, y 124, tail 128. */
static void check_variables(const struct open_sample *s, bool gcc)
{
	const char *ushort_name = gcc ? "volatile short unsigned int" : "volatile unsigned short";
	const char *wide_name = gcc ? "volatile long long unsigned int" : "volatile unsigned long long";

	expect_variable(s, "global_outer", 0, 8, "global_outer.link.next", "struct list *volatile");
	expect_variable(s, "global_outer", 0, 16, "global_outer.link", "struct list");
	expect_variable(s, "global_outer", 16, 4, "global_outer.word.whole", "volatile unsigned int");
	expect_variable(s, "global_outer", 17, 1, "global_outer.word.high", "volatile unsigned char");
	expect_variable(s, "global_outer", 18, 2, "global_outer.word.top", ushort_name);
	expect_variable(s, "global_outer", 24, 1, "global_outer.flags.{on,mode}", "struct flags");
	expect_variable(s, "global_outer", 26, 1, "global_outer.flags.{count,wide}", "struct flags");
	expect_variable(s, "global_outer", 28, 1, "global_outer.flags.wide", wide_name);
	expect_variable(s, "global_outer", 34, 1, "global_outer.in[0]", "struct inner");
	expect_variable(s, "global_outer", 52, 2, "global_outer.in[1].a", gcc ? "volatile short int" : "volatile short");
	expect_variable(s, "global_outer", 88, 4, "global_outer.in[2].b[3]", "volatile int");
	expect_variable(s, "global_outer", 92, 1, "global_outer.name[0]", "volatile char");
	expect_variable(s, "global_outer", 96, 8, "global_outer.name", "volatile char[16]");
	expect_variable(s, "global_outer", 124, 4, "global_outer.y", "volatile int");
	expect_variable(s, "table", 20, 4, "table[1][2]", "volatile int");
	expect_variable(s, "global_pointer", 0, 8, "global_pointer", "const outer_t *volatile");
	expect_variable(s, "hidden_pointer", 4, 4, "hidden_pointer", "struct hidden *volatile");
	expect_variable(s, "callback", 0, 8, "callback", "void (*)()");
	expect_variable(s, "file_static", 0, 4, "file_static", "volatile int");
	expect_variable(s, "percpu_data", 4, 4, "percpu_data.counter", "volatile int");
	expect_variable(s, "crowded", 400, 8, "crowded.last", gcc ? "volatile long int" : "volatile long");
}

static void test_none(const struct open_sample *s, uint64_t addr)
{
	struct debuginfo_datum d;
	struct err err = {0};

	assert_int_equal(debuginfo_variable_at(s->di, addr, 4, &d, &err), 0);
	assert_false(err.code);
}

static void check_no_variables(const struct open_sample *s)
{
	test_none(s, address(s, "outermost"));
	test_none(s, 0x7fffffff0000);
	test_none(s, UINT64_MAX);
	test_none(s, address(s, "percpu_data") + 8);
}

/*
 * Check that a function has an instruction that accesses `size` bytes through a register, and for which `path` is the best
 * answer.
 */
static void expect_datum(const struct open_sample *s, const char *function, const char *path, unsigned size, const char *owner)
{
	struct insn_decoder *decoder = insn_decoder_new();
	struct place p = sample_symbol(&s->file, function);
	uint64_t start = address(s, function);
	bool found = false;
	const uint8_t *code;
	struct insn i;
	size_t len;

	assert_non_null(decoder);
	code = sample_section(&s->file, p.section, &len);
	assert_non_null(code);
	for (uint64_t at = 0; at < p.size; at += i.len) {
		struct debuginfo_datum d[8];
		struct err err = {0};
		int n;

		assert_true(insn_decode(decoder, code + p.offset + at, p.size - at, start + at, &i));
		if (i.nmem != 1 || i.mem[0].base < 0)
			continue;
		n = debuginfo_datum(s->di, start + at, (enum x86_gpr)i.mem[0].base, i.mem[0].disp, i.mem[0].size, d, 8, &err);
		if (n < 0)
			fail_msg("%s", err.text);
		found = found || (n && i.mem[0].size == size && !strcmp(d[0].path, path) && !strcmp(d[0].owner, owner));
	}
	insn_decoder_free(decoder);
	if (!found)
		fail_msg("%s: no access to %s (%s)", function, path, owner);
}

static void check_data(const struct open_sample *s, bool gcc)
{
	expect_datum(s, "outermost", "o->link.next", 8, "outer_t");
	expect_datum(s, "read_member", "o->in[1].b[2]", 4, "outer_t");
	expect_datum(s, "read_tagged", "o->in[2].b[1]", 4, "struct outer");
	expect_datum(s, "read_through_two", "o->parent", 8, "outer_t");
	expect_datum(s, "read_through_two", "o->parent->word.high", 1, "struct outer");
	expect_datum(s, "read_global_pointer", "global_pointer->y", 4, "const outer_t");
	expect_datum(s, "read_container", "o->name[3]", 1, "outer_t");
	expect_datum(s, "read_index", "vector[2]", 8, gcc ? "volatile long int" : "volatile long");
	expect_datum(s, "cold", "o->x", 4, "outer_t");
}

static void expect_decoded(const struct open_sample *s, const char *symbol, uint64_t offset, size_t size, uint64_t value,
			   const char *text)
{
	char said[DEBUGINFO_VALUE_MAX];
	struct debuginfo_datum d;
	uint8_t bytes[8];
	bool pointer;
	int n;

	memcpy(bytes, &value, sizeof(bytes));
	assert_int_equal(debuginfo_variable_at(s->di, address(s, symbol) + offset, size, &d, NULL), 1);
	n = debuginfo_value(s->di, &d, bytes, size, said, &pointer, NULL);
	assert_int_equal(n, text ? 1 : 0);
	assert_string_equal(said, text ? text : "");
	assert_int_equal(pointer, !strcmp(symbol, "global_pointer"));
}

static void check_values(const struct open_sample *s)
{
	expect_decoded(s, "file_static", 0, 4, 0xffffffff, "-1");
	expect_decoded(s, "global_outer", 16, 4, 9, "9");
	expect_decoded(s, "global_outer", 16, 4, 0x1f, "0x1f");
	expect_decoded(s, "global_outer", 92, 1, 'a', "'a'");
	expect_decoded(s, "global_outer", 92, 1, 7, "7");
	expect_decoded(s, "global_pointer", 0, 8, 0xffff888100042000, "0xffff888100042000");
	expect_decoded(s, "color", 0, 4, 7, "GREEN");
	expect_decoded(s, "color", 0, 4, 0xffffffff, "BLUE");
	expect_decoded(s, "color", 0, 4, 3, "3");
	expect_decoded(s, "some_flags", 0, 4, 8, "FL_D");
	expect_decoded(s, "some_flags", 0, 4, 11, "FL_A|FL_B|FL_D");
	expect_decoded(s, "some_flags", 0, 4, 5, "5"); /* No enumerator is 4. */
	expect_decoded(s, "truth", 0, 1, 1, "true");
	/* Half of a number, a structure, and bytes of several bit-fields have no value. */
	expect_decoded(s, "global_outer", 18, 1, 1, NULL);
	expect_decoded(s, "global_outer", 0, 16, 1, NULL);
	expect_decoded(s, "global_outer", 24, 1, 1, NULL);
}

/* gcc and clang give basic types different names. */
static void check_all(const char *compiler, const char *flags)
{
	struct open_sample s;

	setup(&s, compiler, flags);
	check_lines(&s);
	check_variables(&s, !strcmp(compiler, "gcc"));
	check_no_variables(&s);
	check_values(&s);
	check_data(&s, !strcmp(compiler, "gcc"));
	teardown(&s);
}

static void test_gcc_linked(void **state)
{
	(void)state;
	check_all("gcc", "-gdwarf-5 " SAMPLE_LINKED);
	check_all("gcc", "-gdwarf-4 " SAMPLE_LINKED);
	check_all("gcc", "-gdwarf-5 -gdwarf64 " SAMPLE_LINKED);
}

static void test_gcc_relocatable(void **state)
{
	(void)state;
	check_all("gcc", "-gdwarf-5 -c ");
	check_all("gcc", "-gdwarf-4 -c ");
}

static void test_type_units(void **state)
{
	(void)state;
	check_all("gcc", "-gdwarf-5 -fdebug-types-section " SAMPLE_LINKED);
	check_all("gcc", "-gdwarf-4 -fdebug-types-section " SAMPLE_LINKED);
}

/* Offsets in a type unit's header (DWARF 5 section 7.5.1.3), and the kind of unit that it is. */
enum { UNIT_KIND = 6, UNIT_SIGNATURE = 12, UNIT_TYPE = 20, KIND_TYPE = 2 };

static uint32_t unit_length(const uint8_t *unit)
{
	uint32_t length;

	memcpy(&length, unit, sizeof(length));
	return length + sizeof(length);
}

static bool is_signature(const uint8_t *info, size_t len, const uint8_t *bytes)
{
	for (size_t at = 0; at < len; at += unit_length(info + at)) {
		if (info[at + UNIT_KIND] == KIND_TYPE && !memcmp(info + at + UNIT_SIGNATURE, bytes, 8))
			return true;
	}
	return false;
}

/*
 * A stub in a type unit stands for a type of another unit. Make it stand for the type of its own unit, and make the stub that
 * type. Only stubs at the end of a unit can be told from other bytes. Returns how many were changed.
 */
static unsigned close_circles(uint8_t *info, size_t len)
{
	unsigned n = 0;

	for (uint8_t *unit = info; unit < info + len; unit += unit_length(unit)) {
		/* A stub is the number of an abbreviation and a signature. A 0 follows, and the unit ends. */
		uint32_t stub = unit_length(unit) - 10;

		if (unit[UNIT_KIND] != KIND_TYPE || !is_signature(info, len, unit + stub + 1))
			continue;
		memcpy(unit + stub + 1, unit + UNIT_SIGNATURE, 8);
		memcpy(unit + UNIT_TYPE, &stub, sizeof(stub));
		n++;
	}
	return n;
}

static struct debuginfo *open_changed(const struct sample *file)
{
	FILE *f = fopen(file->path, "wb");
	struct debuginfo *di;

	assert_non_null(f);
	assert_int_equal(fwrite(file->bytes, 1, file->len, f), file->len);
	assert_int_equal(fclose(f), 0);
	di = debuginfo_open(file->path, NULL);
	assert_non_null(di);
	return di;
}

static void test_stub_of_itself(void **state)
{
	struct sample file;
	struct debuginfo_datum d;
	struct debuginfo *di;
	struct err err = {0};
	const uint8_t *info;
	size_t len = 0;

	(void)state;
	sample_build(&file, "gcc", "-gdwarf-5 -fdebug-types-section " SAMPLE_LINKED);
	info = sample_section(&file, ".debug_info", &len);
	assert_non_null(info);
	assert_true(close_circles(file.bytes + (info - file.bytes), len) > 0);
	di = open_changed(&file);
	assert_int_equal(debuginfo_datum(di, sample_symbol(&file, "copy").addr, X86_RSI, 0, 8, &d, 1, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "leads back to itself"));
	debuginfo_close(di);
	sample_free(&file);
}

/* A debug file may give any offset, and an instruction may have any displacement. */
static void test_far_off(void **state)
{
	static const int64_t ends[] = {INT64_MIN, INT64_MAX};
	struct sample file;
	struct debuginfo_datum d;
	struct debuginfo *di;
	struct err err = {0};
	struct place p;

	(void)state;
	sample_build(&file, "gcc", "-gdwarf-5 " SAMPLE_LINKED);
	di = debuginfo_open(file.path, NULL);
	assert_non_null(di);
	p = sample_symbol(&file, "read_next");
	for (uint64_t pc = p.addr; pc < p.addr + p.size; pc++) {
		for (int i = 0; i < 32; i++) {
			assert_int_equal(debuginfo_datum(di, pc, i / 2, ends[i % 2], 8, &d, 1, &err), 0);
			assert_int_equal(err.code, EXIT_OK);
		}
	}
	debuginfo_close(di);
	sample_free(&file);
}

static void test_compressed(void **state)
{
	(void)state;
	check_all("gcc", "-gdwarf-5 -gz " SAMPLE_LINKED);
	check_all("gcc", "-gdwarf-5 -gz -c ");
}

static void test_clang(void **state)
{
	(void)state;
	check_all("clang", "-gdwarf-4 " SAMPLE_LINKED);
	check_all("clang", "-gdwarf-5 " SAMPLE_LINKED);
	check_all("clang", "-gdwarf-5 -c ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc_linked), cmocka_unit_test(test_gcc_relocatable),
		cmocka_unit_test(test_type_units), cmocka_unit_test(test_stub_of_itself),
		cmocka_unit_test(test_far_off),	   cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_clang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
