/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instruction tripped a watchpoint is found from the state that the CPU is in after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/report/attribute.h"
#include "tests/unit/detect/detect_rig.h"

/* Two functions, the second directly after the first. */
#define FIRST 0x0
#define SECOND 0x100
#define FUNCTION_SIZE 0x100

#define NOT_TOLD (-1)
#define RW (INSN_READ | INSN_WRITE)

struct access_case {
	const char *text;
	const char *code; /* what stands at RIG_TEXT */
	unsigned len;
	unsigned rip; /* where the CPU stopped, as an offset in the text */
	struct {
		/* Their values after the access; those of rdi, rsi and rdx count from RIG_DATA. */
		int64_t rdi, rsi, rcx, rdx;
		uint64_t rflags;
	} regs;
	struct {
		int64_t at; /* the address, counted from RIG_DATA */
		uint32_t size;
		uint8_t rw;
	} watched;
	struct {
		int pc; /* offset in the text, or NOT_TOLD */
		int64_t at;
		uint32_t size;
		uint8_t rw;
		bool locked;
	} expect;
};

#define CODE(bytes) .code = (bytes), .len = sizeof(bytes) - 1
#define FAR 0x8000 /* so far from RIG_DATA nothing is watched */

static const struct access_case cases[] = {
	{"mov %rax,(%rdi)", CODE("\x48\x89\x07\x90"), 3, {0}, {0, 8, INSN_WRITE}, {0, 0, 8, INSN_WRITE, false}},
	{"mov (%rdi),%rax", CODE("\x48\x8b\x07\x90"), 3, {0}, {0, 8, INSN_WRITE}, {0, 0, 8, INSN_READ, false}},
	{"nop; movb $1,3(%rdi)", CODE("\x90\xc6\x47\x03\x01"), 5, {0}, {0, 8, INSN_READ}, {1, 3, 1, INSN_WRITE, false}},
	{"wider than what is watched", CODE("\x48\x89\x07"), 3, {0}, {4, 4, INSN_READ}, {0, 0, 8, INSN_WRITE, false}},
	{"mov %eax,0x11(%rip)", CODE("\x89\x05\x11\x00\x00\x00"), 6, {0}, {-0x12345, 4, INSN_READ}, {NOT_TOLD, 0, 0, 0, false}},
	{"mov (%rdi),%rdi", CODE("\x48\x8b\x3f"), 3, {.rdi = FAR}, {0, 8, INSN_WRITE}, {0, 0, 8, INSN_READ, false}},
	{"mov (%rdi,%rcx,8),%rcx", CODE("\x48\x8b\x0c\xcf"), 4, {.rcx = 77}, {0, 8, INSN_WRITE}, {0, 0, 8, INSN_READ, false}},
	{"lock cmpxchg %rcx,(%rdi)", CODE("\xf0\x48\x0f\xb1\x0f"), 5, {0}, {0, 8, INSN_READ}, {0, 0, 8, RW, true}},
	{"xchg %eax,(%rdi)", CODE("\x87\x07"), 2, {0}, {0, 8, INSN_READ}, {0, 0, 4, RW, true}},
	{"incl (%rdi)", CODE("\xff\x07"), 2, {0}, {0, 4, INSN_READ}, {0, 0, 4, RW, false}},
	{"push (%rdi)", CODE("\xff\x37"), 2, {0}, {0, 8, INSN_WRITE}, {0, 0, 8, INSN_READ, false}},
	{"pop (%rdi)", CODE("\x8f\x07"), 2, {0}, {0, 8, INSN_READ}, {0, 0, 8, INSN_WRITE, false}},

	/* A read does not trip a watch on writes, and an access elsewhere trips none. */
	{"only a read", CODE("\x48\x8b\x07"), 3, {0}, {0, 8, INSN_READ}, {NOT_TOLD, 0, 0, 0, false}},
	{"elsewhere", CODE("\x48\x89\x07"), 3, {.rdi = 8}, {0, 8, INSN_WRITE}, {NOT_TOLD, 0, 0, 0, false}},
	{"next to it", CODE("\x88\x07"), 2, {.rdi = -1}, {0, 8, INSN_WRITE}, {NOT_TOLD, 0, 0, 0, false}},
	{"no memory", CODE("\x48\x89\xc7"), 3, {0}, {0, 8, INSN_WRITE}, {NOT_TOLD, 0, 0, 0, false}},
	{"between instructions", CODE("\x48\x89\x07\x90"), 2, {0}, {0, 8, INSN_WRITE}, {NOT_TOLD, 0, 0, 0, false}},

	/* A string instruction moves its pointers at each step. RIP moves on only after the last step. */
	{"movsb", CODE("\xa4"), 1, {.rdi = 1, .rsi = FAR}, {0, 1, INSN_READ}, {0, 0, 1, INSN_WRITE, false}},
	{"movsq, its source", CODE("\x48\xa5"), 2, {.rsi = 8, .rdi = FAR}, {0, 8, INSN_WRITE}, {0, 0, 8, INSN_READ, false}},
	{"std; movsb", CODE("\xa4"), 1, {-1, FAR, 0, 0, X86_RFLAGS_DF}, {0, 1, INSN_READ}, {0, 0, 1, INSN_WRITE, false}},
	{"rep movsb, not through", CODE("\xf3\xa4"), 0, {5, FAR, 3, 0, 0}, {0, 8, INSN_READ}, {0, 4, 1, INSN_WRITE, false}},
	{"rep movsq, through", CODE("\xf3\x48\xa5"), 3, {8, FAR, 0, 0, 0}, {0, 8, INSN_READ}, {0, 0, 8, INSN_WRITE, false}},
	{"rep stosq, late", CODE("\xf3\x48\xab"), 0, {64, FAR, 9, 0, 0}, {0, 8, INSN_READ}, {0, 0, 8, INSN_WRITE, false}},
	{"rep stosq, elsewhere", CODE("\xf3\x48\xab"), 0, {4096, FAR, 9, 0, 0}, {0, 8, INSN_READ}, {NOT_TOLD, 0, 0, 0, false}},

	/* The instruction that RIP is at has done nothing yet. */
	{"mov %rax,(%rdx); rep stosq",
	 CODE("\x48\x89\x02\xf3\x48\xab"),
	 3,
	 {FAR, FAR, 9, 0, 0},
	 {0, 8, INSN_READ},
	 {0, 0, 8, INSN_WRITE, false}},
	{"mov (%rdx),%rdx; rep stosq",
	 CODE("\x48\x8b\x12\xf3\x48\xab"),
	 3,
	 {FAR, FAR, 9, FAR, 0},
	 {0, 8, INSN_WRITE},
	 {0, 0, 8, INSN_READ, false}},
};

static int setup(void **state)
{
	static const struct symbol functions[] = {
		{.name = "first", .addr = RIG_TEXT + FIRST, .size = FUNCTION_SIZE, .type = 't'},
		{.name = "second", .addr = RIG_TEXT + SECOND, .size = FUNCTION_SIZE, .type = 't'},
	};
	struct rig *r = rig_new(2, 4);

	*state = r;
	if (!r)
		return -1;
	rig_functions(r, functions, 2);
	for (uint64_t at = 0; at < 2 * FUNCTION_SIZE; at++)
		rig_code(r, at, "\x90", 1);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static struct observation *watched(struct rig *r, int64_t at, uint32_t size, uint8_t rw, uint64_t rip)
{
	struct {
		struct observation o;
		struct race_side_room rooms[2];
	} *caught = calloc(1, sizeof(*caught));
	struct observation *o = &caught->o; /* free() of it is of all */

	assert_non_null(caught);
	for (int i = 0; i < 2; i++)
		race_side_use_room(&o->sides[i], &caught->rooms[i]);
	o->how = RACE_BY_WATCH;
	o->sides[0].gva = RIG_DATA + (uint64_t)at;
	o->sides[0].size = size;
	o->sides[0].rw = rw;
	o->sides[1].kind = RACE_SIDE_CPU;
	o->sides[1].regs = rig_regs(r, 1, rip);
	return o;
}

static void check_case(struct rig *r, const struct access_case *c)
{
	struct observation *o = watched(r, c->watched.at, c->watched.size, c->watched.rw, c->rip);
	struct race_side *side = &o->sides[1];
	uint64_t *gpr = side->regs.gpr;

	rig_code(r, FIRST, c->code, c->len);
	gpr[X86_RDI] = RIG_DATA + (uint64_t)c->regs.rdi;
	gpr[X86_RSI] = RIG_DATA + (uint64_t)c->regs.rsi;
	gpr[X86_RDX] = RIG_DATA + (uint64_t)c->regs.rdx;
	gpr[X86_RCX] = (uint64_t)c->regs.rcx;
	side->regs.rflags |= c->regs.rflags;
	attribute_watch(r->d, r->decoder, o);
	if (c->expect.pc == NOT_TOLD) {
		if (side->pc)
			fail_msg("%s: blamed, though it was not", c->text);
	} else if (side->pc != RIG_TEXT + (uint64_t)c->expect.pc) {
		fail_msg("%s: pc %#lx", c->text, (unsigned long)side->pc);
	} else if (side->gva != RIG_DATA + (uint64_t)c->expect.at || side->size != c->expect.size || side->rw != c->expect.rw ||
		   side->locked != c->expect.locked) {
		fail_msg("%s: gva %#lx, size %u, rw %u, locked %d", c->text, (unsigned long)side->gva, side->size, side->rw,
			 side->locked);
	}
	free(o);
	for (unsigned i = 0; i < c->len; i++)
		rig_code(r, FIRST + i, "\x90", 1);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(*state, &cases[i]);
}

/* Returns whether the write of this instruction, with these flags after it, is the last put that a held get waits for. */
static bool is_last_put(struct rig *r, const char *code, size_t len, uint64_t rflags)
{
	struct observation *o = watched(r, 0, 4, RW, (unsigned)len);
	bool is;

	rig_code(r, FIRST, code, len);
	o->sides[0].locked = true;
	o->sides[1].regs.gpr[X86_RDI] = RIG_DATA;
	o->sides[1].regs.rflags |= rflags;
	is = attribute_watch(r->d, r->decoder, o);
	if (is)
		assert_int_equal(o->sides[1].pc, RIG_TEXT);
	free(o);
	return is;
}

static void test_last_put(void **state)
{
#define LAST_PUT(code, rflags) is_last_put(*state, code, sizeof(code) - 1, rflags)
	assert_true(LAST_PUT("\xf0\xff\x0f", X86_RFLAGS_ZF)); /* lock decl (%rdi) */
	assert_false(LAST_PUT("\xf0\xff\x0f", 0));	      /* another CPU made it 0 */
	assert_false(LAST_PUT("\xf0\xff\x07", 0));	      /* lock incl (%rdi) */
	assert_true(LAST_PUT("\x89\x07", 0));		      /* mov %eax,(%rdi): a plain write is another race */
	assert_false(LAST_PUT("\x8b\x07", 0));		      /* mov (%rdi),%eax: a read trips no watchpoint on writes */
}

/* Points stand on the access itself and on an instruction before it. The sweep must see the guest's bytes. */
static void test_points_in_the_code(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_READ, 6);

	rig_plant(r, 0, READ_8);
	rig_plant(r, 3, WRITE_8);
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + 3);
	assert_int_equal(o->sides[1].rw, INSN_WRITE);
	free(o);
}

/* After call *(%rdi), which reads its target, RIP is in the callee. Only the return address names the call. */
static void test_call_through_memory(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_WRITE, SECOND);
	uint64_t ret = RIG_TEXT + 3 + 2;

	rig_code(r, FIRST + 3, "\xff\x17", 2);
	memcpy(o->sides[1].stack, &ret, sizeof(ret));
	o->sides[1].stack_len = sizeof(ret);
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + 3);
	assert_int_equal(o->sides[1].gva, RIG_DATA);
	assert_int_equal(o->sides[1].rw, INSN_READ);
	free(o);
}

/* The call's operand is relative to the stack pointer, which the call itself has moved. */
static void test_call_through_stack_slot(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_WRITE, SECOND);
	uint64_t ret = RIG_TEXT + 4, rsp = o->sides[1].regs.gpr[X86_RSP];

	rig_code(r, FIRST, "\xff\x54\x24\x10", 4); /* call *0x10(%rsp) */
	o->sides[0].gva = rsp + 8 + 0x10;
	memcpy(o->sides[1].stack, &ret, sizeof(ret));
	o->sides[1].stack_len = sizeof(ret);
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, RIG_TEXT);
	assert_int_equal(o->sides[1].gva, rsp + 8 + 0x10);
	free(o);
}

/* A value on the stack that looks like an address in the text is no return address unless a call stands before it. */
static void test_no_call(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_WRITE, SECOND);
	uint64_t ret = RIG_TEXT + 3;

	rig_code(r, FIRST, "\x48\x8b\x07", 3);
	memcpy(o->sides[1].stack, &ret, sizeof(ret));
	o->sides[1].stack_len = sizeof(ret);
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, 0);
	free(o);
}

/* Half an address is no return address, though a call stands before it. */
static void test_short_stack(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_WRITE, SECOND);
	uint64_t ret = RIG_TEXT + 3;

	rig_code(r, FIRST, "\x90\xff\x17", 3);
	memcpy(o->sides[1].stack, &ret, sizeof(ret));
	o->sides[1].stack_len = 7;
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, 0);
	o->sides[1].stack_len = 8;
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + 1);
	free(o);
}

/* The access is the last instruction of a function, so RIP is in the next function. */
static void test_last_of_function(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_READ, SECOND);

	rig_code(r, SECOND - 3, "\x48\x89\x07", 3);
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + SECOND - 3);
	free(o);
}

static void test_no_function(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_READ, SECOND + FUNCTION_SIZE + 0x80);

	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, 0);
	free(o);
}

static void test_code_not_mapped(void **state)
{
	struct rig *r = *state;
	struct observation *o = watched(r, 0, 8, INSN_READ, 3);

	fake_unmap(r->ft, r->guest.cr3, 4, RIG_TEXT);
	attribute_watch(r->d, r->decoder, o);
	assert_int_equal(o->sides[1].pc, 0);
	free(o);
}

/* A window that began at a device watches a word of eight bytes. The datum becomes what the CPU accessed of it. */
static void check_device(struct rig *r, const char *code, size_t len, int64_t rdi, uint8_t device, int pc, int64_t at,
			 uint32_t size)
{
	struct observation *o = watched(r, 0, 8, 0, 0);
	struct race_side *side = &o->sides[0];

	rig_code(r, 0, code, len);
	*side = o->sides[1];
	side->regs.rip = RIG_TEXT + len;
	side->regs.gpr[X86_RDI] = RIG_DATA + (uint64_t)rdi;
	side->gva = RIG_DATA + 0x18;
	side->size = o->data_len = 8;
	o->how = RACE_BY_DEVICE_WINDOW;
	o->gpa = o->page.gpa = RIG_DATA_GPA + 0x18;
	memcpy(o->before, "01234567", 8);
	memcpy(o->after, "abcdefgh", 8);
	o->sides[1] = (struct race_side){.kind = RACE_SIDE_DEVICE, .rw = device, .device = {.gpa = o->gpa, .len = 8}};
	attribute_device_window(r->d, r->decoder, o);
	assert_int_equal(side->pc, pc == NOT_TOLD ? 0 : RIG_TEXT + (uint64_t)pc);
	assert_int_equal(side->gva, RIG_DATA + 0x18 + (uint64_t)at);
	assert_int_equal(side->size, size);
	assert_int_equal(o->data_len, size);
	assert_int_equal(o->gpa, RIG_DATA_GPA + 0x18 + (uint64_t)at);
	assert_int_equal(o->page.gpa, o->gpa);
	assert_int_equal(o->sides[1].device.gpa, o->gpa);
	assert_int_equal(o->sides[1].device.len, size);
	assert_memory_equal(o->before, &"01234567"[at], size);
	assert_memory_equal(o->after, &"abcdefgh"[at], size);
	free(o);
}

static void test_watched_word_of_a_device(void **state)
{
	/* mov %rax,(%rdi): all of the word. */
	check_device(*state, INSN("\x48\x89\x07"), 0x18, INSN_READ, 0, 0, 8);
	/* movb $1,5(%rdi): one byte. */
	check_device(*state, INSN("\xc6\x47\x05\x01"), 0x18, INSN_READ, 0, 5, 1);
	/* mov %rax,(%rdi): it begins before the word, or ends behind it, and is cut. */
	check_device(*state, INSN("\x48\x89\x07"), 0x14, INSN_READ, 0, 0, 4);
	check_device(*state, INSN("\x48\x89\x07"), 0x1e, INSN_READ, 0, 6, 2);
	/* movzbl 0x1f(%rdi),%edi: the address is gone, and follows from the displacement. */
	check_device(*state, INSN("\x0f\xb6\x7f\x1f"), FAR, INSN_WRITE, 0, 7, 1);
	/* mov (%rdi),%rax: no conflict with a device that reads, so another access hit the watch. */
	check_device(*state, INSN("\x48\x8b\x07"), 0x18, INSN_READ, NOT_TOLD, 0, 8);
	/* mov (%rdi),%rax */
	check_device(*state, INSN("\x48\x8b\x07"), 0x18, INSN_WRITE, 0, 0, 8);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_cases),
		T(test_last_put),
		T(test_points_in_the_code),
		T(test_call_through_memory),
		T(test_call_through_stack_slot),
		T(test_no_call),
		T(test_last_of_function),
		T(test_short_stack),
		T(test_no_function),
		T(test_code_not_mapped),
		T(test_watched_word_of_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
