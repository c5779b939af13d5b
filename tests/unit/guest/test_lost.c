// SPDX-License-Identifier: GPL-2.0-or-later
/* Slab objects that nothing points to, in guest memory that this test makes up. */
#include <byteswap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/linux_image.h"
#include "hv/base/rng.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_memory.h"
#include "hv/guest/linux_stack.h"
#include "tests/unit/symbols/btf_maker.h"
#include "tests/unit/target/fake_target.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define IMAGE 0xffffffff81000000ull
#define IMAGE_GPA 0x300000ull
#define DIRECT 0xffff9a0000000000ull
#define VMEMMAP 0xffffea8000000000ull
#define VMEMMAP_GPA 0x400000ull
#define CACHE_GPA 0x4a0000ull
#define CPUS_GPA 0x4b0000ull /* a page of per-CPU memory for each CPU */
#define SLAB_GPA 0x500000ull
#define SLAB (DIRECT + SLAB_GPA)
#define USED_GPA 0x510000ull
#define UNUSED_GPA 0x520000ull
#define TAIL_GPA 0x530000ull
#define BUDDY_GPA 0x540000ull
#define STACKS 0xffffc90000000000ull
#define STACKS_GPA 0x550000ull
#define TASKS_GPA 0x580000ull
#define AREA_GPA 0x590000ull
#define BUDDY 0xf0000000u /* page_type of the first of several free pages */
#define KEY 0x1122334455667788ull

enum { CPUS = 2, PAGE_STRUCT = 64, STRIDE = 512, OBJECT = 480, OBJECTS = 8, FREE_AT = 240 };

/* Offsets in the image and in the structures. */
enum { PAGE_OFFSET_AT = 0, VMEMMAP_AT = 8, MAX_PFN_AT = 16, OFFSETS_AT = 24, TASK_AT = 0x400, IMAGE_SIZE = 0x1000 };
enum {
	FLAGS_AT = 0,
	HEAD_AT = 8,
	LIST_AT = 8,
	S_CACHE_AT = 24,
	S_FREE_AT = 32,
	PRIVATE_AT = 40,
	S_COUNTS_AT = 40,
	TYPE_AT = 48,
	REFS_AT = 52
};
enum {
	C_CPU_AT = 0,
	C_SIZE_AT = 8,
	C_OBJECT_AT = 12,
	C_OFFSET_AT = 16,
	C_RANDOM_AT = 24,
	C_SHEAVES_AT = 40,
	C_NODES_AT = 48,
	C_BYTES = 64,
	CPU_AREA_AT = 0x40
};
enum { T_STACK_AT = 0, T_TASKS_AT = 8, T_THREAD_AT = 24, CURRENT_AT = 0x80, CACHED_AT = 0x90 };

/* Offsets of sheaves, of the sheaves of a CPU in its per-CPU memory, and of a barn. */
enum { H_LINK_AT = 0, H_COUNT_AT = 24, H_OBJECTS_AT = 32, SHEAVES_AT = 0xc0, P_MAIN_AT = 8, P_SPARE_AT = 16, P_RCU_AT = 24 };
enum { BARN_AT = 0x100, B_FULL_AT = 8, B_EMPTY_AT = 24 };

/* Stacks: of init_task, of a task that waits, of the task on CPU 1, and of none. */
enum { STACK_INIT, STACK_WAITS, STACK_RUNS, STACK_CACHED, STACKS_COUNT };

static const struct symbol symbols[] = {
	{.name = "cached_stacks", .addr = CACHED_AT, .size = 16, .type = 'd'},
	{.name = "_text", .addr = IMAGE, .type = 'T'},
	{.name = "page_offset_base", .addr = IMAGE + PAGE_OFFSET_AT, .size = 8, .type = 'D'},
	{.name = "vmemmap_base", .addr = IMAGE + VMEMMAP_AT, .size = 8, .type = 'D'},
	{.name = "max_pfn", .addr = IMAGE + MAX_PFN_AT, .size = 8, .type = 'D'},
	{.name = "init_task", .addr = IMAGE + TASK_AT, .size = 32, .type = 'D'},
	{.name = "_end", .addr = IMAGE + IMAGE_SIZE, .type = 'B'},
};

struct facts {
	struct fake_target *ft;
	struct guest *g;
	struct guest_roots more;
	struct guest_object *lost;
	size_t count;
	struct guest_object twice;
};

/* ---- the guest ---- */

static struct btf *make_types(bool cpu_lists)
{
	struct btf_maker m = {0};
	uint32_t u32 = make_int(&m, "u32", 4), u64 = make_int(&m, "u64", 8), list = make_int(&m, "list", 16);
	uint32_t head = make_list_head(&m, u64), array = make_array(&m, u64, 0), thread, node;
	struct btf *btf;
	struct blob b;

	make_type(&m, "page", BTF_STRUCT, 6, PAGE_STRUCT);
	make_field(&m, "flags", u64, FLAGS_AT * 8);
	make_field(&m, "compound_head", u64, HEAD_AT * 8);
	make_field(&m, "lru", list, LIST_AT * 8);
	make_field(&m, "private", u64, PRIVATE_AT * 8);
	make_field(&m, "page_type", u32, TYPE_AT * 8);
	make_field(&m, "_refcount", u32, REFS_AT * 8);
	make_type(&m, "slab", KIND_FLAG | BTF_STRUCT, 6, PAGE_STRUCT);
	make_field(&m, "slab_list", list, LIST_AT * 8);
	make_field(&m, "slab_cache", u64, S_CACHE_AT * 8);
	make_field(&m, "freelist", u64, S_FREE_AT * 8);
	make_field(&m, "inuse", u32, 16u << 24 | S_COUNTS_AT * 8);
	make_field(&m, "objects", u32, 15u << 24 | (S_COUNTS_AT * 8 + 16));
	make_field(&m, "frozen", u32, 1u << 24 | (S_COUNTS_AT * 8 + 31));
	make_type(&m, "slab_sheaf", BTF_STRUCT, 3, H_OBJECTS_AT);
	make_field(&m, "barn_list", list, H_LINK_AT * 8);
	make_field(&m, "size", u32, H_COUNT_AT * 8);
	make_field(&m, "objects", array, H_OBJECTS_AT * 8);
	make_type(&m, "slub_percpu_sheaves", BTF_STRUCT, 3, 32);
	make_field(&m, "main", u64, P_MAIN_AT * 8);
	make_field(&m, "spare", u64, P_SPARE_AT * 8);
	make_field(&m, "rcu_free", u64, P_RCU_AT * 8);
	make_type(&m, "node_barn", BTF_STRUCT, 2, 40);
	make_field(&m, "sheaves_full", list, B_FULL_AT * 8);
	make_field(&m, "sheaves_empty", list, B_EMPTY_AT * 8);
	node = make_type(&m, "kmem_cache_per_node_ptrs", BTF_STRUCT, 1, 16);
	make_field(&m, "barn", u64, 0);
	node = make_array(&m, node, 1);
	make_type(&m, "kmem_cache", BTF_STRUCT, 7, C_BYTES);
	make_field(&m, "cpu_sheaves", u64, C_SHEAVES_AT * 8);
	make_field(&m, "per_node", node, C_NODES_AT * 8);
	make_field(&m, "cpu_slab", u64, C_CPU_AT * 8);
	make_field(&m, "size", u32, C_SIZE_AT * 8);
	make_field(&m, "object_size", u32, C_OBJECT_AT * 8);
	make_field(&m, "offset", u32, C_OFFSET_AT * 8);
	make_field(&m, "random", u64, C_RANDOM_AT * 8);
	thread = make_type(&m, "thread_struct", BTF_STRUCT, 1, 8);
	make_field(&m, "sp", u64, 0);
	make_type(&m, "task_struct", BTF_STRUCT, 3, 32);
	make_field(&m, "stack", u64, T_STACK_AT * 8);
	make_field(&m, "tasks", head, T_TASKS_AT * 8);
	make_field(&m, "thread", thread, T_THREAD_AT * 8);
	make_type(&m, "vm_struct", BTF_STRUCT, 1, 8);
	make_field(&m, "addr", u64, 0);
	if (cpu_lists) {
		make_type(&m, "kmem_cache_cpu", BTF_STRUCT, 1, 16);
		make_field(&m, "freelist", u64, 0);
	}
	make_type(&m, "", BTF_ENUM, 1, 4);
	blob_u32(&m.types, (uint32_t)blob_string(&m.strings, "PG_slab"));
	blob_u32(&m.types, 9);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, NULL);
	assert_non_null(btf);
	blob_free(&b);
	make_free(&m);
	return btf;
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

static uint64_t object(unsigned number)
{
	return SLAB + (uint64_t)number * STRIDE;
}

/* Let a free object point to the next one as a hardened list does. */
static void put_next(struct facts *f, unsigned number, uint64_t next)
{
	uint64_t at = object(number) + FREE_AT;

	put64(f, at - DIRECT, next ^ KEY ^ bswap_64(at));
}

static uint64_t stack(unsigned number)
{
	return STACKS + (uint64_t)number * LINUX_STACK_SIZE;
}

static uint64_t task(unsigned number)
{
	return number == STACK_INIT ? IMAGE + TASK_AT : DIRECT + TASKS_GPA + number * 0x100;
}

static void put_task(struct facts *f, unsigned number, uint64_t sp, unsigned next)
{
	uint64_t at = number == STACK_INIT ? IMAGE_GPA + TASK_AT : task(number) - DIRECT;

	put64(f, at + T_STACK_AT, stack(number));
	put64(f, at + T_TASKS_AT, task(next) + T_TASKS_AT);
	put64(f, at + T_THREAD_AT, sp);
}

static void put_tasks(struct facts *f)
{
	put_task(f, STACK_INIT, 0, STACK_WAITS);
	put_task(f, STACK_WAITS, stack(STACK_WAITS) + 0x2800, STACK_RUNS);
	put_task(f, STACK_RUNS, stack(STACK_RUNS) + 0x3000, STACK_INIT);
	put64(f, CPUS_GPA + CURRENT_AT, task(STACK_INIT));
	put64(f, CPUS_GPA + X86_PAGE_SIZE + CURRENT_AT, task(STACK_RUNS));
	put64(f, CPUS_GPA + X86_PAGE_SIZE + CACHED_AT + 8, DIRECT + AREA_GPA);
	put64(f, AREA_GPA, stack(STACK_CACHED));
}

/* Objects 2 and 5 are on the slab's list of free objects, and object 6 is on the list of CPU 1. */
static void fill(struct facts *f)
{
	put64(f, IMAGE_GPA + PAGE_OFFSET_AT, DIRECT);
	put64(f, IMAGE_GPA + VMEMMAP_AT, VMEMMAP);
	put64(f, IMAGE_GPA + MAX_PFN_AT, FAKE_RAM / X86_PAGE_SIZE);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		put64(f, IMAGE_GPA + OFFSETS_AT + 8 * cpu, DIRECT + CPUS_GPA + cpu * X86_PAGE_SIZE);
	put64(f, CPUS_GPA + X86_PAGE_SIZE + CPU_AREA_AT, object(6));
	put64(f, CACHE_GPA + C_CPU_AT, CPU_AREA_AT);
	put32(f, CACHE_GPA + C_SIZE_AT, STRIDE);
	put32(f, CACHE_GPA + C_OBJECT_AT, OBJECT);
	put32(f, CACHE_GPA + C_OFFSET_AT, FREE_AT);
	put64(f, CACHE_GPA + C_RANDOM_AT, KEY);
	put64(f, info_gpa(SLAB_GPA) + FLAGS_AT, 1u << 9);
	put64(f, info_gpa(SLAB_GPA) + S_CACHE_AT, DIRECT + CACHE_GPA);
	put64(f, info_gpa(SLAB_GPA) + S_FREE_AT, object(2));
	put32(f, info_gpa(SLAB_GPA) + S_COUNTS_AT, OBJECTS << 16 | 6);
	/* On a list with itself, as the only page of a CPU's list is with the list's head. */
	put32(f, info_gpa(UNUSED_GPA) + TYPE_AT, UINT32_MAX);
	put64(f, info_gpa(UNUSED_GPA) + LIST_AT, VMEMMAP + info_gpa(UNUSED_GPA) - VMEMMAP_GPA + LIST_AT);
	put64(f, info_gpa(UNUSED_GPA) + LIST_AT + 8, VMEMMAP + info_gpa(UNUSED_GPA) - VMEMMAP_GPA + LIST_AT);
	put32(f, info_gpa(TAIL_GPA) + TYPE_AT, UINT32_MAX);
	put32(f, info_gpa(BUDDY_GPA) + TYPE_AT, BUDDY);
	put64(f, info_gpa(BUDDY_GPA) + PRIVATE_AT, 1);
	put32(f, info_gpa(BUDDY_GPA + X86_PAGE_SIZE) + TYPE_AT, UINT32_MAX);
	put_next(f, 2, object(5));
	put_next(f, 5, 0);
	put_next(f, 6, 0);
}

static void learn(struct facts *f, bool cpu_lists)
{
	struct guest *g = f->g;

	btf_free(g->btf);
	g->btf = make_types(cpu_lists);
	linux_find_memory(g);
	linux_find_stacks(g);
	g->current_task = CURRENT_AT;
	g->memory.percpu.offsets = IMAGE + OFFSETS_AT;
	g->memory.percpu.cpus = CPUS;
}

static int setup(void **state)
{
	struct facts *f = calloc(1, sizeof(*f));
	struct guest *g;

	*state = f;
	f->ft = fake_target_new(CPUS, 4);
	f->g = g = f->ft ? guest_new(&f->ft->target, NULL, NULL, NULL) : NULL;
	if (!g)
		return -1;
	g->cr3 = fake_page(f->ft);
	fake_map(f->ft, g->cr3, 4, IMAGE, IMAGE_GPA, IMAGE_SIZE, 12);
	fake_map(f->ft, g->cr3, 4, DIRECT, 0, FAKE_RAM, 12);
	fake_map(f->ft, g->cr3, 4, VMEMMAP, VMEMMAP_GPA, FAKE_RAM / X86_PAGE_SIZE * PAGE_STRUCT, 12);
	fake_map(f->ft, g->cr3, 4, STACKS, STACKS_GPA, STACKS_COUNT * LINUX_STACK_SIZE, 12);
	fill(f);
	g->symtab = symtab_from_array(symbols, COUNT(symbols), NULL);
	g->stage = LINUX_READY;
	learn(f, true);
	return g->symtab ? 0 : -1;
}

static int teardown(void **state)
{
	struct facts *f = *state;

	free(f->lost);
	guest_free(f->g);
	fake_target_free(f->ft);
	free(f);
	return 0;
}

/* Find the lost objects, which must be those of the slab whose bits are set in `expected`. */
static void expect_lost(struct facts *f, unsigned expected)
{
	unsigned lost = 0;

	free(f->lost);
	assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), 0);
	for (size_t i = 0; i < f->count; i++) {
		assert_int_equal(f->lost[i].cache, DIRECT + CACHE_GPA);
		assert_int_equal(f->lost[i].size, OBJECT);
		assert_int_equal((f->lost[i].gva - SLAB) % STRIDE, 0);
		lost |= 1u << (f->lost[i].gva - SLAB) / STRIDE;
	}
	assert_int_equal(lost, expected);
}

/* Nothing is known, for example because no slab is valid. */
static void expect_unknown(struct facts *f)
{
	free(f->lost);
	assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), -1);
	assert_null(f->lost);
	assert_int_equal(f->count, 0);
}

/* ---- the tests ---- */

static void lost_if_nothing_points_there(void **state)
{
	struct facts *f = *state;

	expect_lost(f, 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 7);
	put64(f, USED_GPA + 8, object(0));
	expect_lost(f, 1u << 1 | 1u << 3 | 1u << 4 | 1u << 7);
	/* Into the middle, and from an object that is in use itself. */
	put64(f, object(0) - DIRECT + 16, object(1) + 100);
	expect_lost(f, 1u << 3 | 1u << 4 | 1u << 7);
	/* Two objects that point to each other, and one that points to itself, are lost. */
	put64(f, object(3) - DIRECT, object(4));
	put64(f, object(4) - DIRECT, object(3));
	put64(f, object(7) - DIRECT, object(7));
	expect_lost(f, 1u << 3 | 1u << 4 | 1u << 7);
	put64(f, object(1) - DIRECT + 472, object(4));
	expect_lost(f, 1u << 7);
}

static void stale_pointers_do_not_count(void **state)
{
	struct facts *f = *state;

	/* In a free page, in a free object, and between two words. */
	put64(f, UNUSED_GPA, object(0));
	put64(f, object(2) - DIRECT + 8, object(1));
	put64(f, USED_GPA, object(7));
	put64(f, USED_GPA + 12, object(4));
	expect_lost(f, 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4);
	/* After the end of an object that is in use, a pointer counts. */
	put64(f, object(7) - DIRECT + OBJECT, object(3));
	expect_lost(f, 1u << 0 | 1u << 1 | 1u << 4);
}

static void pages_without_users_may_be_in_use(void **state)
{
	struct facts *f = *state;

	/* Of two pages that are free together, and a page after them. */
	put64(f, BUDDY_GPA + 8, object(0));
	put64(f, BUDDY_GPA + X86_PAGE_SIZE, object(1));
	put64(f, BUDDY_GPA + 2 * X86_PAGE_SIZE, object(3));
	/* The second page of an allocation: no users, no type, and on no list. */
	put64(f, TAIL_GPA, object(4));
	expect_lost(f, 1u << 0 | 1u << 1 | 1u << 7);
	/* More pages than there can be together. */
	put64(f, info_gpa(BUDDY_GPA) + PRIVATE_AT, 12);
	expect_lost(f, 1u << 0 | 1u << 7);
}

static void registers_and_given_objects_point_too(void **state)
{
	struct facts *f = *state;
	const struct guest_object given = {.gva = object(1), .cache = DIRECT + CACHE_GPA, .size = OBJECT};
	struct x86_regs regs[2] = {0};

	put64(f, object(0) - DIRECT, object(3));
	put64(f, object(1) - DIRECT, object(4));
	regs[1].gpr[X86_GPRS - 1] = object(0) + 8;
	f->more = (struct guest_roots){.object = &given, .count = 1, .regs = regs, .cpus = 2};
	expect_lost(f, 1u << 7);
	f->more.cpus = 1;
	expect_lost(f, 1u << 0 | 1u << 3 | 1u << 7);
}

/* Put a pointer to an object on a stack. */
static void put_on_stack(struct facts *f, unsigned number, uint64_t at, unsigned to)
{
	put64(f, STACKS_GPA + stack(number) - STACKS + at, to < OBJECTS ? object(to) : 0);
}

static void unused_parts_of_stacks_do_not_point(void **state)
{
	struct facts *f = *state;
	const unsigned all = 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 7;
	struct x86_regs regs[CPUS] = {0};

	put_tasks(f);
	put_on_stack(f, STACK_WAITS, 0x800, 0);
	put_on_stack(f, STACK_WAITS, 0x27f8, 1);
	put_on_stack(f, STACK_CACHED, 0x3ff8, 3);
	expect_lost(f, all);
	put_on_stack(f, STACK_WAITS, 0x2800, 1);
	put_on_stack(f, STACK_WAITS, 0x3ff8, 0);
	expect_lost(f, all & ~(1u << 0 | 1u << 1));
	/* The stack pointer of a task on a CPU is in the CPU's registers. Without these, all of its stack may be in use. */
	put_on_stack(f, STACK_RUNS, 0x2800, 4);
	expect_lost(f, 1u << 3 | 1u << 7);
	f->more = (struct guest_roots){.empty_stacks = true};
	expect_lost(f, 1u << 3 | 1u << 4 | 1u << 7);
	f->more = (struct guest_roots){.regs = regs, .cpus = CPUS};
	expect_lost(f, 1u << 3 | 1u << 7);
	regs[1].gpr[X86_RSP] = stack(STACK_RUNS) + 0x2808;
	expect_lost(f, 1u << 3 | 1u << 4 | 1u << 7);
	regs[1].gpr[X86_RSP] = stack(STACK_RUNS) + 0x2800;
	expect_lost(f, 1u << 3 | 1u << 7);
	/* A CPU that changes tasks is on the stack of one that is not current yet. */
	put_on_stack(f, STACK_WAITS, 0x2700, 7);
	expect_lost(f, 1u << 3 | 1u << 7);
	regs[0].gpr[X86_RSP] = stack(STACK_WAITS) + 0x2700;
	expect_lost(f, 1u << 3);
}

static void stacks_of_odd_tasks_point(void **state)
{
	struct facts *f = *state;
	const unsigned others = 1u << 1 | 1u << 3 | 1u << 4 | 1u << 7;

	/* A stack pointer that is not in the stack, and an address that no stack has. */
	put_tasks(f);
	put_on_stack(f, STACK_WAITS, 0, 0);
	put_task(f, STACK_WAITS, stack(STACK_WAITS) + LINUX_STACK_SIZE, STACK_INIT);
	expect_lost(f, others);
	put64(f, task(STACK_WAITS) - DIRECT + T_STACK_AT, stack(STACK_WAITS) + 8);
	expect_lost(f, others);
	/* Tasks after a list that leads nowhere, and in a circle without the first. */
	put_tasks(f);
	put64(f, IMAGE_GPA + TASK_AT + T_TASKS_AT, 0);
	expect_lost(f, others);
	put_tasks(f);
	put_task(f, STACK_RUNS, 0, STACK_RUNS);
	expect_lost(f, others | 1u << 0);
}

static void odd_slabs_point_to_others(void **state)
{
	struct facts *f = *state;
	const uint64_t other = SLAB_GPA + 0x8000;

	put64(f, info_gpa(other) + FLAGS_AT, 1u << 9);
	put64(f, info_gpa(other) + S_CACHE_AT, DIRECT + CACHE_GPA);
	put64(f, info_gpa(other) + S_FREE_AT, DIRECT + other + 8);
	put32(f, info_gpa(other) + S_COUNTS_AT, OBJECTS << 16 | 6);
	put64(f, other + 3 * STRIDE, object(0));
	expect_lost(f, 1u << 1 | 1u << 3 | 1u << 4 | 1u << 7);
}

static void list_that_leaves_the_slab_says_nothing(void **state)
{
	struct facts *f = *state;

	put_next(f, 5, SLAB + X86_PAGE_SIZE);
	expect_lost(f, 0);
	put_next(f, 5, object(3) + 8);
	expect_lost(f, 0);
	put_next(f, 5, object(2));
	expect_lost(f, 0);
	put_next(f, 5, 0);
	put64(f, info_gpa(SLAB_GPA) + S_FREE_AT, DIRECT + USED_GPA);
	expect_lost(f, 0);
	/* The kernel counts more objects as free than the list has. */
	put64(f, info_gpa(SLAB_GPA) + S_FREE_AT, object(5));
	expect_lost(f, 0);
}

static void object_on_two_lists_was_freed_twice(void **state)
{
	struct facts *f = *state;
	struct x86_regs regs[CPUS] = {{.rflags = X86_RFLAGS_IF, .cs = 0x10}, {.rflags = X86_RFLAGS_IF, .cs = 0x10}};

	f->more = (struct guest_roots){.regs = regs, .cpus = CPUS};
	expect_lost(f, 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 7);
	assert_int_equal(f->twice.gva, 0);
	/* Twice on the list of a slab that nothing has yet, which the kernel may still be making. */
	put_next(f, 5, object(2));
	expect_lost(f, 0);
	assert_int_equal(f->twice.gva, 0);
	/* That a CPU has, and that is on a list of slabs. */
	put32(f, info_gpa(SLAB_GPA) + S_COUNTS_AT, 1u << 31 | OBJECTS << 16 | 6);
	expect_lost(f, 0);
	assert_int_equal(f->twice.gva, object(2));
	assert_int_equal(f->twice.cache, DIRECT + CACHE_GPA);
	assert_int_equal(f->twice.size, OBJECT);
	put32(f, info_gpa(SLAB_GPA) + S_COUNTS_AT, OBJECTS << 16 | 6);
	put64(f, info_gpa(SLAB_GPA) + LIST_AT, VMEMMAP + info_gpa(SLAB_GPA) - VMEMMAP_GPA + LIST_AT);
	put64(f, info_gpa(SLAB_GPA) + LIST_AT + 8, VMEMMAP + info_gpa(SLAB_GPA) - VMEMMAP_GPA + LIST_AT);
	expect_lost(f, 0);
	assert_int_equal(f->twice.gva, object(2));
	/* On the slab's list and a CPU's. */
	put_next(f, 5, 0);
	put64(f, CPUS_GPA + CPU_AREA_AT, object(5));
	expect_unknown(f);
	assert_int_equal(f->twice.gva, object(5));
	/* A CPU that has turned interrupts off may be about to move the object. */
	regs[1].rflags = 0;
	expect_unknown(f);
	assert_int_equal(f->twice.gva, 0);
	regs[1].cs = 0x33;
	expect_unknown(f);
	assert_int_equal(f->twice.gva, object(5));
	f->more.cpus = 0;
	expect_unknown(f);
	assert_int_equal(f->twice.gva, 0);
	/* Not since Linux 5.15. */
	f->g->memory.cache.shared_lists = false;
	expect_unknown(f);
	assert_int_equal(f->twice.gva, object(5));
}

static void put_sheaf(struct facts *f, unsigned number, uint32_t count, const unsigned objects[3])
{
	uint64_t at = object(number) - DIRECT;

	put32(f, at + H_COUNT_AT, count);
	for (unsigned i = 0; i < 3; i++)
		put64(f, at + H_OBJECTS_AT + 8 * i, object(objects[i]));
}

/* Object 0 is a sheaf of CPU 0, and object 4 is in the barn. */
static void put_sheaves(struct facts *f)
{
	const uint64_t barn = DIRECT + AREA_GPA + BARN_AT, sheaf = object(4) - DIRECT;

	put64(f, CACHE_GPA + C_SHEAVES_AT, SHEAVES_AT);
	put64(f, CACHE_GPA + C_NODES_AT, barn);
	put64(f, CPUS_GPA + SHEAVES_AT + P_MAIN_AT, object(0));
	put64(f, barn - DIRECT + B_FULL_AT, object(4) + H_LINK_AT);
	put64(f, sheaf + H_LINK_AT, barn + B_FULL_AT);
	put64(f, barn - DIRECT + B_EMPTY_AT, barn + B_EMPTY_AT);
	put_sheaf(f, 0, 1, (const unsigned[]){1, 3, 3});
	put_sheaf(f, 4, 1, (const unsigned[]){7, 3, 3});
}

static void objects_in_sheaves_are_free(void **state)
{
	struct facts *f = *state;
	struct x86_regs regs[CPUS] = {{.rflags = X86_RFLAGS_IF, .cs = 0x10}, {.rflags = X86_RFLAGS_IF, .cs = 0x10}};

	/* Pointers to objects that were taken from a sheaf are left in it, and do not count. */
	f->more = (struct guest_roots){.regs = regs, .cpus = CPUS};
	put_sheaves(f);
	expect_lost(f, 1u << 3);
	assert_int_equal(f->twice.gva, 0);
	put64(f, USED_GPA, object(3));
	expect_lost(f, 0);
	put64(f, CPUS_GPA + X86_PAGE_SIZE + SHEAVES_AT + P_SPARE_AT, object(3));
	put_sheaf(f, 3, 1, (const unsigned[]){6, 0, 0});
	/* On the list of CPU 1, too. */
	expect_unknown(f);
	assert_int_equal(f->twice.gva, object(6));
	put_sheaf(f, 3, 1, (const unsigned[]){7, 0, 0});
	expect_unknown(f);
	assert_int_equal(f->twice.gva, object(7));
}

/* Returns the objects of the slab that are in use, as bits. `offset`: of the byte in each object that is asked for. */
static unsigned in_use(struct facts *f, uint64_t offset)
{
	struct guest_heap *h = guest_heap_open(f->g);
	unsigned used = 0;

	assert_non_null(h);
	for (unsigned i = 0; i < OBJECTS; i++)
		used |= (unsigned)guest_heap_uses(h, object(i) + offset) << i;
	guest_heap_drop(h, object(7) + offset);
	assert_false(guest_heap_uses(h, object(7)));
	assert_true(guest_heap_has_free(h, object(2) + offset));
	assert_false(guest_heap_has_free(h, object(3)));
	assert_false(guest_heap_has_free(h, IMAGE));
	guest_heap_drop(h, DIRECT + USED_GPA);
	guest_heap_drop(h, UINT64_MAX);
	assert_false(guest_heap_uses(h, DIRECT + USED_GPA));
	assert_false(guest_heap_uses(h, IMAGE));
	assert_false(guest_heap_uses(h, UINT64_MAX));
	guest_heap_close(h);
	return used;
}

static void objects_in_use_are_told_from_free_ones(void **state)
{
	struct facts *f = *state;

	assert_int_equal(in_use(f, 0), 0xff & ~(1u << 2 | 1u << 5 | 1u << 6));
	assert_int_equal(in_use(f, OBJECT - 1), 0xff & ~(1u << 2 | 1u << 5 | 1u << 6));
	put_sheaves(f);
	assert_int_equal(in_use(f, 8), 1u << 0 | 1u << 3 | 1u << 4);
	learn(f, false);
	assert_null(guest_heap_open(f->g));
	guest_heap_close(NULL);
}

static void odd_sheaves_say_nothing(void **state)
{
	struct facts *f = *state;

	put_sheaves(f);
	/* More objects than the sheaf has room for, and a pointer into the middle of an object. */
	put32(f, object(0) - DIRECT + H_COUNT_AT, (STRIDE - H_OBJECTS_AT) / 8 + 1);
	expect_unknown(f);
	put32(f, object(0) - DIRECT + H_COUNT_AT, UINT32_MAX);
	expect_unknown(f);
	put32(f, object(0) - DIRECT + H_COUNT_AT, 1);
	put64(f, object(0) - DIRECT + H_OBJECTS_AT, object(1) + 8);
	expect_unknown(f);
	assert_int_equal(f->twice.gva, 0);
	/* A list that does not come back to the barn. */
	put_sheaves(f);
	put32(f, object(4) - DIRECT + H_COUNT_AT, 0);
	put64(f, object(4) - DIRECT + H_LINK_AT, object(4) + H_LINK_AT);
	expect_unknown(f);
	put_sheaves(f);
	put64(f, CPUS_GPA + SHEAVES_AT + P_MAIN_AT, 8);
	expect_unknown(f);
	/* If the cache has no sheaves, these are objects like any other. The barn points to object 4, and this one to 7 and 3.
	 */
	put64(f, CACHE_GPA + C_SHEAVES_AT, 0);
	expect_lost(f, 1u << 0 | 1u << 1);
}

static void invalid_slabs_are_no_slabs(void **state)
{
	static const uint32_t strides[] = {0, 7, 5u << 20, UINT32_MAX};
	struct facts *f = *state;

	for (unsigned i = 0; i < COUNT(strides); i++) {
		put32(f, CACHE_GPA + C_SIZE_AT, strides[i]);
		put32(f, CACHE_GPA + C_OBJECT_AT, 0);
		expect_unknown(f);
	}
	put32(f, CACHE_GPA + C_SIZE_AT, STRIDE);
	put32(f, CACHE_GPA + C_OBJECT_AT, STRIDE + 1);
	expect_unknown(f);
	/* More objects than RAM holds after the slab's first page. */
	put32(f, CACHE_GPA + C_SIZE_AT, 4096);
	put32(f, CACHE_GPA + C_OBJECT_AT, OBJECT);
	put32(f, info_gpa(SLAB_GPA) + S_COUNTS_AT, 0x7fffu << 16);
	expect_unknown(f);
	put64(f, info_gpa(SLAB_GPA) + S_CACHE_AT, 0);
	expect_unknown(f);
}

static void no_answer_if_a_list_of_a_cpu_is_odd(void **state)
{
	const uint64_t first[] = {object(5), object(1) + 8, DIRECT + USED_GPA, 8};
	struct facts *f = *state;

	for (unsigned i = 0; i < COUNT(first); i++) {
		put64(f, CPUS_GPA + CPU_AREA_AT, first[i]);
		assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), -1);
		assert_null(f->lost);
	}
	put64(f, CPUS_GPA + CPU_AREA_AT, 0);
	put64(f, IMAGE_GPA + OFFSETS_AT, 0);
	assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), -1);
}

static void no_answer_without_the_layout(void **state)
{
	struct facts *f = *state;

	learn(f, false);
	assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), -1);
	learn(f, true);
	put64(f, IMAGE_GPA + MAX_PFN_AT, UINT64_MAX);
	assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), -1);
	put64(f, IMAGE_GPA + MAX_PFN_AT, 0);
	assert_int_equal(guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice), -1);
	assert_null(f->lost);
}

/* Whatever the guest's structures hold, the search ends, and the lost objects are in RAM. */
static void random_structures_do_no_harm(void **state)
{
	struct facts *f = *state;
	struct rng rng = {1};

	for (unsigned i = 0; i < 300; i++) {
		fill(f);
		put_tasks(f);
		put_sheaves(f);
		for (unsigned n = 0; n < 4; n++) {
			uint64_t values[] = {rng_next(&rng), object((unsigned)rng_below(&rng, OBJECTS)), rng_below(&rng, 5000),
					     DIRECT + rng_below(&rng, 2 * FAKE_RAM)};

			put64(f, CACHE_GPA + 8 * rng_below(&rng, 4), values[rng_below(&rng, COUNT(values))]);
			put64(f,
			      rng_next(&rng) & 1 ? AREA_GPA + BARN_AT + 8 * rng_below(&rng, 5)
						 : object(4 * (unsigned)rng_below(&rng, 2)) - DIRECT + 8 * rng_below(&rng, 6),
			      values[rng_below(&rng, COUNT(values))]);
			put64(f, (rng_next(&rng) & 1 ? IMAGE_GPA + TASK_AT : TASKS_GPA + 0x100) + 8 * rng_below(&rng, 4),
			      values[rng_below(&rng, COUNT(values))]);
			put64(f, info_gpa(SLAB_GPA) + 8 * rng_below(&rng, 7), values[rng_below(&rng, COUNT(values))]);
			put_next(f, (unsigned)rng_below(&rng, OBJECTS), values[rng_below(&rng, COUNT(values))]);
		}
		free(f->lost);
		guest_lost_objects(f->g, &f->more, &f->lost, &f->count, &f->twice);
		for (size_t n = 0; n < f->count; n++)
			assert_true(f->lost[n].gva - DIRECT + f->lost[n].size <= FAKE_RAM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lost_if_nothing_points_there, setup, teardown),
		cmocka_unit_test_setup_teardown(stale_pointers_do_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_without_users_may_be_in_use, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_and_given_objects_point_too, setup, teardown),
		cmocka_unit_test_setup_teardown(unused_parts_of_stacks_do_not_point, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks_of_odd_tasks_point, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_slabs_point_to_others, setup, teardown),
		cmocka_unit_test_setup_teardown(list_that_leaves_the_slab_says_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(object_on_two_lists_was_freed_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(objects_in_sheaves_are_free, setup, teardown),
		cmocka_unit_test_setup_teardown(objects_in_use_are_told_from_free_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_sheaves_say_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(invalid_slabs_are_no_slabs, setup, teardown),
		cmocka_unit_test_setup_teardown(no_answer_if_a_list_of_a_cpu_is_odd, setup, teardown),
		cmocka_unit_test_setup_teardown(no_answer_without_the_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(random_structures_do_no_harm, setup, teardown),
	};

	return cmocka_run_group_tests_name("lost objects", tests, NULL, NULL);
}
