// SPDX-License-Identifier: GPL-2.0-or-later
/* From an offset in a type to the member's path. */
#include "tests/unit/symbols/btf_maker.h"

/*
 *	struct inner { u32 a; union { u64 b; struct { u16 c, d; }; }; };		16 bytes
 *	typedef const struct inner inner_t;
 *	struct outer { inner_t in; u8 flag:3; u8 other:2; u16 late:10 (bit 136); struct outer *next; inner_t mem[4];
 *		       u8 name[2][8]; struct { u64 x; } whole; u32 tail[]; };		120 bytes
 *	struct outer outer_var; u32 *pointer_var;
 */
static void make_example(struct btf_maker *m)
{
	uint32_t u8 = make_int(m, "u8", 1), u16 = make_int(m, "u16", 2), u32 = make_int(m, "u32", 4),
		 u64 = make_int(m, "u64", 8);
	uint32_t pair, either, inner, alias, next, mem, name, whole, tail, outer;

	pair = make_type(m, "", BTF_STRUCT, 2, 4);
	make_field(m, "c", u16, 0);
	make_field(m, "d", u16, 16);
	either = make_type(m, "", BTF_UNION, 2, 8);
	make_field(m, "b", u64, 0);
	make_field(m, "", pair, 0);
	inner = make_type(m, "inner", BTF_STRUCT, 2, 16);
	make_field(m, "a", u32, 0);
	make_field(m, "", either, 64);
	inner = make_type(m, "", BTF_CONST, 0, inner);
	alias = make_type(m, "inner_t", BTF_TYPEDEF, 0, inner);
	next = make_type(m, "", BTF_PTR, 0, 0);
	mem = make_array(m, alias, 4);
	name = make_array(m, u8, 8);
	name = make_array(m, name, 2);
	whole = make_type(m, "", BTF_STRUCT, 1, 8);
	make_field(m, "x", u64, 0);
	tail = make_array(m, u32, 0);
	outer = make_type(m, "outer", KIND_FLAG | BTF_STRUCT, 9, 128);
	make_field(m, "in", alias, 0);
	make_field(m, "flag", u8, 3u << 24 | 128);
	make_field(m, "other", u8, 2u << 24 | 131);
	make_field(m, "late", u16, 10u << 24 | 136);
	make_field(m, "next", next, 192);
	make_field(m, "mem", mem, 256);
	make_field(m, "name", name, 768);
	make_field(m, "whole", whole, 896);
	make_field(m, "tail", tail, 960);
	make_type(m, "outer_var", BTF_VAR, 0, outer);
	blob_u32(&m->types, 0);
	make_type(m, "pointer_var", BTF_VAR, 0, next);
	blob_u32(&m->types, 0);
}

static struct btf *parse(struct btf_maker *m)
{
	struct blob b = make_btf(m);
	struct err err = {0};
	struct btf *btf = btf_parse(b.bytes, b.len, &err);

	if (!btf)
		fail_msg("%s", err.text);
	blob_free(&b);
	make_free(m);
	return btf;
}

static struct btf *parse_example(void)
{
	struct btf_maker m = {0};

	make_example(&m);
	return parse(&m);
}

static void test_paths(void **state)
{
	static const struct {
		uint32_t offset, size;
		const char *path;
	} cases[] = {
		{0, 4, "in.a"},
		{2, 1, "in.a"},
		{0, 16, "in"},
		{0, 8, "in.a"},		 /* and more */
		{4, 4, "in"},		 /* between members */
		{8, 8, "in.b"},		 /* the union's member that fits, */
		{8, 2, "in.c"},		 /* wherever it was declared */
		{10, 2, "in.d"},	 /* through the anonymous structure */
		{8, 4, "in.b"},		 /* inside the first member */
		{16, 1, "{flag,other}"}, /* the bit-fields of one byte */
		{17, 1, "late"},	 /* the bit-field of another byte */
		{16, 2, "{flag,other,late}"},
		{19, 1, ""}, /* no member */
		{24, 8, "next"},
		{28, 4, "next"},
		{32, 64, "mem"},
		{64, 16, "mem[2]"},
		{90, 2, "mem[3].d"},
		{72, 16, "mem"}, /* of two elements */
		{96, 16, "name"},
		{96, 8, "name[0]"},
		{111, 1, "name[1][7]"},
		{112, 8, "whole.x"},
		{120, 4, "tail[0]"},
		{124, 4, "tail[1]"},
		{0, 128, ""},
	};
	struct btf *btf = parse_example();
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(path, 'x', sizeof(path));
		assert_int_equal(btf_path_at(btf, "outer", cases[i].offset, cases[i].size, path, sizeof(path)), 0);
		if (strcmp(path, cases[i].path) != 0)
			fail_msg("%u bytes at %u: %s, not %s", cases[i].size, cases[i].offset, path, cases[i].path);
	}
	assert_int_equal(btf_path_at(btf, "inner_t", 10, 2, path, sizeof(path)), 0);
	assert_string_equal(path, "d");
	btf_free(btf);
}

static void test_no_such_place(void **state)
{
	struct btf *btf = parse_example();
	char path[64] = "kept";

	(void)state;
	assert_int_equal(btf_path_at(btf, "nope", 0, 4, path, sizeof(path)), -1);
	assert_int_equal(btf_path_at(btf, "outer", 128, 4, path, sizeof(path)), -1);
	assert_int_equal(btf_path_at(btf, "outer", UINT32_MAX, 4, path, sizeof(path)), -1);
	assert_string_equal(path, "kept");
	/* A made-up size gives the member in which the access begins. */
	assert_int_equal(btf_path_at(btf, "outer", 96, UINT32_MAX, path, sizeof(path)), 0);
	assert_string_equal(path, "name");
	assert_int_equal(btf_path_at(btf, "outer", 24, 0, path, sizeof(path)), 0);
	assert_string_equal(path, "next");
	btf_free(btf);
}

static void test_cut_off(void **state)
{
	struct btf *btf = parse_example();
	char path[6];

	(void)state;
	assert_int_equal(btf_path_at(btf, "outer", 90, 2, path, sizeof(path)), 0);
	assert_string_equal(path, "mem[3");
	btf_free(btf);
}

static void test_variables(void **state)
{
	struct btf *btf = parse_example();
	char type[32], path[64];

	(void)state;
	assert_int_equal(btf_variable_at(btf, "outer_var", 42, 2, type, sizeof(type), path, sizeof(path)), 0);
	assert_string_equal(type, "outer");
	assert_string_equal(path, "mem[0].d");
	assert_int_equal(btf_variable_at(btf, "pointer_var", 0, 8, type, sizeof(type), path, sizeof(path)), 0);
	assert_string_equal(type, "");
	assert_string_equal(path, "");
	assert_int_equal(btf_variable_at(btf, "pointer_var", 8, 8, type, sizeof(type), path, sizeof(path)), -1);
	assert_int_equal(btf_variable_at(btf, "outer", 0, 8, type, sizeof(type), path, sizeof(path)), -1);
	btf_free(btf);
}

/* Types contain themselves, once or twice: the recursion and the search end, and the name has a bounded length. */
static void test_made_up(void **state)
{
	struct btf_maker m = {0};
	char path[512], longest[300];
	struct btf *btf;

	(void)state;
	memset(longest, 'n', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	make_type(&m, "self", BTF_STRUCT, 2, 8);
	make_field(&m, "", 1, 0);
	make_field(&m, "x", 1, 0);
	make_array(&m, 2, 2);
	make_type(&m, "holder", BTF_STRUCT, 3, 8);
	make_field(&m, "circle", 2, 0);
	make_field(&m, "wild", 4000000, 0);
	make_field(&m, "nothing", 0, 0);
	make_int(&m, "u64", 8);
	make_type(&m, "long", BTF_STRUCT, 1, 8);
	make_field(&m, longest, 4, 0);
	btf = parse(&m);
	assert_int_equal(btf_path_at(btf, "self", 0, 8, path, sizeof(path)), 0);
	assert_int_equal(btf_path_at(btf, "self", 7, 4, path, sizeof(path)), 0);
	assert_int_equal(btf_path_at(btf, "holder", 0, 8, path, sizeof(path)), 0);
	assert_string_equal(path, "");
	assert_int_equal(btf_path_at(btf, "long", 0, 8, path, sizeof(path)), 0);
	assert_int_equal(strlen(path), 255);
	btf_free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),	  cmocka_unit_test(test_no_such_place), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_variables), cmocka_unit_test(test_made_up),
	};

	return cmocka_run_group_tests_name("symbols: BTF paths", tests, NULL, NULL);
}
