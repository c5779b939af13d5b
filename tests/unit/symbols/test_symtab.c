/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_build.h"
#include "tests/unit/symbols/elf_maker.h"

#define TEXT 0xffffffff81000000ull
#define SLIDE 0x1c000000ull

static const char system_map[] = "0000000000000000 D __per_cpu_start\n"
				 "000000000001fb80 D current_task\n"
				 "ffffffff81000000 T _stext\n"
				 "ffffffff81000000 T _text\n"
				 "ffffffff81000000 T startup_64\n"
				 "ffffffff81000040 t helper\n"
				 "ffffffff81000100 T last_function\n"
				 "ffffffff81000180 T _etext\n"
				 "ffffffff82000000 D jiffies\n"
				 "ffffffff82000000 D jiffies_64\n"
				 "ffffffff82000008 b helper\n"
				 "ffffffff82001000 B _end\n";

/* Write `len` bytes to a temporary file, and load the file. */
static struct symtab *load_bytes(const void *bytes, size_t len, struct err *err)
{
	char path[] = "/tmp/test_sym_XXXXXX";
	int fd = mkstemp(path);
	struct symtab *st;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	*err = (struct err){0};
	st = symtab_load(path, err);
	unlink(path);
	return st;
}

static void refuse(const void *bytes, size_t len, const char *what)
{
	struct err err;
	struct symtab *st = load_bytes(bytes, len, &err);

	if (st)
		fail_msg("%s: loaded", what);
	if (err.code != EXIT_INPUT || !err.text[0] || strchr(err.text, '\n'))
		fail_msg("%s: code %d, \"%s\"", what, err.code, err.text);
}

static void check_at(const struct symtab *st, uint64_t addr, const char *name, uint64_t start)
{
	struct symbol sym;

	if (symtab_at(st, addr, &sym))
		fail_msg("nothing at %#llx", (unsigned long long)addr);
	assert_string_equal(sym.name, name);
	assert_true(sym.addr == start);
}

static void test_system_map(void **state)
{
	struct err err;
	struct symtab *st = load_bytes(system_map, sizeof(system_map) - 1, &err);
	struct symbol sym;
	const uint8_t *id;

	(void)state;
	assert_non_null(st);
	assert_int_equal(symtab_count(st), 12);
	assert_int_equal(symtab_build_id(st, &id), 0);
	assert_int_equal(symtab_find(st, "helper", &sym), 0);
	assert_true(sym.addr == TEXT + 0x40 && sym.size == 0xc0 && sym.type == 't');
	assert_true(symtab_addr(st, "last_function") == TEXT + 0x100);
	assert_int_equal(symtab_find(st, "nope", &sym), -1);
	assert_true(symtab_addr(st, "nope") == 0);
	for (size_t i = 1; i < symtab_count(st); i++) {
		struct symbol before;

		symtab_get(st, i - 1, &before);
		symtab_get(st, i, &sym);
		assert_true(before.addr <= sym.addr);
	}
	symtab_free(st);
}

static void test_slide(void **state)
{
	struct err err;
	struct symtab *st = load_bytes(system_map, sizeof(system_map) - 1, &err);
	struct symbol sym;

	(void)state;
	assert_non_null(st);
	symtab_set_slide(st, SLIDE);
	assert_true(symtab_addr(st, "helper") == TEXT + SLIDE + 0x40);
	check_at(st, TEXT + SLIDE + 0x41, "helper", TEXT + SLIDE + 0x40);
	assert_int_equal(symtab_at(st, TEXT + 0x41, &sym), -1);
	/* Per-CPU offsets do not move with the kernel. */
	assert_int_equal(symtab_find(st, "current_task", &sym), 0);
	assert_true(sym.addr == 0x1fb80 && sym.type == 'A');
	check_at(st, 0x1fb80, "current_task", 0x1fb80);
	symtab_free(st);
}

static void test_at(void **state)
{
	struct err err;
	struct symtab *st = load_bytes(system_map, sizeof(system_map) - 1, &err);
	struct symbol sym;

	(void)state;
	assert_non_null(st);
	/* A function's own name comes before the linker's markers, for each byte of the function and no other byte. */
	check_at(st, TEXT, "startup_64", TEXT);
	check_at(st, TEXT + 0x3f, "startup_64", TEXT);
	check_at(st, TEXT + 0x40, "helper", TEXT + 0x40);
	check_at(st, TEXT + 0x17f, "last_function", TEXT + 0x100);
	check_at(st, 0xffffffff82000004ull, "jiffies", 0xffffffff82000000ull);
	assert_int_equal(symtab_at(st, TEXT - 1, &sym), -1);
	/* The last symbol has no size, so it names only its own address. */
	check_at(st, 0xffffffff82001000ull, "_end", 0xffffffff82001000ull);
	assert_int_equal(symtab_at(st, 0xffffffff82001001ull, &sym), -1);
	assert_int_equal(symtab_at(st, UINT64_MAX, &sym), -1);
	symtab_free(st);
}

static void test_bad_system_map(void **state)
{
	static const char *const bad[] = {
		"ffffffff81000000 T name",   /* no end of line */
		"ffffffff81000000 T \n",     /* no name */
		"ffffffff8100000 T name\n",  /* 15 digits */
		"FFFFFFFF81000000 T name\n", /* nm prints lower case */
		"ffffffff81000000 T two words\n",
		"ffffffff81000000 1 name\n",
		"ffffffff81000000 T na\033[31mme\n", /* a control character */
		"ffffffff81000000 T a\nrubbish\n",
		"\n\n\n\n",
		"ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n",
		"#!/bin/sh\necho hello\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuse(bad[i], strlen(bad[i]), bad[i]);
	refuse("", 0, "empty");
	refuse("abc", 3, "three bytes");
	refuse("\0\0\0\0\0\0\0\0", 8, "zeros");
}

static void test_bad_paths(void **state)
{
	static const char *const paths[] = {"/nonexistent/vmlinux", "/", "/dev/null", "/dev/zero", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct err err = {0};

		assert_null(symtab_load(paths[i], &err));
		assert_int_equal(err.code, EXIT_INPUT);
	}
}

static const struct made_symbol elf_symbols[] = {
	{"_text", TEXT, 0, MADE_TEXT, STB_GLOBAL, STT_NOTYPE},
	{"do_work", TEXT, 100, MADE_TEXT, STB_GLOBAL, STT_FUNC},
	{"local_fn", TEXT + 0x80, 16, MADE_TEXT, STB_LOCAL, STT_FUNC},
	{"weak_fn", TEXT + 0xa0, 16, MADE_TEXT, STB_WEAK, STT_FUNC},
	{"counter", TEXT + 0x1000, 8, MADE_DATA, STB_GLOBAL, STT_OBJECT},
	{"table", TEXT + 0x2000, 64, MADE_RODATA, STB_LOCAL, STT_OBJECT},
	{"zeros", TEXT + 0x3000, 64, MADE_BSS, STB_LOCAL, STT_OBJECT},
	{"pcpu", 0x100, 8, MADE_DATA, STB_GLOBAL, STT_OBJECT},
	{".LC3", TEXT + 0x2008, 0, MADE_RODATA, STB_LOCAL, STT_NOTYPE},
	{"__crc_x", TEXT + 0x2008, 0, SHN_ABS, STB_GLOBAL, STT_NOTYPE},
	{"file.c", 0, 0, SHN_ABS, STB_LOCAL, STT_FILE},
	{"outside", 0, 0, SHN_UNDEF, STB_GLOBAL, STT_NOTYPE},
};

#define ELF_SYMBOLS (sizeof(elf_symbols) / sizeof(elf_symbols[0]))

static void test_elf(void **state)
{
	static const char types[][2] = {"T", "t", "W", "D", "r", "b", "A"};
	static const char *const names[] = {"do_work", "local_fn", "weak_fn", "counter", "table", "zeros", "pcpu"};
	struct blob elf = make_elf(elf_symbols, ELF_SYMBOLS);
	struct symbol sym;
	const uint8_t *id;
	struct symtab *st;
	struct err err;

	(void)state;
	st = load_bytes(elf.bytes, elf.len, &err);
	if (!st)
		fail_msg("%s", err.text);
	assert_int_equal(symtab_count(st), 8);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(symtab_find(st, names[i], &sym), 0);
		assert_int_equal(sym.type, types[i][0]);
	}
	assert_int_equal(symtab_build_id(st, &id), 20);
	assert_memory_equal(id, MADE_BUILD_ID, 20);
	check_at(st, TEXT + 99, "do_work", TEXT);
	/* Padding after a function belongs to no function. */
	assert_int_equal(symtab_at(st, TEXT + 100, &sym), -1);
	symtab_free(st);
	blob_free(&elf);
}

static void test_truncated_elf(void **state)
{
	struct blob elf = make_elf(elf_symbols, ELF_SYMBOLS);

	(void)state;
	for (size_t len = 4; len < elf.len; len += len < 64 ? 1 : 37)
		refuse(elf.bytes, len, "truncated");
	blob_free(&elf);
}

static void other_machine(Elf64_Ehdr *header)
{
	header->e_machine = EM_AARCH64;
}

static void object_file(Elf64_Ehdr *header)
{
	header->e_type = ET_REL;
}

static void of_32_bits(Elf64_Ehdr *header)
{
	header->e_ident[EI_CLASS] = ELFCLASS32;
}

static void without_sections(Elf64_Ehdr *header)
{
	header->e_shoff = 0;
	header->e_shnum = 0;
}

static const struct bad_elf {
	const char *shows;
	void (*change)(Elf64_Ehdr *header);
} bad_elfs[] = {
	{"ELF file of another machine", other_machine},
	{"ELF file that is an object file", object_file},
	{"ELF file of 32 bits", of_32_bits},
	{"ELF file without sections", without_sections},
};

/* The state is the row. */
static void test_bad_elf(void **state)
{
	const struct bad_elf *bad = *state;
	struct blob elf = make_elf(elf_symbols, ELF_SYMBOLS);

	bad->change((void *)elf.bytes);
	refuse(elf.bytes, elf.len, bad->shows);
	blob_free(&elf);
}

static void test_colliding_names(void **state)
{
	/* Many symbols of one name are the normal case, and the first address wins. */
	struct symbol *syms = calloc(5000, sizeof(*syms));
	struct symbol sym;
	struct symtab *st;
	struct err err = {0};

	(void)state;
	assert_non_null(syms);
	for (unsigned i = 0; i < 5000; i++)
		syms[i] = (struct symbol){.name = "same", .addr = TEXT + (4999 - i) * 16, .type = 't'};
	st = symtab_from_array(syms, 5000, &err);
	assert_non_null(st);
	assert_int_equal(symtab_find(st, "same", &sym), 0);
	assert_true(sym.addr == TEXT);
	symtab_free(st);
	free(syms);
}

static void test_empty(void **state)
{
	struct err err = {0};
	struct symtab *st = symtab_from_array(NULL, 0, &err);
	struct symbol sym;

	(void)state;
	assert_non_null(st);
	assert_int_equal(symtab_count(st), 0);
	assert_int_equal(symtab_find(st, "x", &sym), -1);
	assert_int_equal(symtab_at(st, TEXT, &sym), -1);
	symtab_free(st);
}

/* Kallsyms tokens can expand a few megabytes of a guest to gigabytes of names, so the table refuses more than a limit. */
static void test_too_many_names(void **state)
{
	const size_t n = SYMTAB_MAX_NAMES / SYMTAB_MAX_NAME + 1;
	struct symbol *syms = calloc(n, sizeof(*syms));
	char name[SYMTAB_MAX_NAME] = "";
	struct err err = {0};

	(void)state;
	assert_non_null(syms);
	memset(name, 'n', sizeof(name) - 1);
	for (size_t i = 0; i < n; i++)
		syms[i] = (struct symbol){.name = name, .addr = TEXT + i * 16, .type = 't'};
	assert_null(symtab_from_array(syms, n, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "MiB of names"));
	free(syms);
}

static clock_t lookup_clocks(const struct symtab *st, uint64_t addr, const char *name)
{
	clock_t began = clock();
	struct symbol sym;

	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(symtab_at(st, addr, &sym), 0);
		assert_string_equal(sym.name, name);
	}
	return clock() - began + 1;
}

/* A look-up takes no longer at an address with a million symbols, even if none of them may name it. */
static void test_many_aliases(void **state)
{
	enum { ALIASES = 1000000 };
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *st;
	struct symbol sym;
	char name[32];
	clock_t took[2];

	(void)state;
	assert_int_equal(symtab_builder_add(b, "first", 5, 0xffffffff81000000, 0x10, 'T', NULL), 0);
	assert_int_equal(symtab_builder_add(b, "own_name", 8, 0xffffffff81000100, 0, 'T', NULL), 0);
	for (unsigned i = 0; i < ALIASES; i++) {
		int len = snprintf(name, sizeof(name), "alias%u", i);

		/* Half of the aliases are equal candidates at own_name's address. The other half are absolute: the slide does
		 * not move them. */
		assert_int_equal(symtab_builder_add(b, name, (size_t)len, 0xffffffff81000100 + (i % 2 ? 0x100 : 0), 0,
						    i % 2 ? 'A' : 'T', NULL),
				 0);
	}
	st = symtab_builder_finish(b, NULL);
	assert_non_null(st);
	symtab_set_slide(st, 0x1000000);
	for (unsigned i = 0; i < 2; i++)
		took[i] = lookup_clocks(st, i ? 0xffffffff82000100 : 0xffffffff82000000, i ? "own_name" : "first");
	print_message("# look-ups took %ld without aliases, %ld among %d\n", (long)took[0], (long)took[1], ALIASES);
	assert_true(took[1] < 20 * took[0]);
	assert_int_equal(symtab_at(st, 0xffffffff82000010, &sym), -1);
	/* An absolute symbol names no address of the kernel, and the symbol before it does not reach past it. */
	assert_int_equal(symtab_at(st, 0xffffffff82000200, &sym), -1);
	symtab_free(st);
}

static void test_bytes(void **state)
{
	const struct symbol syms[] = {{.name = "a", .addr = TEXT, .type = 't'},
				      {.name = "bcd", .addr = TEXT + 16, .type = 't'}};
	struct symtab *one = symtab_from_array(syms, 1, NULL), *two = symtab_from_array(syms, 2, NULL);

	(void)state;
	assert_non_null(one);
	assert_non_null(two);
	assert_in_range(symtab_bytes(one), 1, symtab_bytes(two) - strlen("bcd") - 1);
	symtab_free(one);
	symtab_free(two);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(test_system_map),     cmocka_unit_test(test_slide),	       cmocka_unit_test(test_at),
		cmocka_unit_test(test_bad_system_map), cmocka_unit_test(test_bad_paths),       cmocka_unit_test(test_elf),
		cmocka_unit_test(test_truncated_elf),  cmocka_unit_test(test_colliding_names), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_too_many_names), cmocka_unit_test(test_many_aliases),    cmocka_unit_test(test_bytes),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(bad_elfs)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < COUNT(bad_elfs); i++)
		*next++ = (struct CMUnitTest){
			.name = bad_elfs[i].shows, .test_func = test_bad_elf, .initial_state = (void *)&bad_elfs[i]};
	return cmocka_run_group_tests_name("symbols: symbol tables", tests, NULL, NULL);
}
