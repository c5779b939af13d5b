// SPDX-License-Identifier: GPL-2.0-or-later
/* Which stacks a CPU of a Linux guest is on, and what the calls on them were made for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_orc.h"
#include "tests/unit/target/fake_target.h"
#include "tests/unit/symbols/btf_maker.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SIZE 0x4000ull
#define TASK_STACK 0xffffc90000400000ull
#define TASK_STACK_GPA 0x400000ull
#define IRQ_STACK 0xffffc90000811000ull /* mapped page by page, so aligned to a page only */
#define IRQ_STACK_GPA 0x410000ull
#define EXCEPTIONS 0xfffffe0000010000ull
#define EXCEPTIONS_GPA 0x420000ull
#define NMI_AT 0x4000ull
#define NMI_SIZE 0x2000ull
#define PERCPU 0xffff888007a00000ull
#define PERCPU_GPA 0x500000ull
#define TASK 0xffff888007b00000ull
#define TASK_GPA 0x510000ull
#define TEXT 0xffffffff81000000ull
#define TEXT_GPA 0x600000ull
#define TABLES 0xffffffff82000000ull /* .orc_unwind_ip; .orc_unwind begins a page above it */
#define TABLES_GPA 0x620000ull

/* Offsets in the per-CPU area and in struct task_struct. */
enum { CURRENT_AT = 0x40, IRQ_TOP_AT = 0x48, EXCEPTIONS_AT = 0x50, STACK_AT = 0x18 };

struct facts {
	struct fake_target *ft;
	struct guest *g;
	struct x86_regs regs;
	struct guest_stack stacks[GUEST_STACKS_MAX];
};

static void put(struct facts *f, uint64_t gpa, uint64_t value)
{
	fake_write(f->ft, gpa, &value, sizeof(value));
}

static void map(struct facts *f, uint64_t gva, uint64_t gpa, uint64_t size)
{
	fake_map(f->ft, f->g->cr3, 4, gva, gpa, size, 12);
}

static int setup(void **state)
{
	struct facts *f = calloc(1, sizeof(*f));

	*state = f;
	f->ft = fake_target_new(1, 4);
	f->g = f->ft ? guest_new(&f->ft->target, NULL, NULL, NULL) : NULL;
	if (!f->g)
		return -1;
	f->g->cr3 = fake_page(f->ft);
	map(f, TASK_STACK, TASK_STACK_GPA, SIZE);
	map(f, IRQ_STACK, IRQ_STACK_GPA, SIZE);
	map(f, EXCEPTIONS + NMI_AT, EXCEPTIONS_GPA, NMI_SIZE);
	map(f, PERCPU, PERCPU_GPA, X86_PAGE_SIZE);
	map(f, TASK, TASK_GPA, X86_PAGE_SIZE);
	map(f, TEXT, TEXT_GPA, 0x4000);
	map(f, TABLES, TABLES_GPA, 0x2000);
	f->g->current_task = CURRENT_AT;
	f->g->stacks = (struct linux_stacks){
		.size = SIZE,
		.irq_top = IRQ_TOP_AT,
		.exceptions = EXCEPTIONS_AT,
		.task = {.offset = STACK_AT, .size = 8},
		.exception = {{NMI_AT, NMI_AT + NMI_SIZE}},
		.exception_count = 1,
	};
	put(f, PERCPU_GPA + CURRENT_AT, TASK);
	put(f, PERCPU_GPA + IRQ_TOP_AT, IRQ_STACK + SIZE - 8);
	put(f, PERCPU_GPA + EXCEPTIONS_AT, EXCEPTIONS);
	put(f, TASK_GPA + STACK_AT, TASK_STACK);
	f->regs = (struct x86_regs){.gs_base = PERCPU, .cs = 0x10};
	return 0;
}

static int teardown(void **state)
{
	struct facts *f = *state;

	guest_free(f->g);
	fake_target_free(f->ft);
	free(f);
	return 0;
}

/* ---- stacks ---- */

static void expect_stacks(struct facts *f, uint64_t sp, const struct guest_stack *expected, unsigned n)
{
	f->regs.gpr[X86_RSP] = sp;
	assert_int_equal(guest_stacks(f->g, &f->regs, f->stacks), n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(f->stacks[i].start, expected[i].start);
		assert_int_equal(f->stacks[i].end, expected[i].end);
	}
}

#define EXPECT(f, sp, ...)                                              \
	expect_stacks(f, sp, (const struct guest_stack[]){__VA_ARGS__}, \
		      sizeof((const struct guest_stack[]){__VA_ARGS__}) / sizeof(struct guest_stack))

static void test_task_stack(void **state)
{
	struct facts *f = *state;

	EXPECT(f, TASK_STACK + 0x3000, {TASK_STACK + 0x3000, TASK_STACK + SIZE});
	EXPECT(f, TASK_STACK, {TASK_STACK, TASK_STACK + SIZE});
}

static void test_irq_stack(void **state)
{
	struct facts *f = *state;
	const uint64_t sp = IRQ_STACK + 0x3800;

	put(f, IRQ_STACK_GPA + SIZE - 8, TASK_STACK + 0x2345);
	EXPECT(f, sp, {sp, IRQ_STACK + SIZE}, {TASK_STACK + 0x2345, TASK_STACK + SIZE});
	/* Before Linux 5.12 the pointer is to the very end, and no word there has the task's stack pointer. */
	put(f, PERCPU_GPA + IRQ_TOP_AT, IRQ_STACK + SIZE);
	put(f, IRQ_STACK_GPA + SIZE - 8, 0);
	EXPECT(f, sp, {sp, IRQ_STACK + SIZE});
	put(f, IRQ_STACK_GPA + SIZE - 8, 0x1234);
	EXPECT(f, sp, {sp, IRQ_STACK + SIZE}, {TASK_STACK, TASK_STACK + SIZE});
	put(f, IRQ_STACK_GPA + SIZE - 8, sp);
	EXPECT(f, sp, {sp, IRQ_STACK + SIZE}, {TASK_STACK, TASK_STACK + SIZE});
}

/* Write what the CPU pushes at the top of an exception stack. */
static void interrupted_at(struct facts *f, uint64_t cs, uint64_t sp)
{
	put(f, EXCEPTIONS_GPA + NMI_SIZE - 32, cs);
	put(f, EXCEPTIONS_GPA + NMI_SIZE - 16, sp);
}

static void test_nmi_stack(void **state)
{
	struct facts *f = *state;
	const uint64_t end = EXCEPTIONS + NMI_AT + NMI_SIZE, sp = end - 0x200;

	interrupted_at(f, 0x10, TASK_STACK + 0x1000);
	EXPECT(f, sp, {sp, end}, {TASK_STACK + 0x1000, TASK_STACK + SIZE});
	interrupted_at(f, 0x10, IRQ_STACK + 0x1000);
	put(f, IRQ_STACK_GPA + SIZE - 8, TASK_STACK + 0x2000);
	EXPECT(f, sp, {sp, end}, {IRQ_STACK + 0x1000, IRQ_STACK + SIZE}, {TASK_STACK + 0x2000, TASK_STACK + SIZE});
	interrupted_at(f, 0x33, TASK_STACK + 0x1000);
	EXPECT(f, sp, {sp, end});
	interrupted_at(f, 0x10, 0x1234);
	EXPECT(f, sp, {sp, end}, {TASK_STACK, TASK_STACK + SIZE});
	/* The saved stack pointer is that of the same stack. */
	interrupted_at(f, 0x10, sp);
	EXPECT(f, sp, {sp, end}, {TASK_STACK, TASK_STACK + SIZE});
}

/* Without any facts about the guest, the stack is the aligned area around RSP. Invalid pointers add no other stack. */
static void test_unknown_stack(void **state)
{
	static const uint64_t senseless[] = {0, 1, 0x7fff00000000, UINT64_MAX, UINT64_MAX - 7, 0xffffffffffffc000};
	struct facts *f = *state;
	const uint64_t sp = 0xffffc90000a01000;

	EXPECT(f, sp, {sp, 0xffffc90000a04000});
	for (size_t i = 0; i < COUNT(senseless); i++) {
		put(f, PERCPU_GPA + CURRENT_AT, senseless[i]);
		put(f, PERCPU_GPA + IRQ_TOP_AT, senseless[i]);
		put(f, PERCPU_GPA + EXCEPTIONS_AT, senseless[i]);
		EXPECT(f, sp, {sp, 0xffffc90000a04000});
	}
	f->regs.gs_base = 0x7f0000001000;
	EXPECT(f, sp, {sp, 0xffffc90000a04000});
	f->g->current_task = f->g->stacks.irq_top = f->g->stacks.exceptions = LINUX_UNKNOWN;
	f->regs.gs_base = PERCPU;
	EXPECT(f, sp, {sp, 0xffffc90000a04000});
}

static void test_any_pointers(void **state)
{
	struct facts *f = *state;
	struct rng rng = {.state = 3};
	const uint64_t interesting[] = {TASK, TASK_STACK, IRQ_STACK, IRQ_STACK + SIZE, EXCEPTIONS, PERCPU, 0, UINT64_MAX};

	for (unsigned i = 0; i < 20000; i++) {
		const uint64_t places[] = {PERCPU_GPA + CURRENT_AT, PERCPU_GPA + IRQ_TOP_AT,  PERCPU_GPA + EXCEPTIONS_AT,
					   TASK_GPA + STACK_AT,	    IRQ_STACK_GPA + SIZE - 8, EXCEPTIONS_GPA + NMI_SIZE - 16};
		uint64_t value = interesting[rng_below(&rng, COUNT(interesting))] + rng_below(&rng, 2 * SIZE) - SIZE / 2;
		unsigned n;

		put(f, places[rng_below(&rng, COUNT(places))], value);
		f->regs.gpr[X86_RSP] = interesting[rng_below(&rng, COUNT(interesting))] + rng_below(&rng, SIZE);
		n = guest_stacks(f->g, &f->regs, f->stacks);
		assert_true(n >= 1 && n <= GUEST_STACKS_MAX);
		for (unsigned s = 0; s < n; s++)
			assert_true(f->stacks[s].end - f->stacks[s].start <= SIZE);
	}
}

/* ---- calls ---- */

/* The functions, of 64 bytes each, and the ORC rule from each to its caller. */
static const struct function {
	const char *name;
	enum orc_type type;
	uint8_t sp_base;
	int16_t sp_offset;
} functions[] = {
	{"leaf", ORC_CALL, ORC_BASE_SP, 8},
	{"handle_softirqs", ORC_CALL, ORC_BASE_SP, 8},
	{"__irq_exit_rcu", ORC_CALL, ORC_BASE_SP_INDIRECT, 8},
	{"sysvec_apic_timer_interrupt", ORC_CALL, ORC_BASE_SP, 8},
	{"asm_sysvec_apic_timer_interrupt", ORC_REGS, ORC_BASE_SP, 0},
	{"asm_exc_page_fault", ORC_REGS, ORC_BASE_SP, 0},
	{"asm_exc_nmi", ORC_REGS, ORC_BASE_SP, 0},
	{"entry_SYSCALL_64_after_hwframe", ORC_REGS, ORC_BASE_SP, 0},
	{"ret_from_fork", ORC_END, ORC_BASE_NONE, 0},
	{"secondary_startup_64_no_verify", ORC_END, ORC_BASE_NONE, 0},
	{"somewhere", ORC_END, ORC_BASE_NONE, 0},
	{"ret_from_fork_asm", ORC_REGS, ORC_BASE_SP, 0},
	{"__x86_indirect_thunk_array", ORC_END, ORC_BASE_NONE, 0},
	{"__x86_retpoline_rcx", ORC_CALL, ORC_BASE_SP, 8},
	{"no_rule", ORC_UNDEFINED, ORC_BASE_NONE, 0},
};

enum {
	LEAF,
	SOFTIRQS,
	IRQ_EXIT,
	SYSVEC,
	ASM_SYSVEC,
	PAGE_FAULT,
	ASM_NMI,
	SYSCALL,
	FORK,
	SECONDARY,
	SOMEWHERE,
	FRESH,
	RETPOLINE,
	OLD_RETPOLINE,
	NO_RULE
};

static uint64_t text(unsigned function)
{
	return TEXT + function * 64;
}

/* Make a kernel of these functions. Its rules have the layout of Linux 6.4 (orc_types.h: type and signal are in the last byte).
 */
static void make_kernel(struct facts *f)
{
	struct symbol symbols[COUNT(functions) + 2];
	struct guest *g = f->g;

	for (unsigned i = 0; i < COUNT(functions); i++) {
		const struct function *fn = &functions[i];
		int32_t ip = (int32_t)(text(i) - (TABLES + i * 4));
		uint8_t signal = fn->type == ORC_REGS, entry[6] = {0, 0, 0, 0, fn->sp_base, (uint8_t)(fn->type | signal << 3)};

		memcpy(entry, &fn->sp_offset, sizeof(fn->sp_offset));
		fake_write(f->ft, TABLES_GPA + i * 4, &ip, sizeof(ip));
		fake_write(f->ft, TABLES_GPA + 0x1000 + i * sizeof(entry), entry, sizeof(entry));
		symbols[i] = (struct symbol){fn->name, text(i), 64, 't'};
		/* In each function, a call returns to the byte at 0x20. */
		fake_write(f->ft, TEXT_GPA + i * 64 + 0x20 - 5, "\xe8\0\0\0\0", 5);
	}
	symbols[COUNT(functions)] = (struct symbol){"_etext", text(COUNT(functions)), 0, 'T'};
	symbols[COUNT(functions) + 1] = (struct symbol){"_text", TEXT, 0, 'T'};
	g->symtab = symtab_from_array(symbols, COUNT(symbols), NULL);
	assert_non_null(g->symtab);
	linux_find_unwind(g);
	assert_int_equal(g->kernel_text.start, TEXT);
	assert_int_equal(g->orc.count, 0); /* these tables have no symbols */
	g->orc_format = (struct orc_format){
		.size = 6,
		.sp_offset = {.offset = 0, .size = 2},
		.bp_offset = {.offset = 2, .size = 2},
		.sp_reg = {.offset = 4, .size = 1, .bits = 4},
		.bp_reg = {.offset = 4, .size = 1, .bits = 4, .shift = 4},
		.type = {.offset = 5, .size = 1, .bits = 3},
		.signal = {.offset = 5, .size = 1, .bits = 1, .shift = 3},
	};
	g->orc = (struct orc_table){TABLES, TABLES + 0x1000, COUNT(functions)};
}

struct maker {
	uint64_t words[2][256];
	unsigned at[2];
	struct unwind_stack stacks[2];
	struct guest_calls calls;
	struct guest_frame frames[UNWIND_FRAMES_MAX];
};

static void call(struct maker *m, unsigned stack, unsigned function)
{
	m->words[stack][m->at[stack]++] = text(function) + 0x20;
}

#define USER (NO_RULE + 1)

/* Write the saved registers of `function`, stopped at this offset. Its stack continues above them. USER: those of user mode. */
static void interrupted_within(struct maker *m, unsigned stack, unsigned function, unsigned offset)
{
	uint64_t *regs = m->words[stack] + m->at[stack];

	m->at[stack] += 21;
	regs[16] = text(function) + offset;
	regs[17] = function == USER ? 0x33 : 0x10;
	regs[19] = (stack ? TASK_STACK : IRQ_STACK) + 8 * m->at[stack];
}

static void interrupted(struct maker *m, unsigned stack, unsigned function)
{
	interrupted_within(m, stack, function, 0x20);
}

/* Unwind from `function`, on the interrupt stack or on the task's. */
static const struct guest_calls *unwound(struct facts *f, struct maker *m, unsigned function, bool irq)
{
	const struct guest_context context = {.known = true, .kind = GUEST_SOFTIRQ};
	unsigned n = 0;

	if (irq)
		m->stacks[n++] = (struct unwind_stack){IRQ_STACK, (const uint8_t *)m->words[0], sizeof(m->words[0])};
	m->stacks[n++] = (struct unwind_stack){TASK_STACK, (const uint8_t *)m->words[1], sizeof(m->words[1])};
	f->regs.rip = text(function) + 0x20;
	f->regs.gpr[X86_RSP] = m->stacks[0].gva;
	m->calls.frames = m->frames;
	guest_unwind(f->g, &f->regs, &context, m->stacks, n, &m->calls);
	return &m->calls;
}

static void test_parts_of_a_stack(void **state)
{
	static const struct {
		unsigned function;
		enum guest_context_kind context;
	} expected[] = {
		{LEAF, GUEST_SOFTIRQ},	     {SOFTIRQS, GUEST_SOFTIRQ}, {IRQ_EXIT, GUEST_HARDIRQ}, {SYSVEC, GUEST_HARDIRQ},
		{ASM_SYSVEC, GUEST_HARDIRQ}, {LEAF, GUEST_TASK},	{SYSCALL, GUEST_TASK},
	};
	struct facts *f = *state;
	struct maker m = {0};
	const struct guest_calls *calls;

	make_kernel(f);
	call(&m, 0, SOFTIRQS);
	call(&m, 0, IRQ_EXIT);
	m.words[0][m.at[0]++] = TASK_STACK;
	call(&m, 1, SYSVEC);
	call(&m, 1, ASM_SYSVEC);
	interrupted(&m, 1, LEAF);
	call(&m, 1, SYSCALL);
	interrupted(&m, 1, USER);
	calls = unwound(f, &m, LEAF, true);
	assert_int_equal(calls->count, COUNT(expected));
	for (unsigned i = 0; i < COUNT(expected); i++) {
		assert_string_equal(calls->frames[i].symbol.name, functions[expected[i].function].name);
		assert_int_equal(calls->frames[i].context, expected[i].context);
		assert_true(calls->frames[i].reliable);
	}
	assert_int_equal(calls->origin, GUEST_ORIGIN_SYSCALL);
	assert_int_equal(calls->end, UNWIND_USER);
	assert_false(calls->guessed);
	assert_int_equal(calls->used_from[1], 0);
}

static void test_origins(void **state)
{
	static const struct {
		unsigned function;
		bool user; /* its registers follow */
		enum guest_origin origin;
	} cases[] = {
		{SYSCALL, true, GUEST_ORIGIN_SYSCALL},	    {PAGE_FAULT, true, GUEST_ORIGIN_EXCEPTION},
		{ASM_SYSVEC, true, GUEST_ORIGIN_INTERRUPT}, {ASM_NMI, true, GUEST_ORIGIN_NMI},
		{FORK, false, GUEST_ORIGIN_KTHREAD},	    {FRESH, true, GUEST_ORIGIN_SYSCALL},
		{SECONDARY, false, GUEST_ORIGIN_IDLE},	    {SOMEWHERE, false, GUEST_ORIGIN_UNKNOWN},
		{NO_RULE, false, GUEST_ORIGIN_UNKNOWN},
	};
	struct facts *f = *state;

	make_kernel(f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = {0};
		const struct guest_calls *calls;

		call(&m, 1, cases[i].function);
		if (cases[i].user)
			interrupted(&m, 1, USER);
		calls = unwound(f, &m, LEAF, false);
		assert_int_equal(calls->origin, cases[i].origin);
		assert_int_equal(calls->count, 2);
		assert_int_equal(calls->frames[1].pc, text(cases[i].function) + 0x20);
	}
}

/* A retpoline has pushed nothing, or one word after the call that is in it. The kernel has no rule for it. */
static void test_retpoline(void **state)
{
	enum { LEN = 21 };
	/* call +7; pause; lfence; jmp -7; mov %rax,(%rsp); a jump to the return thunk. */
	static const uint8_t calling[LEN] = {0xe8, 7,	 0,    0, 0,	0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb,
					     0xf9, 0x48, 0x89, 4, 0x24, 0xe9, 0,    1,	  0,	0};
	static const uint8_t newer[LEN] = {0xe8, 1, 0, 0, 0, 0xcc, 0x48, 0x89, 4, 0x24, 0xc3}; /* call +1; int3; mov; ret */
	static const uint8_t plain[LEN] = {0x0f, 0xae, 0xe8, 0xff, 0xe0};		       /* lfence; jmp *%rax */
	static const struct {
		unsigned function;
		const uint8_t *code;
		unsigned offset;
		bool pushed;
	} cases[] = {
		{RETPOLINE, calling, 0, false}, {RETPOLINE, calling, 0x0c, true}, {RETPOLINE, calling, 0x10, true},
		{RETPOLINE, newer, 0, false},	{RETPOLINE, newer, 6, true},	  {OLD_RETPOLINE, newer, 10, true},
		{RETPOLINE, plain, 0, false},	{OLD_RETPOLINE, plain, 3, false},
	};
	struct facts *f = *state;

	make_kernel(f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = {0};
		const struct guest_calls *calls;

		fake_write(f->ft, TEXT_GPA + cases[i].function * 64, cases[i].code, LEN);
		call(&m, 1, ASM_SYSVEC);
		interrupted_within(&m, 1, cases[i].function, cases[i].offset);
		if (cases[i].pushed)
			call(&m, 1, SOFTIRQS);
		call(&m, 1, SYSCALL);
		interrupted(&m, 1, USER);
		calls = unwound(f, &m, LEAF, false);
		assert_int_equal(calls->count, 4);
		assert_int_equal(calls->frames[2].pc, text(cases[i].function) + cases[i].offset);
		assert_int_equal(calls->frames[3].pc, text(SYSCALL) + 0x20);
		assert_int_equal(calls->end, UNWIND_USER);
		assert_false(calls->guessed);
	}
}

/* If unwinding ends early, the distance from the frames to the task is unknown, but the context of the stop is known. */
static void test_unfinished(void **state)
{
	struct facts *f = *state;
	struct maker m = {0};
	const struct guest_calls *calls;

	make_kernel(f);
	call(&m, 0, NO_RULE);
	calls = unwound(f, &m, LEAF, true);
	assert_int_equal(calls->end, UNWIND_NO_RULE);
	assert_int_equal(calls->frames[1].context, GUEST_SOFTIRQ);
	assert_int_equal(calls->frames[0].context, GUEST_SOFTIRQ);
}

/* ---- a module that is just being initialised ---- */

#define MODULE 0xffffffffc0200000ull /* a page with the struct module, the list's head and the ORC table */
#define MODULE_GPA 0x630000ull
#define INIT_TEXT (MODULE + 0x1000)

enum {
	STATE = 0,
	LIST = 8,
	NAME = 24,
	NUM_ORCS = 80,
	ORC_IP = 88,
	ORC = 96,
	CORE = 104,
	INIT = 120,
	STRUCT_SIZE = 256,
	HEAD = 0x800
};

static void make_module_types(struct btf_maker *m)
{
	uint32_t u8 = make_int(m, "u8", 1), u32 = make_int(m, "u32", 4), ptr = make_type(m, "", BTF_PTR, 0, 0);
	uint32_t name = make_array(m, u8, 56), list, layout, arch;

	list = make_list_head(m, ptr);
	layout = make_module_layout(m, ptr, u32);
	arch = make_type(m, "mod_arch_specific", BTF_STRUCT, 3, 24);
	make_field(m, "num_orcs", u32, 0);
	make_field(m, "orc_unwind_ip", ptr, 64);
	make_field(m, "orc_unwind", ptr, 128);
	make_type(m, "module", BTF_STRUCT, 6, STRUCT_SIZE);
	make_field(m, "state", u32, STATE * 8);
	make_field(m, "list", list, LIST * 8);
	make_field(m, "name", name, NAME * 8);
	make_field(m, "arch", arch, NUM_ORCS * 8);
	make_field(m, "core_layout", layout, CORE * 8);
	make_field(m, "init_layout", layout, INIT * 8);
}

static void make_module(struct facts *f)
{
	static const int32_t ip = 0x1000 - 0x400;
	struct btf_maker m = {0};
	struct blob b;

	make_module_types(&m);
	b = make_btf(&m);
	f->g->btf = btf_parse(b.bytes, b.len, NULL);
	assert_non_null(f->g->btf);
	make_free(&m);
	blob_free(&b);
	map(f, MODULE, MODULE_GPA, 0x2000);
	put(f, MODULE_GPA + STATE, MODULE_COMING);
	put(f, MODULE_GPA + LIST, MODULE + HEAD);
	put(f, MODULE_GPA + LIST + 8, MODULE + HEAD);
	put(f, MODULE_GPA + HEAD, MODULE + LIST);
	put(f, MODULE_GPA + HEAD + 8, MODULE + LIST);
	fake_write(f->ft, MODULE_GPA + NAME, "coming", 7);
	put(f, MODULE_GPA + NUM_ORCS, 1);
	put(f, MODULE_GPA + ORC_IP, MODULE + 0x400);
	put(f, MODULE_GPA + ORC, MODULE + 0x500);
	put(f, MODULE_GPA + INIT, INIT_TEXT);
	put(f, MODULE_GPA + INIT + 8, 0x100);
	fake_write(f->ft, MODULE_GPA + 0x400, &ip, sizeof(ip));
	fake_write(f->ft, MODULE_GPA + 0x500, "\x10\0\0\0\x05\x02", 6); /* call, 16 bytes above SP */
}

static void test_coming_module(void **state)
{
	static const struct symbol head = {"modules", MODULE + HEAD, 16, 'd'};
	struct facts *f = *state;
	struct maker m = {0};
	struct symtab *with_head;
	const struct guest_calls *calls;

	make_kernel(f);
	make_module(f);
	m.words[1][m.at[1]++] = INIT_TEXT + 0x44;
	m.at[1]++;
	call(&m, 1, FORK);
	/* The kernel has no symbol for its list of modules, so the unwinder does not find the module of this text. */
	calls = unwound(f, &m, LEAF, false);
	assert_int_equal(calls->origin, GUEST_ORIGIN_KTHREAD);
	assert_true(calls->guessed);
	with_head = symtab_from_array(&head, 1, NULL);
	symtab_free(f->g->symtab);
	f->g->symtab = with_head;
	calls = unwound(f, &m, LEAF, false);
	assert_int_equal(calls->count, 3);
	assert_int_equal(calls->end, UNWIND_FIRST);
	assert_false(calls->guessed);
	/* Without symbols no frame names a function, and the frames keep no name from the unwinding before. */
	for (unsigned i = 0; i < calls->count; i++) {
		assert_string_equal(calls->frames[i].symbol.name, "");
		assert_int_equal(calls->frames[i].symbol.addr, 0);
		assert_int_equal(calls->frames[i].symbol.size, 0);
	}
	/* The module was unloaded meanwhile. */
	put(f, MODULE_GPA + HEAD, MODULE + HEAD);
	put(f, MODULE_GPA + HEAD + 8, MODULE + HEAD);
	assert_true(unwound(f, &m, LEAF, false)->guessed);
}

/* ---- guesses ---- */

static void test_return_addresses(void **state)
{
	static const struct {
		const char *bytes; /* up to the return address */
		unsigned len;
		bool call;
	} cases[] = {
		{"\xe8\1\2\3\4", 5, true},
		{"\xff\xd0", 2, true},
		{"\x41\xff\xd7", 3, true},
		{"\xff\x10", 2, true},
		{"\xff\x50\x08", 3, true},
		{"\xff\x14\xc5\1\2\3\4", 7, true},
		{"\xff\x15\1\2\3\4", 6, true},
		{"\xff\x94\x24\1\2\3\4", 7, true},
		{"\xff\x54\x24\x08", 4, true},
		{"\xff\x14\x24", 3, true},
		{"\xff\x90\1\2\3\4", 6, true},
		{"\xe9\1\2\3\4", 5, false},
		{"\xff\xe0", 2, false},
		{"\xff\x50", 2, false},
		{"\x90\x90\x90\x90\x90\x90\x90", 7, false},
		{"\xff\xd0\x90", 3, false},
	};
	struct facts *f = *state;
	struct maker m = {0};

	make_kernel(f);
	m.words[1][5] = text(FORK) + 0x30;
	for (size_t i = 0; i < COUNT(cases); i++) {
		fake_write(f->ft, TEXT_GPA + FORK * 64 + 0x28, "\x90\x90\x90\x90\x90\x90\x90\x90", 8);
		fake_write(f->ft, TEXT_GPA + FORK * 64 + 0x30 - cases[i].len, cases[i].bytes, cases[i].len);
		assert_int_equal(unwound(f, &m, NO_RULE, false)->count, cases[i].call ? 2 : 1);
		assert_int_equal(m.calls.guessed, cases[i].call);
	}
}

/* Stacks, tables and text may hold anything. */
static void test_anything(void **state)
{
	struct facts *f = *state;
	struct rng rng = {.state = 5};

	make_kernel(f);
	for (unsigned round = 0; round < 3000; round++) {
		struct maker m = {0};
		const struct guest_calls *calls;

		for (unsigned i = 0; i < 256; i++) {
			m.words[0][i] = text((unsigned)rng_below(&rng, COUNT(functions))) + 0x20;
			m.words[1][i] = rng_below(&rng, 3) ? m.words[0][i] : IRQ_STACK + rng_below(&rng, 2048);
		}
		if (!rng_below(&rng, 8))
			put(f, TABLES_GPA + rng_below(&rng, 0x1080), rng_next(&rng));
		calls = unwound(f, &m, (unsigned)rng_below(&rng, COUNT(functions)), rng_below(&rng, 2));
		assert_true(calls->count >= 1 && calls->count <= UNWIND_FRAMES_MAX);
		assert_true(calls->used_from[0] <= sizeof(m.words[0]));
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_task_stack),   T(test_irq_stack),	T(test_nmi_stack),	  T(test_unknown_stack),
		T(test_any_pointers), T(test_parts_of_a_stack), T(test_origins),	  T(test_retpoline),
		T(test_unfinished),   T(test_coming_module),	T(test_return_addresses), T(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
