/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest with three modules, laid out as its own BTF says, that may change under the reader. */
#include <elf.h>

#include "hv/base/rng.h"
#include "symbols/modules/modules.h"
#include "tests/unit/test_sym_btf_maker.h"

#define HEAD 0xffffffff82b00000ull
#define HEAP 0xffffffffc0100000ull
#define TEXT 0xffffffffc0200000ull
#define NOTES 0xffff888004000000ull
#define SECTIONS 0xffff888004800000ull
#define TABLES 0xffff888005000000ull
#define STRUCT_SIZE 256
#define MODULES 3

/* Offsets in the made-up struct module. */
enum {
	STATE = 0,
	LIST = 8,
	NAME = 24,
	TEXT_BASE = 96,
	TEXT_LEN = 104,
	INIT_BASE = 112,
	INIT_LEN = 120,
	KALLSYMS = 128,
	NOTES_ATTRS = 136,
	NOINSTR = 144,
	NOINSTR_LEN = 152,
	SECT_ATTRS = 160,
};

struct world {
	struct btf *btf;
	struct symtab *kernel;
	struct fake_memory mem;
	struct guest_reader reader;
	uint8_t head[16];
	uint8_t heap[MODULES * STRUCT_SIZE];
	uint8_t notes[512];
	uint8_t sections[1024];
	struct blob tables;
};

static void put(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

static uint8_t *module_at(struct world *w, unsigned i)
{
	return w->heap + i * STRUCT_SIZE;
}

static uint64_t list_gva(unsigned i)
{
	return HEAP + i * STRUCT_SIZE + LIST;
}

/* Since 6.14 the attributes themselves, before a struct around each, and their number. */
static void make_section_types(struct btf_maker *m, bool newest, uint32_t bin, uint32_t u32, uint32_t u64)
{
	uint32_t element = bin;

	if (!newest) {
		element = make_type(m, "module_sect_attr", BTF_STRUCT, 2, 56);
		make_field(m, "battr", bin, 0);
		make_field(m, "address", u64, 48 * 8);
	}
	element = make_array(m, element, 0);
	make_type(m, "module_sect_attrs", BTF_STRUCT, newest ? 1 : 2, 16);
	if (!newest)
		make_field(m, "nsections", u32, 64);
	make_field(m, "attrs", element, 128);
}

static void make_module_types(struct btf_maker *m, bool with_mem)
{
	uint32_t u8 = make_int(m, "u8", 1), u32 = make_int(m, "u32", 4), u64 = make_int(m, "u64", 8);
	uint32_t bin, ptr = make_type(m, "", BTF_PTR, 0, 0), list, name = make_array(m, u8, 56), memory, mem;

	list = make_list_head(m, ptr);
	memory = make_type(m, "module_memory", BTF_STRUCT, 2, 16);
	make_field(m, "base", ptr, 0);
	make_field(m, with_mem ? "size" : "text_size", u32, 64);
	mem = make_array(m, memory, 2);
	make_type(m, "", BTF_ENUM, 2, 4);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, "MOD_TEXT"));
	blob_u32(&m->types, 0);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, "MOD_INIT_TEXT"));
	blob_u32(&m->types, 1);
	make_type(m, "module", BTF_STRUCT, with_mem ? 9 : 10, STRUCT_SIZE);
	make_field(m, "state", u32, STATE * 8);
	make_field(m, "list", list, LIST * 8);
	make_field(m, "name", name, NAME * 8);
	if (with_mem) {
		make_field(m, "mem", mem, TEXT_BASE * 8);
	} else {
		make_field(m, "core_layout", memory, TEXT_BASE * 8);
		make_field(m, "init_layout", memory, INIT_BASE * 8);
	}
	make_field(m, "kallsyms", ptr, KALLSYMS * 8);
	make_field(m, "notes_attrs", ptr, NOTES_ATTRS * 8);
	make_field(m, "sect_attrs", ptr, SECT_ATTRS * 8);
	make_field(m, "noinstr_text_start", ptr, NOINSTR * 8);
	make_field(m, "noinstr_text_size", u32, NOINSTR_LEN * 8);
	make_type(m, "mod_kallsyms", BTF_STRUCT, 4, 32);
	make_field(m, "symtab", ptr, 0);
	make_field(m, "num_symtab", u32, 64);
	make_field(m, "strtab", ptr, 128);
	make_field(m, "typetab", ptr, 192);
	make_type(m, "attribute", BTF_STRUCT, 1, 16);
	make_field(m, "name", ptr, 0);
	make_type(m, "bin_attribute", BTF_STRUCT, 3, 48);
	make_field(m, "attr", m->count - 1, 0);
	make_field(m, "size", u64, 128);
	make_field(m, "private", ptr, 192);
	bin = m->count;
	make_array(m, bin, 0);
	make_type(m, "module_notes_attrs", BTF_STRUCT, 1, 8);
	make_field(m, "attrs", m->count - 1, 64);
	make_section_types(m, with_mem, bin, u32, u64);
}

static void make_symbols(struct world *w)
{
	static const struct {
		const char *name;
		uint64_t value, size;
		uint16_t section;
		char type;
	} syms[] = {
		{"", 0, 0, SHN_UNDEF, 'U'},
		{"race_writer", TEXT + 16, 32, 1, 't'},
		{"race_reader", TEXT + 48, 40, 1, 't'},
		{"printk", 0xffffffff81111111ull, 0, SHN_UNDEF, 'U'},
		{"bad\nname", TEXT + 99, 1, 1, 't'},
		{"shared", TEXT + 0x3000, 8, 2, 'b'},
	};
	const size_t n = sizeof(syms) / sizeof(syms[0]);
	struct blob strings = {0}, *b = &w->tables;
	uint64_t at = TABLES + 32;

	blob_u64(b, at);
	blob_u64(b, n);
	blob_u64(b, at + n * sizeof(Elf64_Sym) + n);
	blob_u64(b, at + n * sizeof(Elf64_Sym));
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym sym = {
			.st_name = (Elf64_Word)blob_string(&strings, syms[i].name),
			.st_shndx = syms[i].section,
			.st_value = syms[i].value,
			.st_size = syms[i].size,
		};

		blob_put(b, &sym, sizeof(sym));
	}
	for (size_t i = 0; i < n; i++)
		blob_u8(b, (unsigned)syms[i].type);
	blob_put(b, strings.bytes, strings.len);
	blob_align(b, 4096);
	blob_free(&strings);
}

/* struct module_notes_attrs of one note, its name, and the note itself. */
static void make_notes(struct world *w)
{
	put(w->notes + 8, NOTES + 128);
	put(w->notes + 8 + 16, 36);
	put(w->notes + 8 + 24, NOTES + 256);
	memcpy(w->notes + 128, ".note.gnu.build-id", 19);
	memcpy(w->notes + 256, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0ABCDEFGHIJKLMNOPQRST", 36);
}

/* Two sections; behind them, what would be a third but for the count or the name. */
static void make_sections(struct world *w, bool newest)
{
	const size_t stride = newest ? 48 : 56;

	put(w->sections + 8, 2);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *attr = w->sections + 16 + i * stride;

		put(attr, i < 2 || !newest ? SECTIONS + 512 + 16 * (i % 2) : 0);
		put(attr + (newest ? 24 : 48), TEXT + i * 0x1000);
	}
	memcpy(w->sections + 512, ".text", 6);
	memcpy(w->sections + 512 + 16, ".data", 6);
}

static void make_modules(struct world *w)
{
	static const char *const names[MODULES] = {"third", "second", "first"};

	put(w->head, list_gva(0));
	put(w->head + 8, list_gva(MODULES - 1));
	for (unsigned i = 0; i < MODULES; i++) {
		uint8_t *m = module_at(w, i);

		put(m + LIST, i + 1 < MODULES ? list_gva(i + 1) : HEAD);
		put(m + LIST + 8, i ? list_gva(i - 1) : HEAD);
		memcpy(m + NAME, names[i], strlen(names[i]));
		put(m + TEXT_BASE, TEXT + i * 0x10000);
		put(m + TEXT_LEN, 0x2000);
		put(m + KALLSYMS, TABLES);
		put(m + NOTES_ATTRS, NOTES);
		put(m + SECT_ATTRS, SECTIONS);
	}
	put(module_at(w, 1) + STATE, MODULE_COMING);
	put(module_at(w, 1) + INIT_BASE, TEXT + 0x80000);
	put(module_at(w, 1) + INIT_LEN, 0x1000);
	put(module_at(w, 0) + NOINSTR, TEXT + 0x100);
	put(module_at(w, 0) + NOINSTR_LEN, 0x40);
}

static struct world *make_world(bool with_mem)
{
	const struct symbol head = {"modules", HEAD, 16, 'D'};
	struct world *w = calloc(1, sizeof(*w));
	struct btf_maker maker = {0};
	struct err err = {0};
	struct blob blob;

	assert_non_null(w);
	make_module_types(&maker, with_mem);
	blob = make_btf(&maker);
	w->btf = btf_parse(blob.bytes, blob.len, &err);
	w->kernel = symtab_from_array(&head, 1, &err);
	if (!w->btf || !w->kernel)
		fail_msg("%s", err.text);
	make_modules(w);
	make_notes(w);
	make_sections(w, with_mem);
	make_symbols(w);
	fake_memory_map(&w->mem, HEAD, w->head, sizeof(w->head));
	fake_memory_map(&w->mem, HEAP, w->heap, sizeof(w->heap));
	fake_memory_map(&w->mem, NOTES, w->notes, sizeof(w->notes));
	fake_memory_map(&w->mem, SECTIONS, w->sections, sizeof(w->sections));
	fake_memory_map(&w->mem, TABLES, w->tables.bytes, w->tables.len);
	w->mem.user = w;
	w->reader = fake_reader(&w->mem);
	blob_free(&blob);
	make_free(&maker);
	return w;
}

static void free_world(struct world *w)
{
	btf_free(w->btf);
	symtab_free(w->kernel);
	blob_free(&w->tables);
	free(w);
}

static void check_list(struct world *w)
{
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
}

static void test_list(void **state)
{
	(void)state;
	/* mem[] and core_layout are different members that this made-up module has in the same places. */
	for (unsigned with_mem = 0; with_mem < 2; with_mem++) {
		struct world *w = make_world(with_mem);

		check_list(w);
		free_world(w);
	}
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
	/* Not the undefined ones, and not the one that would put a line break into a report. */
	assert_int_equal(symtab_count(st), 3);
	assert_int_equal(symtab_find(st, "race_reader", &sym), 0);
	assert_true(sym.addr == TEXT + 48 && sym.size == 40 && sym.type == 't');
	assert_int_equal(symtab_find(st, "shared", &sym), 0);
	assert_int_equal(sym.type, 'b');
	symtab_free(st);
	free(list);
	free_world(w);
}

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

static void test_sections(void **state)
{
	(void)state;
	for (unsigned newest = 0; newest < 2; newest++) {
		struct world *w = make_world(newest);
		struct image_section out[8];

		assert_int_equal(sections_of_first(w, out, 8), 2);
		assert_string_equal(out[0].name, ".text");
		assert_true(out[0].addr == TEXT);
		assert_string_equal(out[1].name, ".data");
		assert_true(out[1].addr == TEXT + 0x1000);
		assert_int_equal(sections_of_first(w, out, 1), 1);
		free_world(w);
	}
}

/* Names and addresses that are none end the list; nothing else of it is believed. */
static void test_wild_sections(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
		unsigned found;
	} changes[] = {
		{16, 0, 0},			/* no name */
		{16, 0xffff888009000000ull, 0}, /* one that is not mapped */
		{16 + 48, 0x1234, 0},		/* no kernel address */
		{512 + 16, 0x0a61746164ull, 1}, /* a name with a line break */
		{8, UINT64_MAX, 3},		/* a count that is too large */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct world *w = make_world(false);
		struct image_section out[8];

		put(w->sections + changes[i].at, changes[i].value);
		assert_int_equal(sections_of_first(w, out, 8), changes[i].found);
		free_world(w);
	}
}

static void test_symbols_gone(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
	} changes[] = {
		{0, 0}, {0, TABLES + 100000}, {8, 0}, {8, 1u << 21}, {8, 5000}, {16, 0x1234}, {24, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct world *w = make_world(true);
		struct module_info *list;
		struct err err = {0};
		size_t n;

		assert_int_equal(modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err), 0);
		put(w->tables.bytes + changes[i].at, changes[i].value);
		assert_null(module_symbols(&w->reader, w->btf, &list[0], &err));
		assert_int_equal(err.code, EXIT_INPUT);
		free(list);
		free_world(w);
	}
}

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

static void test_corrupt_list(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
	} changes[] = {
		{LIST, HEAP + LIST}, /* points to itself */
		{LIST, 0},
		{LIST, 0x41414141},
		{LIST, HEAP + LIST + 1},
		{LIST + 8, 0xdead000000000122ull}, /* LIST_POISON2 */
		{NAME, 0},
		{NAME, 0x5b1b5b1b},
		{STATE, 77},
		{NOINSTR, TEXT + 0x10000}, /* outside its text */
	};
	struct world *w;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		w = make_world(true);
		put(w->heap + changes[i].at, changes[i].value);
		refuse_list(w);
	}
	/* A circle that does not come back to the head, all its links in order. */
	w = make_world(true);
	put(module_at(w, 2) + LIST, list_gva(1));
	refuse_list(w);
	w = make_world(true);
	w->mem.count = 1;
	refuse_list(w);
}

static void test_wild_text(void **state)
{
	/* Text that cannot be is no text, and the module is still listed. */
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

/* While the first module is read, the second one is removed as list_del_rcu() does it; once. */
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

/* A list that changes with every read of its head is never believed. */
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

static void test_stamp(void **state)
{
	struct world *w = make_world(true);
	uint64_t first, second;

	(void)state;
	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &first), 0);
	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &second), 0);
	assert_true(first == second);
	put(module_at(w, 1) + STATE, MODULE_LIVE);
	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &second), 0);
	assert_true(first != second);
	remove_second(&(struct fake_memory){.user = w, .reads = 3}, HEAP);
	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &first), 0);
	assert_true(first != second);
	put(module_at(w, 0) + LIST + 8, 0);
	assert_int_equal(modules_stamp(&w->reader, w->kernel, w->btf, &first), -1);
	free_world(w);
}

/* Structures overwritten at random, as they may be by the time they are read: an answer that makes sense, or an error. */
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_empty_list),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_wild_sections),
		cmocka_unit_test(test_symbols_gone),
		cmocka_unit_test(test_corrupt_list),
		cmocka_unit_test(test_wild_text),
		cmocka_unit_test(test_removed_meanwhile),
		cmocka_unit_test(test_never_still),
		cmocka_unit_test(test_stamp),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests_name("symbols: modules", tests, NULL, NULL);
}
