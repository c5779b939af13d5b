/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/tables/symtab.h"
#include "tests/unit/symbols/btf_maker.h"

/*
 *	struct inner { u32 a; union { u64 b; struct { u16 c, d; }; }; };		16 bytes
 *	typedef const struct inner inner_t;
 *	enum { MEM_TEXT, MEM_DATA = 3 };  enum64 { BIG = 1 << 40 };
 *	struct outer { inner_t in; u8 flag:3; u16 late:10 (bit 130); struct outer *next; inner_t mem[4]; char name[16]; };
 */
static void make_example(struct btf_maker *m)
{
	uint32_t u8 = make_int(m, "u8", 1), u16 = make_int(m, "u16", 2), u32 = make_int(m, "u32", 4),
		 u64 = make_int(m, "u64", 8);
	uint32_t pair, either, inner, qualified, alias, next, mem, name;

	pair = make_type(m, "", BTF_STRUCT, 2, 4);
	make_field(m, "c", u16, 0);
	make_field(m, "d", u16, 16);
	either = make_type(m, "", BTF_UNION, 2, 8);
	make_field(m, "b", u64, 0);
	make_field(m, "", pair, 0);
	make_type(m, "inner", BTF_FWD, 0, 0);
	inner = make_type(m, "inner", BTF_STRUCT, 2, 16);
	make_field(m, "a", u32, 0);
	make_field(m, "", either, 64);
	qualified = make_type(m, "", BTF_CONST, 0, inner);
	alias = make_type(m, "inner_t", BTF_TYPEDEF, 0, qualified);
	make_type(m, "", BTF_ENUM, 2, 4);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, "MEM_TEXT"));
	blob_u32(&m->types, 0);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, "MEM_DATA"));
	blob_u32(&m->types, 3);
	make_type(m, "", KIND_FLAG | BTF_ENUM, 1, 4);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, "MINUS"));
	blob_u32(&m->types, (uint32_t)-5);
	make_type(m, "", BTF_ENUM64, 1, 8);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, "BIG"));
	blob_u32(&m->types, 0);
	blob_u32(&m->types, 1 << 8);
	next = make_type(m, "", BTF_PTR, 0, 0);
	mem = make_array(m, alias, 4);
	name = make_array(m, u8, 16);
	make_type(m, "outer", KIND_FLAG | BTF_STRUCT, 6, 112);
	make_field(m, "in", alias, 0);
	make_field(m, "flag", u8, 3u << 24 | 128);
	make_field(m, "late", u16, 10u << 24 | 131);
	make_field(m, "next", next, 192);
	make_field(m, "mem", mem, 256);
	make_field(m, "name", name, 768);
}

static struct btf *parse_example(void)
{
	struct btf_maker m = {0};
	struct err err = {0};
	struct blob b;
	struct btf *btf;

	make_example(&m);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, &err);
	if (!btf)
		fail_msg("%s", err.text);
	blob_free(&b);
	make_free(&m);
	return btf;
}

static void check_member(const struct btf *btf, const char *path, uint32_t offset, uint32_t size)
{
	struct btf_member m;

	if (btf_member(btf, "outer", path, &m))
		fail_msg("no %s", path);
	if (m.offset != offset || m.size != size)
		fail_msg("%s at %u, %u bytes", path, m.offset, m.size);
}

static void test_members(void **state)
{
	struct btf *btf = parse_example();
	struct btf_member m;

	(void)state;
	check_member(btf, "in", 0, 16);
	check_member(btf, "in.a", 0, 4);
	check_member(btf, "in.b", 8, 8);
	check_member(btf, "in.d", 10, 2);
	check_member(btf, "flag", 16, 1);
	check_member(btf, "late", 16, 2); /* bits 131 to 140: bytes 16 and 17 */
	check_member(btf, "next", 24, 8);
	check_member(btf, "mem", 32, 64);
	check_member(btf, "mem[2]", 64, 16);
	check_member(btf, "mem[MEM_DATA].d", 32 + 48 + 10, 2);
	check_member(btf, "name", 96, 16);
	check_member(btf, "name[15]", 111, 1);
	assert_int_equal(btf_member(btf, "inner_t", "b", &m), 0);
	assert_int_equal(m.offset, 8);
	btf_free(btf);
}

static void test_absent(void **state)
{
	static const char *const paths[] = {"",
					    "nope",
					    "in.nope",
					    "in.a.b",
					    "mem[4]",
					    "mem[",
					    "mem[]",
					    "mem[-1]",
					    "mem[NOPE]",
					    "mem[1",
					    "name[16]",
					    "next.a",
					    "[0]",
					    ".",
					    "in..a",
					    "mem[0]x.y",
					    "mem[99999999999999999999]",
					    "mem[MINUS]"};
	struct btf *btf = parse_example();
	struct btf_member m;
	int64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!btf_member(btf, "outer", paths[i], &m))
			fail_msg("\"%s\" found at %u", paths[i], m.offset);
	}
	assert_int_equal(btf_member(btf, "nope", "in", &m), -1);
	assert_int_equal(btf_sizeof(btf, "nope"), 0);
	assert_int_equal(btf_enumerator(btf, "NOPE", &value), -1);
	btf_free(btf);
}

static void test_sizes_and_enumerators(void **state)
{
	struct btf *btf = parse_example();
	int64_t value;

	(void)state;
	assert_int_equal(btf_sizeof(btf, "outer"), 112);
	assert_int_equal(btf_sizeof(btf, "inner"), 16);
	assert_int_equal(btf_sizeof(btf, "inner_t"), 16);
	assert_int_equal(btf_enumerator(btf, "MEM_DATA", &value), 0);
	assert_int_equal(value, 3);
	assert_int_equal(btf_enumerator(btf, "MINUS", &value), 0);
	assert_int_equal(value, -5);
	assert_int_equal(btf_enumerator(btf, "BIG", &value), 0);
	assert_true(value == 1ll << 40);
	btf_free(btf);
}

/* Append a function with this prototype. */
static void make_function(struct btf_maker *m, const char *name, uint32_t returns)
{
	uint32_t proto = make_type(m, "", BTF_FUNC_PROTO, 0, returns);

	make_type(m, name, BTF_FUNC, 0, proto);
}

static void test_functions(void **state)
{
	struct btf_maker m = {0};
	struct err err = {0};
	struct blob b;
	struct btf *btf;
	uint32_t u32 = make_int(&m, "u32", 4), nothing = make_type(&m, "nothing", BTF_TYPEDEF, 0, 0);

	(void)state;
	make_function(&m, "puts_away", 0);
	make_function(&m, "counts", u32);
	make_function(&m, "says_so", nothing);
	/* Two functions have the same name, in two files. */
	make_function(&m, "both", 0);
	make_function(&m, "both", 0);
	make_function(&m, "either", 0);
	make_function(&m, "either", u32);
	make_type(&m, "no_proto", BTF_FUNC, 0, u32);
	make_type(&m, "no_type", BTF_FUNC, 0, 4711);
	make_type(&m, "no_function", BTF_TYPEDEF, 0, 0);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, &err);
	assert_non_null(btf);
	assert_true(btf_returns_nothing(btf, "puts_away"));
	assert_true(btf_returns_nothing(btf, "both"));
	assert_false(btf_returns_nothing(btf, "counts"));
	assert_false(btf_returns_nothing(btf, "either"));
	assert_false(btf_returns_nothing(btf, "says_so")); /* A typedef of void is not recognised. */
	assert_false(btf_returns_nothing(btf, "no_proto"));
	assert_false(btf_returns_nothing(btf, "no_type"));
	assert_false(btf_returns_nothing(btf, "no_function"));
	assert_false(btf_returns_nothing(btf, "puts"));
	assert_false(btf_returns_nothing(btf, ""));
	btf_free(btf);
	blob_free(&b);
	make_free(&m);
}

static void test_circles(void **state)
{
	struct btf_maker m = {0};
	struct err err = {0};
	struct btf_member member;
	struct btf *btf;
	struct blob b;

	(void)state;
	make_type(&m, "loop", BTF_TYPEDEF, 0, 2);
	make_type(&m, "", BTF_CONST, 0, 1);
	make_type(&m, "self", BTF_STRUCT, 2, 8);
	make_field(&m, "", 3, 0);
	make_field(&m, "", 3, 0);
	make_array(&m, 4, 2);
	make_type(&m, "holder", BTF_STRUCT, 2, 8);
	make_field(&m, "x", 4, 0);
	make_field(&m, "wild", 4000000, 0);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, &err);
	assert_non_null(btf);
	assert_int_equal(btf_sizeof(btf, "loop"), 0);
	assert_int_equal(btf_member(btf, "loop", "x", &member), -1);
	assert_int_equal(btf_member(btf, "self", "x", &member), -1);
	assert_int_equal(btf_member(btf, "holder", "x", &member), 0);
	assert_int_equal(member.size, 0);
	assert_int_equal(btf_member(btf, "holder", "x[1][1][1]", &member), 0);
	assert_int_equal(btf_member(btf, "holder", "wild", &member), 0);
	assert_int_equal(btf_member(btf, "holder", "wild.x", &member), -1);
	btf_free(btf);
	blob_free(&b);
	make_free(&m);
}

static void refuse(const void *bytes, size_t len)
{
	struct err err = {0};

	assert_null(btf_parse(bytes, len, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "BTF"));
}

static void test_truncated(void **state)
{
	struct btf_maker m = {0};
	struct blob b;

	(void)state;
	make_example(&m);
	b = make_btf(&m);
	for (size_t len = 0; len < b.len; len++) {
		/* Copy exactly this many bytes, so that the sanitizer sees a read past them. */
		void *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, b.bytes, len);
		refuse(copy, len);
		free(copy);
	}
	blob_free(&b);
	make_free(&m);
}

static void test_corrupt(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} changes[] = {
		{0, 0x01009feb}, {4, 23},	   {4, 0xffffffff},  {8, 0xfffffff0}, {12, 0x7fffffff}, {16, 0xffffffff},
		{20, 0},	 {20, 0xffffffff}, {28, 0x1f000000}, {28, 0},	      {28, 0x0400ffff},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct btf_maker m = {0};
		struct blob b;

		make_example(&m);
		b = make_btf(&m);
		memcpy(b.bytes + changes[i].at, &changes[i].value, 4);
		refuse(b.bytes, b.len);
		blob_free(&b);
		make_free(&m);
	}
}

static void test_from_guest(void **state)
{
	struct symbol syms[] = {{"__start_BTF", 0xffffffff82000000ull, 0, 'R'}, {"__stop_BTF", 0, 0, 'R'}};
	struct fake_memory mem = {0};
	struct guest_reader reader = fake_reader(&mem);
	struct btf_maker m = {0};
	struct err err = {0};
	struct symtab *kernel;
	struct btf *btf;
	struct blob b;

	(void)state;
	make_example(&m);
	b = make_btf(&m);
	syms[1].addr = syms[0].addr + b.len;
	kernel = symtab_from_array(syms, 2, &err);
	assert_non_null(kernel);
	assert_null(btf_from_guest(&reader, kernel, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	fake_memory_map(&mem, syms[0].addr, b.bytes, b.len);
	err = (struct err){0};
	btf = btf_from_guest(&reader, kernel, &err);
	assert_non_null(btf);
	assert_int_equal(btf_sizeof(btf, "outer"), 112);
	btf_free(btf);
	symtab_free(kernel);
	kernel = symtab_from_array(syms, 1, &err);
	assert_null(btf_from_guest(&reader, kernel, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	symtab_free(kernel);
	blob_free(&b);
	make_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_sizes_and_enumerators),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_from_guest),
	};

	return cmocka_run_group_tests_name("symbols: BTF", tests, NULL, NULL);
}
