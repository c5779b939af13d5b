// SPDX-License-Identifier: GPL-2.0-or-later
/* What an address of a Linux guest belongs to, by tables in guest memory that this test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/guest/linux_context.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_memory.h"
#include "hv/guest/linux_stack.h"
#include "tests/unit/target/fake_target.h"
#include "tests/unit/symbols/btf_maker.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define IMAGE 0xffffffff81000000ull /* a page of text, a page of data, and two pages that the page allocator has */
#define IMAGE_GPA 0x300000ull
#define DIRECT 0xffff9a0000000000ull /* the direct map, at a random address as in stock kernels */
#define VMALLOC 0xffffa90000000000ull
#define VMEMMAP 0xffffea8000000000ull
#define VMEMMAP_GPA 0x400000ull
#define MODULE 0xffffffffc0400000ull
#define STACK 0xffffa90000040000ull /* the stack of another task */
#define STACK_GPA 0x440000ull
#define CHUNK 0xffffa90000100000ull /* a later chunk of per-CPU memory, and its struct pcpu_chunk */
#define CHUNK_GPA 0x450000ull
#define CHUNK_INFO (DIRECT + 0x460100)
#define FIRST (DIRECT + 0x480000) /* the first chunk, each unit of which begins with a page of variables */
#define FIRST_USED 0x2000	  /* bytes of a unit; the page allocator has the rest */
#define FIRST_INFO (DIRECT + 0x460200)
#define UNIT 0x8000ull
#define CACHE (DIRECT + 0x4a0000) /* a struct kmem_cache, and its name */
#define CACHE_NAME (DIRECT + 0x4a0ff8)
#define SLAB_GPA 0x500000ull /* two pages that belong together */
#define SLAB (DIRECT + SLAB_GPA)
#define TABLE_GPA 0x510000ull
#define PLAIN_GPA 0x520000ull

enum { CPUS = 2, STACK_SIZE = 0x4000, PAGE_STRUCT = 64 };

/* Offsets in the data page and in the structures. */
enum { PAGE_OFFSET_AT = 0x1000, VMALLOC_AT = 0x1008, VMEMMAP_AT = 0x1010, OFFSETS_AT = 0x1020, CPUS_AT = 0x1040 };
enum {
	UNIT_AT = 0x1048,
	BASE_AT = 0x1050,
	FIRST_AT = 0x1058,
	VARIABLE_AT = 0x1100,
	GIVEN_AT = 0x2000,
	FREED_AT = 0x3000,
	IMAGE_SIZE = 0x4000
};
enum { FLAGS_AT = 0, HEAD_AT = 8, OWNER_AT = 32, TYPE_AT = 48 };
enum { C_NAME_AT = 8, C_SIZE_AT = 16, C_OBJECT_AT = 20, C_PAD_AT = 24, C_ALIASES_AT = 28 };

/* How kernels mark a page of a slab. With MASK_TO_HEAD also how a later page of the slab leads to the first. */
#define RESERVED_FLAG 10

enum era { FLAG_IN_PAGE, FLAG_IN_SLAB, TYPE_BIT, TYPE_NUMBER, MASK_TO_HEAD, ERAS };

struct facts {
	struct fake_target *ft;
	struct guest *g;
	enum era era;
	unsigned cache_at; /* offset in struct page or struct slab */
	struct x86_regs regs;
	struct guest_memory m;
	bool mapped_stacks; /* CONFIG_VMAP_STACK */
};

static const struct symbol symbols[] = {
	{.name = "counters", .addr = 0x40, .size = 0x20, .type = 'A'},
	{.name = "__per_cpu_start", .addr = 0, .type = 'A'},
	{.name = "__per_cpu_end", .addr = 0x1000, .type = 'A'},
	{.name = "_text", .addr = IMAGE, .type = 'T'},
	{.name = "a_function", .addr = IMAGE + 0x100, .size = 0x80, .type = 't'},
	{.name = "page_offset_base", .addr = IMAGE + PAGE_OFFSET_AT, .size = 8, .type = 'D'},
	{.name = "vmalloc_base", .addr = IMAGE + VMALLOC_AT, .size = 8, .type = 'D'},
	{.name = "vmemmap_base", .addr = IMAGE + VMEMMAP_AT, .size = 8, .type = 'D'},
	{.name = "__per_cpu_offset", .addr = IMAGE + OFFSETS_AT, .size = 0x20, .type = 'D'},
	{.name = "nr_cpu_ids", .addr = IMAGE + CPUS_AT, .size = 4, .type = 'D'},
	{.name = "pcpu_unit_size", .addr = IMAGE + UNIT_AT, .size = 4, .type = 'd'},
	{.name = "pcpu_base_addr", .addr = IMAGE + BASE_AT, .size = 8, .type = 'D'},
	{.name = "pcpu_first_chunk", .addr = IMAGE + FIRST_AT, .size = 8, .type = 'D'},
	{.name = "a_variable", .addr = IMAGE + VARIABLE_AT, .size = 0x40, .type = 'b'},
	{.name = "__init_begin", .addr = IMAGE + GIVEN_AT, .type = 'D'},
	{.name = "__init_end", .addr = IMAGE + FREED_AT, .type = 'D'},
	{.name = "_end", .addr = IMAGE + IMAGE_SIZE, .type = 'B'},
};

/* ---- the guest's types ---- */

static void make_enumerator(struct btf_maker *m, const char *name, uint32_t value)
{
	make_type(m, "", BTF_ENUM, 1, 4);
	blob_u32(&m->types, (uint32_t)blob_string(&m->strings, name));
	blob_u32(&m->types, value);
}

static void make_page_types(struct btf_maker *m, enum era era)
{
	make_enumerator(m, "PG_reserved", RESERVED_FLAG);
	switch (era) {
	case FLAG_IN_PAGE:
	case FLAG_IN_SLAB:
		make_enumerator(m, "PG_slab", 9);
		break;
	case TYPE_BIT:
		make_enumerator(m, "PG_slab", 0x1000);
		make_enumerator(m, "PG_table", 0x200);
		make_enumerator(m, "PAGE_TYPE_BASE", 0xf0000000);
		break;
	default:
		make_enumerator(m, "PGTY_slab", 0xf5);
		make_enumerator(m, "PGTY_table", 0xf2);
	}
}

static void make_slab_fields(struct btf_maker *m, uint32_t cache_bit, uint32_t u64, uint32_t u32)
{
	make_field(m, "slab_cache", u64, cache_bit);
	make_field(m, "inuse", u32, 16u << 24 | 320);
	make_field(m, "objects", u32, 15u << 24 | 336);
	make_field(m, "frozen", u32, 1u << 24 | 351);
}

static struct btf *make_types(const struct facts *f)
{
	struct btf_maker m = {0};
	uint32_t u32 = make_int(&m, "u32", 4), u64 = make_int(&m, "u64", 8), tag = make_array(&m, u32, 8), counters, thread;
	bool in_page = f->era == FLAG_IN_PAGE;
	struct btf *btf;
	struct blob b;

	make_type(&m, "page", KIND_FLAG | BTF_STRUCT, in_page ? 8 : 4, PAGE_STRUCT);
	make_field(&m, "flags", u64, FLAGS_AT * 8);
	make_field(&m, f->era == MASK_TO_HEAD ? "compound_info" : "compound_head", u64, HEAD_AT * 8);
	make_field(&m, "index", u64, OWNER_AT * 8);
	make_field(&m, "page_type", u32, TYPE_AT * 8);
	if (in_page) {
		make_slab_fields(&m, f->cache_at * 8, u64, u32);
	} else {
		make_type(&m, "slab", KIND_FLAG | BTF_STRUCT, 4, PAGE_STRUCT);
		make_slab_fields(&m, f->cache_at * 8, u64, u32);
	}
	make_type(&m, "kmem_cache", BTF_STRUCT, 5, 64);
	make_field(&m, "name", u64, C_NAME_AT * 8);
	make_field(&m, "size", u32, C_SIZE_AT * 8);
	make_field(&m, "object_size", u32, C_OBJECT_AT * 8);
	make_field(&m, "red_left_pad", u32, C_PAD_AT * 8);
	make_field(&m, "refcount", u32, C_ALIASES_AT * 8);
	make_type(&m, "pcpu_chunk", BTF_STRUCT, 2, 64);
	make_field(&m, "nr_pages", u32, 48 * 8);
	make_field(&m, "base_addr", u64, 56 * 8);
	make_type(&m, "inode", BTF_STRUCT, 2, 96);
	make_field(&m, "i_nlink", u32, 72 * 8);
	make_field(&m, "i_tags", tag, 16 * 8);
	thread = make_type(&m, "", BTF_STRUCT, 1, 100);
	make_field(&m, "fpu", u64, 32 * 8);
	make_type(&m, "task_struct", BTF_STRUCT, f->mapped_stacks ? 4 : 3, 132);
	make_field(&m, "stack", u64, 8 * 8);
	if (f->mapped_stacks)
		make_field(&m, "stack_vm_area", u64, 16 * 8);
	make_field(&m, "pids", tag, 36 * 8);
	make_field(&m, "thread", thread, 32 * 8);
	counters = make_type(&m, "counters_of_cpu", BTF_STRUCT, 2, 32);
	make_field(&m, "in", u64, 0);
	make_field(&m, "out", u64, 64);
	make_type(&m, "counters", BTF_VAR, 0, counters);
	blob_u32(&m.types, 0);
	make_page_types(&m, f->era);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, NULL);
	assert_non_null(btf);
	blob_free(&b);
	make_free(&m);
	return btf;
}

/* ---- the guest's memory ---- */

static void map(struct facts *f, uint64_t gva, uint64_t gpa, uint64_t size)
{
	fake_map(f->ft, f->g->cr3, 4, gva, gpa, size, 12);
}

static void put64(struct facts *f, uint64_t gpa, uint64_t value)
{
	fake_write(f->ft, gpa, &value, sizeof(value));
}

static void put32(struct facts *f, uint64_t gpa, uint32_t value)
{
	fake_write(f->ft, gpa, &value, sizeof(value));
}

static uint64_t info_gpa(uint64_t gpa)
{
	return VMEMMAP_GPA + gpa / X86_PAGE_SIZE * PAGE_STRUCT;
}

static void fill_image(struct facts *f)
{
	for (uint64_t at = 0; at < FREED_AT; at += X86_PAGE_SIZE)
		put64(f, info_gpa(IMAGE_GPA + at) + FLAGS_AT, 1ull << RESERVED_FLAG);
	put64(f, IMAGE_GPA + PAGE_OFFSET_AT, DIRECT);
	put64(f, IMAGE_GPA + VMALLOC_AT, VMALLOC);
	put64(f, IMAGE_GPA + VMEMMAP_AT, VMEMMAP);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		put64(f, IMAGE_GPA + OFFSETS_AT + 8 * cpu, FIRST + cpu * UNIT);
	put32(f, IMAGE_GPA + CPUS_AT, CPUS);
	put32(f, IMAGE_GPA + UNIT_AT, UNIT);
	put64(f, IMAGE_GPA + BASE_AT, FIRST);
	put64(f, IMAGE_GPA + FIRST_AT, FIRST_INFO);
	put64(f, FIRST_INFO - DIRECT + 56, FIRST + X86_PAGE_SIZE);
	put32(f, FIRST_INFO - DIRECT + 48, FIRST_USED / X86_PAGE_SIZE - 1);
}

/* An object has 96 bytes, and the next one begins 100 bytes after it. */
static void fill_cache(struct facts *f, const char *name, uint32_t left_pad, uint32_t aliases)
{
	const uint64_t gpa = CACHE - DIRECT;

	fake_write(f->ft, CACHE_NAME - DIRECT, name, strlen(name) + 1);
	put64(f, gpa + C_NAME_AT, CACHE_NAME);
	put32(f, gpa + C_SIZE_AT, 100);
	put32(f, gpa + C_OBJECT_AT, 96);
	put32(f, gpa + C_PAD_AT, left_pad);
	put32(f, gpa + C_ALIASES_AT, aliases);
}

static void fill_slab(struct facts *f)
{
	static const uint32_t type[ERAS] = {[TYPE_BIT] = 0xffffefff, [TYPE_NUMBER] = 0xf5001234, [MASK_TO_HEAD] = 0xf5001234};
	static const uint32_t table[ERAS] = {[TYPE_BIT] = 0xfffffdff, [TYPE_NUMBER] = 0xf2000000, [MASK_TO_HEAD] = 0xf2000000};
	bool flag = f->era == FLAG_IN_PAGE || f->era == FLAG_IN_SLAB;

	put64(f, info_gpa(SLAB_GPA) + FLAGS_AT, 0x0100000000010000 | (flag ? 1u << 9 : 0));
	put64(f, info_gpa(SLAB_GPA) + f->cache_at, CACHE);
	put32(f, info_gpa(SLAB_GPA) + 40, 0x80000000 | 81u << 16 | 7);
	put32(f, info_gpa(SLAB_GPA) + TYPE_AT, type[f->era]);
	put64(f, info_gpa(SLAB_GPA + X86_PAGE_SIZE) + HEAD_AT,
	      f->era == MASK_TO_HEAD ? -2ull * PAGE_STRUCT + 1 : VMEMMAP + SLAB_GPA / X86_PAGE_SIZE * PAGE_STRUCT + 1);
	put32(f, info_gpa(TABLE_GPA) + TYPE_AT, table[f->era]);
	put32(f, info_gpa(PLAIN_GPA) + TYPE_AT, 0xffffffff);
}

static int start(void **state, enum era era)
{
	struct facts *f = calloc(1, sizeof(*f));
	struct guest *g;

	*state = f;
	f->era = era;
	f->cache_at = era == MASK_TO_HEAD ? 8 : era == TYPE_NUMBER ? 16 : 24;
	f->ft = fake_target_new(CPUS, 4);
	f->g = g = f->ft ? guest_new(&f->ft->target, NULL, NULL, NULL) : NULL;
	if (!g)
		return -1;
	g->cr3 = fake_page(f->ft);
	map(f, IMAGE, IMAGE_GPA, IMAGE_SIZE);
	map(f, DIRECT, 0, FAKE_RAM);
	map(f, VMEMMAP, VMEMMAP_GPA, FAKE_RAM / X86_PAGE_SIZE * PAGE_STRUCT);
	map(f, STACK, STACK_GPA, STACK_SIZE);
	map(f, CHUNK, CHUNK_GPA, X86_PAGE_SIZE);
	map(f, CHUNK + UNIT, CHUNK_GPA + X86_PAGE_SIZE, X86_PAGE_SIZE);
	fill_image(f);
	fill_cache(f, "inode_cache", 0, 1);
	fill_slab(f);
	put64(f, STACK_GPA, 0x57ac6e9d);
	put64(f, info_gpa(CHUNK_GPA + X86_PAGE_SIZE) + OWNER_AT, CHUNK_INFO);
	put64(f, CHUNK_INFO - DIRECT + 56, CHUNK);
	g->symtab = symtab_from_array(symbols, COUNT(symbols), NULL);
	g->btf = make_types(f);
	g->stage = LINUX_READY;
	linux_find_context(g);
	linux_find_stacks(g);
	linux_find_memory(g);
	f->regs.gs_base = FIRST;
	return g->symtab ? 0 : -1;
}

static int setup(void **state)
{
	return start(state, FLAG_IN_SLAB);
}

static int teardown(void **state)
{
	struct facts *f = *state;

	guest_free(f->g);
	fake_target_free(f->ft);
	free(f);
	return 0;
}

/* As in the detector: read the page's state when the access is seen, and look up the rest later. */
static void look(struct facts *f, uint64_t gva, uint32_t size)
{
	struct guest_page_state page;
	uint64_t gpa;

	if (guest_translate(f->g, gva, &gpa))
		gpa = UINT64_MAX;
	guest_page_state(f->g, gpa, &page);
	guest_memory_at(f->g, &f->regs, &page, gva, size, &f->m);
}

static void expect_kind(struct facts *f, uint64_t gva, uint32_t size, enum guest_memory_kind kind)
{
	memset(&f->m, 0xff, sizeof(f->m));
	look(f, gva, size);
	if (f->m.kind != kind)
		fail_msg("%#lx: kind %u, not %u", (unsigned long)gva, f->m.kind, kind);
	if (kind != GUEST_MEMORY_PER_CPU)
		assert_int_equal(f->m.cpu, -1);
	if (kind != GUEST_MEMORY_SLAB)
		assert_string_equal(f->m.cache, "");
}

static void expect_object(const struct facts *f, uint64_t object, uint32_t size, uint32_t offset)
{
	assert_int_equal(f->m.object, object);
	assert_int_equal(f->m.object_size, size);
	assert_int_equal(f->m.offset, offset);
}

static void expect_member(const struct facts *f, const char *type, const char *member)
{
	assert_string_equal(f->m.type, type);
	assert_string_equal(f->m.member, member);
}

/* ---- variables ---- */

static void test_kernel(void **state)
{
	struct facts *f = *state;

	expect_kind(f, IMAGE + VARIABLE_AT + 8, 8, GUEST_MEMORY_KERNEL);
	assert_string_equal(f->m.symbol.name, "a_variable");
	assert_string_equal(f->m.symbol.module, "");
	expect_object(f, IMAGE + VARIABLE_AT, 0x40, 8);
	expect_member(f, "", "");
	expect_kind(f, IMAGE + VARIABLE_AT + 0x40, 8, GUEST_MEMORY_KERNEL);
	assert_string_equal(f->m.symbol.name, "");
	expect_object(f, 0, 0, 0);
}

/* RAM of the image has the image's address, except for pages that the kernel gave to its page allocator. */
static void test_where_ram_is(void **state)
{
	struct facts *f = *state;

	assert_int_equal(guest_mapped_at(f->g, IMAGE_GPA + VARIABLE_AT), IMAGE + VARIABLE_AT);
	assert_int_equal(guest_mapped_at(f->g, IMAGE_GPA + GIVEN_AT + 8), DIRECT + IMAGE_GPA + GIVEN_AT + 8);
	assert_int_equal(guest_mapped_at(f->g, IMAGE_GPA + FREED_AT + 8), DIRECT + IMAGE_GPA + FREED_AT + 8);
	assert_int_equal(guest_mapped_at(f->g, PLAIN_GPA), DIRECT + PLAIN_GPA);
	assert_int_equal(guest_mapped_at(f->g, FAKE_RAM), 0);
}

static void add_module(struct facts *f)
{
	const struct symbol in_module[] = {
		{.name = "per_cpu_hits", .addr = 0x1800, .size = 0x10, .type = 'd'},
		{.name = "module_variable", .addr = MODULE + 0x2000, .size = 8, .type = 'd'},
	};
	struct loaded_module *lm = calloc(1, sizeof(*lm));

	assert_non_null(lm);
	snprintf(lm->m.name, sizeof(lm->m.name), "a_module");
	lm->m.base = MODULE;
	lm->m.size = X86_PAGE_SIZE;
	lm->m.symbols = symtab_from_array(in_module, COUNT(in_module), NULL);
	f->g->modules = malloc(sizeof(struct loaded_module *));
	assert_non_null(f->g->modules);
	f->g->modules[0] = lm;
	f->g->module_count = 1;
}

static void test_module(void **state)
{
	struct facts *f = *state;

	expect_kind(f, MODULE + 0x2004, 4, GUEST_MEMORY_VMALLOC);
	add_module(f);
	expect_kind(f, MODULE + 0x2004, 4, GUEST_MEMORY_MODULE);
	assert_string_equal(f->m.symbol.module, "a_module");
	assert_string_equal(f->m.symbol.name, "module_variable");
	expect_object(f, MODULE + 0x2000, 8, 4);
	map(f, MODULE + 0x3000, PLAIN_GPA, X86_PAGE_SIZE);
	expect_kind(f, MODULE + 0x3000, 4, GUEST_MEMORY_VMALLOC);
}

static void test_per_cpu_variable(void **state)
{
	struct facts *f = *state;

	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		expect_kind(f, FIRST + cpu * UNIT + 0x48, 8, GUEST_MEMORY_PER_CPU);
		assert_int_equal(f->m.cpu, cpu);
		assert_string_equal(f->m.symbol.name, "counters");
		expect_object(f, FIRST + cpu * UNIT + 0x40, 0x20, 8);
		expect_member(f, "counters_of_cpu", "out");
	}
	expect_kind(f, FIRST + 0x80, 8, GUEST_MEMORY_PER_CPU);
	assert_string_equal(f->m.symbol.name, "");
	expect_kind(f, FIRST + CPUS * UNIT, 8, GUEST_MEMORY_PAGE);
}

/* A unit has the kernel's variables first, then those of modules, then allocated memory. */
static void test_per_cpu_other(void **state)
{
	struct facts *f = *state;

	add_module(f);
	expect_kind(f, FIRST + UNIT + 0x1808, 8, GUEST_MEMORY_PER_CPU);
	assert_int_equal(f->m.cpu, 1);
	assert_string_equal(f->m.symbol.module, "a_module");
	assert_string_equal(f->m.symbol.name, "per_cpu_hits");
	expect_object(f, FIRST + UNIT + 0x1800, 0x10, 8);
	expect_kind(f, FIRST + UNIT + 0x1810, 8, GUEST_MEMORY_PER_CPU);
	assert_int_equal(f->m.cpu, 1);
	assert_string_equal(f->m.symbol.name, "");
	expect_object(f, 0, 0, 0);
}

static void test_per_cpu_unused_end(void **state)
{
	struct facts *f = *state;

	expect_kind(f, FIRST + FIRST_USED - 8, 8, GUEST_MEMORY_PER_CPU);
	expect_kind(f, FIRST + FIRST_USED, 8, GUEST_MEMORY_PAGE);
	expect_kind(f, FIRST + UNIT + FIRST_USED - 8, 8, GUEST_MEMORY_PER_CPU);
	expect_kind(f, FIRST + UNIT + FIRST_USED, 8, GUEST_MEMORY_PAGE);
	/* What the guest says does not count if it cannot be. */
	put32(f, FIRST_INFO - DIRECT + 48, 0xffffffff);
	linux_find_memory(f->g);
	expect_kind(f, FIRST + FIRST_USED, 8, GUEST_MEMORY_PER_CPU);
}

static void test_per_cpu_later_chunk(void **state)
{
	struct facts *f = *state;

	expect_kind(f, CHUNK + UNIT + 0x10, 8, GUEST_MEMORY_PER_CPU);
	assert_int_equal(f->m.cpu, 1);
	assert_string_equal(f->m.symbol.name, "");
	expect_kind(f, CHUNK + 0x10, 8, GUEST_MEMORY_VMALLOC); /* its struct page leads to no chunk */
	put64(f, CHUNK_INFO - DIRECT + 56, CHUNK + 4 * UNIT);  /* not a unit of this chunk */
	expect_kind(f, CHUNK + UNIT + 0x10, 8, GUEST_MEMORY_VMALLOC);
	put64(f, CHUNK_INFO - DIRECT + 56, 0x1000);
	expect_kind(f, CHUNK + UNIT + 0x10, 8, GUEST_MEMORY_VMALLOC);
}

/* ---- objects ---- */

static void test_slab_in_each_kernel(void **state)
{
	for (enum era era = 0; era < ERAS; era++) {
		struct facts *f;

		if (era) {
			teardown(state);
			assert_int_equal(start(state, era), 0);
		}
		f = *state;
		assert_int_equal(f->era, era);
		expect_kind(f, SLAB + 272, 4, GUEST_MEMORY_SLAB);
		assert_string_equal(f->m.cache, "inode_cache");
		expect_object(f, SLAB + 200, 96, 72);
		expect_member(f, "inode", "i_nlink");
		/* The object is on both pages of the slab. */
		expect_kind(f, SLAB + 4100 + 20, 4, GUEST_MEMORY_SLAB);
		expect_object(f, SLAB + 4100, 96, 20);
		expect_member(f, "inode", "i_tags[1]");
		expect_kind(f, DIRECT + TABLE_GPA, 8, era < TYPE_BIT ? GUEST_MEMORY_PAGE : GUEST_MEMORY_PAGE_TABLE);
		expect_kind(f, DIRECT + PLAIN_GPA, 8, GUEST_MEMORY_PAGE);
	}
}

static int setup_oldest(void **state)
{
	return start(state, FLAG_IN_PAGE);
}

/* Between the conflict and its report, the slab's last object was freed, and its page went back to the page allocator. */
static void test_slab_freed_since(void **state)
{
	struct facts *f = *state;
	struct guest_page_state page, later;

	guest_page_state(f->g, SLAB_GPA + 272, &page);
	put64(f, info_gpa(SLAB_GPA) + FLAGS_AT, 0x0100000000000000);
	put64(f, info_gpa(SLAB_GPA) + f->cache_at, 0);
	guest_page_state(f->g, SLAB_GPA + 272, &later);
	guest_memory_at(f->g, &f->regs, &later, SLAB + 272, 4, &f->m);
	assert_int_equal(f->m.kind, GUEST_MEMORY_PAGE);
	guest_memory_at(f->g, &f->regs, &page, SLAB + 272, 4, &f->m);
	assert_int_equal(f->m.kind, GUEST_MEMORY_SLAB);
	assert_string_equal(f->m.cache, "inode_cache");
	expect_member(f, "inode", "i_nlink");
}

static void test_slab_edges(void **state)
{
	struct facts *f = *state;

	expect_kind(f, SLAB + 80 * 100, 8, GUEST_MEMORY_SLAB); /* the last of 81 objects */
	expect_object(f, SLAB + 8000, 96, 0);
	expect_kind(f, SLAB + 81 * 100, 8, GUEST_MEMORY_SLAB); /* after the last object */
	assert_string_equal(f->m.cache, "inode_cache");
	expect_object(f, 0, 0, 0);
	expect_member(f, "", "");
	expect_kind(f, SLAB + 97, 1, GUEST_MEMORY_SLAB); /* after the end of an object */
	expect_object(f, SLAB, 96, 97);
	expect_member(f, "", "");
	fill_cache(f, "inode_cache", 4, 1);
	expect_kind(f, SLAB + 2, 1, GUEST_MEMORY_SLAB);
	expect_object(f, 0, 0, 0);
	expect_kind(f, SLAB + 100 + 4 + 72, 4, GUEST_MEMORY_SLAB);
	expect_object(f, SLAB + 104, 96, 72);
	expect_member(f, "inode", "i_nlink");
}

static void test_cache_names(void **state)
{
	struct facts *f = *state;
	const char *const bad[] = {"", "tab\tulator", "\xff\xfe",
				   "a_name_of_more_than_sixty_three_letters_which_no_cache_in_any_kernel_has"};

	fill_cache(f, "inode", 0, 1);
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "inode", "i_nlink");
	assert_int_equal(f->m.merged, GUEST_MERGED_NO);
	fill_cache(f, "inode", 0, (uint32_t)-1); /* a cache of boot time, which is never merged */
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "inode", "i_nlink");
	assert_int_equal(f->m.merged, GUEST_MERGED_NO);
	fill_cache(f, "kmalloc-96", 0, 1);
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	assert_string_equal(f->m.cache, "kmalloc-96");
	expect_member(f, "", "");
	fill_cache(f, "inode_cache", 0, 2); /* merged with a cache that may have another type */
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "", "");
	assert_int_equal(f->m.merged, GUEST_MERGED_YES);
	assert_string_equal(f->m.cache, "inode_cache");
	fill_cache(f, "page", 0, 1); /* the name is also that of a struct, but the struct has no member there */
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "", "");
	fill_cache(f, "inode_cache", 0, 1);
	f->g->memory.cache.aliases.size = 0; /* a kernel that does not tell the number of users */
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "", "");
	assert_int_equal(f->m.merged, GUEST_MERGED_UNKNOWN);
	for (size_t i = 0; i < COUNT(bad); i++) {
		fill_cache(f, bad[i], 0, 1);
		expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_PAGE);
	}
}

static void test_type_too_large(void **state)
{
	struct facts *f = *state;

	put32(f, CACHE - DIRECT + C_OBJECT_AT, 95);
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "", "");
	/* Some types end with an array of any length. */
	fill_cache(f, "task_struct", 0, 1);
	expect_kind(f, SLAB + 40, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "task_struct", "pids[1]");
	put32(f, CACHE - DIRECT + C_OBJECT_AT, 63);
	expect_kind(f, SLAB + 40, 4, GUEST_MEMORY_SLAB);
	expect_member(f, "", "");
}

static void test_page_info(void **state)
{
	struct facts *f = *state;
	uint64_t info = VMEMMAP + PLAIN_GPA / X86_PAGE_SIZE * PAGE_STRUCT;

	expect_kind(f, info + TYPE_AT, 4, GUEST_MEMORY_PAGE_INFO);
	expect_object(f, info, PAGE_STRUCT, TYPE_AT);
	expect_member(f, "page", "page_type");
	info = VMEMMAP + SLAB_GPA / X86_PAGE_SIZE * PAGE_STRUCT;
	expect_kind(f, info + 24, 8, GUEST_MEMORY_PAGE_INFO);
	expect_member(f, "slab", "slab_cache");
}

static void test_stacks(void **state)
{
	struct facts *f = *state;

	expect_kind(f, STACK + 0x3f00, 8, GUEST_MEMORY_STACK);
	expect_object(f, STACK, STACK_SIZE, 0x3f00);
	put64(f, STACK_GPA, 0x57ac6e9e);
	expect_kind(f, STACK + 0x3f00, 8, GUEST_MEMORY_VMALLOC);
	put64(f, PLAIN_GPA, 0x57ac6e9d);
	expect_kind(f, DIRECT + PLAIN_GPA + 0x3f00, 8, GUEST_MEMORY_STACK);
	expect_object(f, DIRECT + PLAIN_GPA, STACK_SIZE, 0x3f00);
}

/* If stacks are mapped page by page, a stack's mark is on its first page only, even after it was freed. The pages that follow
 * in the direct map may belong to any user. */
static void test_stacks_mapped_by_page(void **state)
{
	struct facts *f = *state;

	f->mapped_stacks = true;
	btf_free(f->g->btf);
	f->g->btf = make_types(f);
	linux_find_stacks(f->g);
	expect_kind(f, STACK + 0x3f00, 8, GUEST_MEMORY_STACK);
	put64(f, PLAIN_GPA, 0x57ac6e9d);
	expect_kind(f, DIRECT + PLAIN_GPA + 0x3f00, 8, GUEST_MEMORY_PAGE);
}

static void test_elsewhere(void **state)
{
	struct facts *f = *state;

	expect_kind(f, 0x7fff00001000, 8, GUEST_MEMORY_USER);
	expect_kind(f, 0x8000000000000000, 8, GUEST_MEMORY_USER);
	expect_kind(f, DIRECT + FAKE_RAM, 8, GUEST_MEMORY_UNKNOWN);
	expect_kind(f, ~0ull, 8, GUEST_MEMORY_UNKNOWN);
	map(f, 0xfffffe0000001000, PLAIN_GPA, X86_PAGE_SIZE);
	expect_kind(f, 0xfffffe0000001000, 8, GUEST_MEMORY_UNKNOWN);
	f->g->stage = LINUX_BOOTING;
	expect_kind(f, SLAB, 8, GUEST_MEMORY_UNKNOWN);
}

/* ---- a guest that says little, or lies ---- */

static void test_no_types(void **state)
{
	struct facts *f = *state;

	btf_free(f->g->btf);
	f->g->btf = NULL;
	linux_find_memory(f->g);
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_PAGE);
	expect_kind(f, CHUNK + UNIT, 8, GUEST_MEMORY_VMALLOC);
	expect_kind(f, VMEMMAP, 8, GUEST_MEMORY_UNKNOWN);
	expect_kind(f, FIRST + 0x48, 8, GUEST_MEMORY_PER_CPU);
	assert_string_equal(f->m.symbol.name, "counters");
	expect_member(f, "", "");
}

static void test_no_symbols(void **state)
{
	struct facts *f = *state;

	symtab_free(f->g->symtab);
	f->g->symtab = symtab_from_array(symbols, 1, NULL);
	linux_find_memory(f->g);
	expect_kind(f, SLAB + 72, 4, GUEST_MEMORY_UNKNOWN);
	/* This is the direct map of a kernel without KASLR. */
	map(f, 0xffff888000000000 + PLAIN_GPA, PLAIN_GPA, X86_PAGE_SIZE);
	expect_kind(f, 0xffff888000000000 + PLAIN_GPA, 4, GUEST_MEMORY_PAGE);
	f->g->cr4 = X86_CR4_LA57;
	linux_find_memory(f->g);
	expect_kind(f, IMAGE + VARIABLE_AT, 4, GUEST_MEMORY_UNKNOWN);
}

static void test_bad_links(void **state)
{
	struct facts *f = *state;
	const uint64_t second = info_gpa(SLAB_GPA + X86_PAGE_SIZE) + HEAD_AT, cache = info_gpa(SLAB_GPA) + f->cache_at;
	const uint64_t places[] = {1,
				   VMEMMAP + 1,
				   VMEMMAP - 63,
				   ~0ull,
				   0x8000000000000001,
				   VMEMMAP + (SLAB_GPA / X86_PAGE_SIZE + 2) * PAGE_STRUCT + 1,
				   VMEMMAP + SLAB_GPA / X86_PAGE_SIZE * PAGE_STRUCT + 9};

	for (size_t i = 0; i < COUNT(places); i++) {
		put64(f, second, places[i]);
		expect_kind(f, SLAB + X86_PAGE_SIZE, 8, GUEST_MEMORY_PAGE);
	}
	for (size_t i = 0; i < COUNT(places); i++) {
		put64(f, cache, places[i]);
		expect_kind(f, SLAB, 8, GUEST_MEMORY_PAGE);
	}
}

/* The guest may write any value into the structures that guest_memory_at() reads. The call must return, and sanitizers check
 * it. */
static void test_random(void **state)
{
	static const struct {
		uint64_t gpa, size;
	} parts[] = {
		{IMAGE_GPA + PAGE_OFFSET_AT, 0x100}, {VMEMMAP_GPA, 0x20000}, {CACHE - DIRECT, 0x20}, {CHUNK_INFO - DIRECT, 64}};
	static const uint64_t at[] = {SLAB + 72,    SLAB + 4200, CHUNK + UNIT,	    VMEMMAP + 72,
				      FIRST + 0x48, STACK + 8,	 DIRECT + PLAIN_GPA};
	struct facts *f = *state;
	struct rng rng = {7};

	for (unsigned i = 0; i < 20000; i++) {
		size_t part = rng_below(&rng, COUNT(parts));
		uint64_t value = rng_next(&rng) >> rng_below(&rng, 64);

		put64(f, parts[part].gpa + (rng_below(&rng, parts[part].size) & ~3ull), value);
		if (i % 64 == 0)
			linux_find_memory(f->g);
		look(f, at[i % COUNT(at)], (uint32_t)value);
		assert_true(f->m.kind <= GUEST_MEMORY_USER);
		if (i % 256 == 0) {
			fill_image(f);
			fill_cache(f, "inode_cache", 0, 1);
			fill_slab(f);
		}
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_kernel),
		T(test_where_ram_is),
		T(test_module),
		T(test_per_cpu_variable),
		T(test_per_cpu_other),
		T(test_per_cpu_unused_end),
		T(test_per_cpu_later_chunk),
		cmocka_unit_test_setup_teardown(test_slab_in_each_kernel, setup_oldest, teardown),
		T(test_slab_freed_since),
		T(test_slab_edges),
		T(test_cache_names),
		T(test_type_too_large),
		T(test_page_info),
		T(test_stacks),
		T(test_stacks_mapped_by_page),
		T(test_elsewhere),
		T(test_no_types),
		T(test_no_symbols),
		T(test_bad_links),
		T(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
