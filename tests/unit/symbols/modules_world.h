/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest with three modules, laid out as its own BTF says, which may change while they are read. */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_MODULES_WORLD_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_MODULES_WORLD_H

#include <elf.h>

#include "symbols/modules/modules.h"
#include "tests/unit/symbols/btf_maker.h"

#define HEAD 0xffffffff82b00000ull
#define HEAP 0xffffffffc0100000ull
#define TEXT 0xffffffffc0200000ull
#define NOTES 0xffff888004000000ull
#define SECTIONS 0xffff888004800000ull
#define TABLES 0xffff888005000000ull
#define STRUCT_SIZE 256
#define KALLSYMS_SIZE 32 /* of struct mod_kallsyms */
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
	CORE_KALLSYMS = 168,
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

static inline void put(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

static inline uint8_t *module_at(struct world *w, unsigned i)
{
	return w->heap + i * STRUCT_SIZE;
}

static inline uint64_t list_gva(unsigned i)
{
	return HEAP + i * STRUCT_SIZE + LIST;
}

/* Since 6.14 the array has the attributes themselves. Before, it had a struct around each attribute, and their number. */
static inline void make_section_types(struct btf_maker *m, bool newest, uint32_t bin, uint32_t u32, uint32_t u64)
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

static inline void make_module_types(struct btf_maker *m, bool with_mem)
{
	uint32_t u8 = make_int(m, "u8", 1), u32 = make_int(m, "u32", 4), u64 = make_int(m, "u64", 8);
	uint32_t bin, ptr = make_type(m, "", BTF_PTR, 0, 0), list, name = make_array(m, u8, 56), memory, mem, kallsyms;

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
	kallsyms = make_type(m, "mod_kallsyms", BTF_STRUCT, 4, KALLSYMS_SIZE);
	make_field(m, "symtab", ptr, 0);
	make_field(m, "num_symtab", u32, 64);
	make_field(m, "strtab", ptr, 128);
	make_field(m, "typetab", ptr, 192);
	make_type(m, "module", BTF_STRUCT, with_mem ? 9 : 11, STRUCT_SIZE);
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
	if (!with_mem)
		make_field(m, "core_kallsyms", kallsyms, CORE_KALLSYMS * 8);
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

static inline void make_symbols(struct world *w)
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
		{"__kstrtab_name", TEXT + 0x3100, 0, 3, 'r'},
		{"CONSTANT", 336, 0, SHN_ABS, 'a'},
		{"assembly", TEXT + 0x800000, 0, 1, 't'},
	};
	const size_t n = sizeof(syms) / sizeof(syms[0]);
	struct blob strings = {0}, *b = &w->tables;
	uint64_t at = TABLES + KALLSYMS_SIZE;

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

/* Write the struct module_notes_attrs of one note, its name, and the note itself. */
static inline void make_notes(struct world *w)
{
	put(w->notes + 8, NOTES + 128);
	put(w->notes + 8 + 16, 36);
	put(w->notes + 8 + 24, NOTES + 256);
	memcpy(w->notes + 128, ".note.gnu.build-id", 19);
	memcpy(w->notes + 256, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0ABCDEFGHIJKLMNOPQRST", 36);
}

/* Write two sections. After them are bytes that would be a third section, if the count or the name allowed that. */
static inline void make_sections(struct world *w, bool newest)
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

static inline void make_modules(struct world *w)
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

static inline struct world *make_world(bool with_mem)
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
	for (unsigned i = 0; i < MODULES && !with_mem; i++) {
		put(module_at(w, i) + KALLSYMS, 0);
		memcpy(module_at(w, i) + CORE_KALLSYMS, w->tables.bytes, KALLSYMS_SIZE);
	}
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

static inline void free_world(struct world *w)
{
	btf_free(w->btf);
	symtab_free(w->kernel);
	blob_free(&w->tables);
	free(w);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* For main(): a test of one row of a table. The test gets the row as its state. */
#define ROW(function, row) ((struct CMUnitTest){.name = (row)->shows, .test_func = (function), .initial_state = (void *)(row)})

#endif
