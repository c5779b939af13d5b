/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "tests/unit/symbols/kallsyms_maker.h"

#define SYMBOLS 700 /* the tables have three markers */
#define PERCPU 12
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
	struct symbol syms[SYMBOLS];
	char names[SYMBOLS][160];
	struct blob image;
};

/*
 * Per-CPU symbols come first in the order of addresses. A kernel without absolute per-CPU symbols has them at other positions.
 */
static void make_symbols(struct fixture *f, const struct made_layout *l)
{
	for (unsigned i = 0; i < SYMBOLS; i++) {
		bool percpu = i < PERCPU && l->encoding == MADE_PERCPU;

		/* Some names share tokens, and one name is too long for a length of one byte. */
		snprintf(f->names[i], sizeof(f->names[i]), "sched_symbol%u_%.*s", i,
			 l->long_names && i % 300 == 150 ? 130 : i % 7,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM"
			 "NOPQR"
			 "STUVWXYZ0123456789abcdefghij");
		f->syms[i] = (struct symbol){
			.name = f->names[i],
			.addr = percpu ? 0x1000 + i * 8 : IMAGE_BASE + i * 16,
			.type = percpu ? 'A' : "tTdDbBrR"[i % 8],
		};
	}
}

static struct symtab *read_image(const struct blob *image, struct err *err)
{
	struct fake_memory mem = {0};
	struct guest_reader reader = fake_reader(&mem);

	*err = (struct err){0};
	fake_memory_map(&mem, IMAGE_BASE, image->bytes, image->len);
	/* The range is larger than the image: a caller knows the area of kernel text, not the image's bounds. */
	return symtab_from_kallsyms(&reader, 0xffffffff80000000ull, 0xffffffff90000000ull, err);
}

static void check_layout(const struct made_layout *l)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct symtab *st;
	struct err err;

	assert_non_null(f);
	make_symbols(f, l);
	made_image(&f->image, l, f->syms, SYMBOLS);
	st = read_image(&f->image, &err);
	if (!st)
		fail_msg("%s: %s", l->name, err.text);
	assert_int_equal(symtab_count(st), SYMBOLS);
	for (unsigned i = 0; i < SYMBOLS; i++) {
		struct symbol got;

		if (symtab_find(st, f->syms[i].name, &got))
			fail_msg("%s: no %s", l->name, f->syms[i].name);
		if (got.addr != f->syms[i].addr || got.type != f->syms[i].type)
			fail_msg("%s: %s at %#llx of type %c", l->name, got.name, (unsigned long long)got.addr, got.type);
	}
	symtab_free(st);
	blob_free(&f->image);
	free(f);
}

static void test_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(made_layouts); i++)
		check_layout(&made_layouts[i]);
}

/*
 * Check that broken tables are refused, and never read in part. `break_it` gets the image of 6.1 and the offset of its tables.
 */
static void check_refused(void (*break_it)(struct fixture *f, size_t tables))
{
	const struct made_layout *l = &made_layouts[1];
	struct fixture *f = calloc(1, sizeof(*f));
	struct symtab *st;
	struct err err;

	assert_non_null(f);
	make_symbols(f, l);
	made_image(&f->image, l, f->syms, SYMBOLS);
	break_it(f, 5000 * 4 + 64 - 5000 * 4 % 64);
	st = read_image(&f->image, &err);
	assert_null(st);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "kallsyms"));
	blob_free(&f->image);
	free(f);
}

static uint8_t *find_bytes(struct fixture *f, const void *bytes, size_t len)
{
	uint8_t *at = memmem(f->image.bytes, f->image.len, bytes, len);

	assert_non_null(at);
	return at;
}

static void break_count(struct fixture *f, size_t tables)
{
	uint32_t n = SYMBOLS;

	(void)tables;
	(*(find_bytes(f, &n, sizeof(n))))++;
}

static void break_marker(struct fixture *f, size_t tables)
{
	/* The markers are the last table before the tokens. */
	uint8_t *tokens = find_bytes(f, "x00", 4);

	(void)tables;
	tokens[-8]++;
}

static void break_token(struct fixture *f, size_t tables)
{
	(void)tables;
	find_bytes(f, SHARED_TOKEN, 4)[1] = '\n';
}

static void break_base(struct fixture *f, size_t tables)
{
	uint64_t base = IMAGE_BASE;

	(void)tables;
	find_bytes(f, &base, sizeof(base))[7] = 0;
}

static void break_order(struct fixture *f, size_t tables)
{
	/* Swap two addresses: a table that is not sorted is not the table of offsets. */
	uint32_t *offsets = (uint32_t *)(void *)(f->image.bytes + tables);
	uint32_t first = offsets[100];

	offsets[100] = offsets[200];
	offsets[200] = first;
}

static void break_all(struct fixture *f, size_t tables)
{
	memset(f->image.bytes + tables, 0xcc, f->image.len - tables);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused(break_count);
	check_refused(break_marker);
	check_refused(break_token);
	check_refused(break_base);
	check_refused(break_order);
	check_refused(break_all);
}

static void test_holes(void **state)
{
	/* Unmapped pages (freed init text) do not hide the tables. */
	struct fixture *f = calloc(1, sizeof(*f));
	struct fake_memory mem = {0};
	struct guest_reader reader = fake_reader(&mem);
	struct err err = {0};
	struct symtab *st;

	(void)state;
	assert_non_null(f);
	make_symbols(f, &made_layouts[3]);
	made_image(&f->image, &made_layouts[3], f->syms, SYMBOLS);
	fake_memory_map(&mem, IMAGE_BASE, f->image.bytes, 4096);
	fake_memory_map(&mem, IMAGE_BASE + 8192, f->image.bytes + 8192, f->image.len - 8192);
	st = symtab_from_kallsyms(&reader, IMAGE_BASE, IMAGE_BASE + f->image.len, &err);
	assert_non_null(st);
	assert_int_equal(symtab_count(st), SYMBOLS);
	symtab_free(st);
	blob_free(&f->image);
	free(f);
}

static void test_nothing_there(void **state)
{
	struct fake_memory mem = {0};
	struct guest_reader reader = fake_reader(&mem);
	struct err err = {0};

	(void)state;
	assert_null(symtab_from_kallsyms(&reader, IMAGE_BASE, IMAGE_BASE + (64 << 20), &err));
	assert_int_equal(err.code, EXIT_INPUT);
	err = (struct err){0};
	assert_null(symtab_from_kallsyms(&reader, IMAGE_BASE, IMAGE_BASE - 1, &err));
	assert_int_not_equal(err.code, EXIT_OK);
	err = (struct err){0};
	assert_null(symtab_from_kallsyms(&reader, 0, UINT64_MAX, &err));
	assert_int_not_equal(err.code, EXIT_OK);
}

/*
 * Within the names of a big kernel, many words look like a count of names. The search must not add up the lengths of all names
 * after each of them: in Linux 7.3, that took more steps than a search may take.
 */
static void test_words_like_counts(void **state)
{
	enum { MANY = 60000, NAME = 8 };
	/* Aligned to four bytes, the second half of each name is the count 0x013010. Names of 7 tokens follow it. */
	static const uint8_t name[NAME] = {7, 't', 1, 1, 0x10, 0x30, 1, 0};
	const struct made_layout *l = &made_layouts[COUNT(made_layouts) - 1];
	struct symbol *syms = calloc(MANY, sizeof(*syms));
	struct blob image = {0};
	struct symtab *st;
	struct err err;
	uint8_t *at;

	(void)state;
	assert_non_null(syms);
	for (unsigned i = 0; i < MANY; i++)
		syms[i] = (struct symbol){.name = "000000", .addr = IMAGE_BASE + i * 16, .type = 't'};
	made_image(&image, l, syms, MANY);
	at = memmem(image.bytes, image.len, "\7t000000", NAME);
	assert_non_null(at);
	for (unsigned i = 0; i < MANY; i++)
		memcpy(at + i * NAME, name, NAME);
	st = read_image(&image, &err);
	if (!st)
		fail_msg("%s", err.text);
	assert_int_equal(symtab_count(st), MANY);
	symtab_free(st);
	blob_free(&image);
	free(syms);
}

/* Every word of the image looks like a count of names, and every name has two thousand empty tokens. */
static void test_empty_tokens(void **state)
{
	struct blob image = {0}, index = {0};
	struct err err;
	size_t start;

	(void)state;
	for (unsigned i = 0; i < (64u << 20) / 8; i++)
		blob_u64(&image, 0x0f80);
	start = image.len;
	for (unsigned token = 0; token < 256; token++) {
		const char digit[] = {token >= '0' && token <= '9' ? (char)token : '\0', '\0'};

		blob_u16(&index, (unsigned)(image.len - start));
		blob_string(&image, digit);
	}
	blob_align(&image, 8);
	blob_put(&image, index.bytes, index.len);
	blob_align(&image, 4096);
	alarm(300); /* seconds; the search takes less than one on an idle machine */
	assert_null(read_image(&image, &err));
	alarm(0);
	assert_int_equal(err.code, EXIT_INPUT);
	blob_free(&index);
	blob_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_words_like_counts),
		cmocka_unit_test(test_empty_tokens),
	};

	return cmocka_run_group_tests_name("symbols: kallsyms", tests, NULL, NULL);
}
