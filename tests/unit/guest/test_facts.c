/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the detector learns from a running Linux: which task runs, on which stack, what must not be sampled, where hooks go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/guest/linux_exclude.h"
#include "hv/guest/linux_guest.h"
#include "tests/unit/target/fake_target.h"

#define TEXT 0xffffffff81000000ull
#define TEXT_GPA 0x400000ull
#define PERCPU 0xffff888007a00000ull
#define PERCPU_GPA 0x500000ull
#define TASK 0xffff888007b00000ull
#define TASK_GPA 0x600000ull
#define COUNT_AT 0x20
#define CURRENT_AT 0x40
#define PID_AT 0x100
#define COMM_AT 0x208
#define NESTING_AT 0x310

struct facts {
	struct fake_target *ft;
	struct guest *g;
};

static int setup(void **state)
{
	struct facts *f = calloc(1, sizeof(*f));
	const uint64_t task = TASK;
	struct guest *g;

	*state = f;
	if (!f)
		return -1;
	f->ft = fake_target_new(1, 4);
	f->g = f->ft ? guest_new(&f->ft->target, NULL, NULL, NULL) : NULL;
	if (!f->g)
		return -1;
	g = f->g;
	g->cr3 = fake_page(f->ft);
	fake_map(f->ft, g->cr3, 4, TEXT, TEXT_GPA, 0x10000, 12);
	fake_map(f->ft, g->cr3, 4, PERCPU, PERCPU_GPA, X86_PAGE_SIZE, 12);
	fake_map(f->ft, g->cr3, 4, TASK, TASK_GPA, X86_PAGE_SIZE, 12);
	g->preempt_count = COUNT_AT;
	g->current_task = CURRENT_AT;
	g->pid = (struct btf_member){.offset = PID_AT, .size = 4};
	g->comm = (struct btf_member){.offset = COMM_AT, .size = 16};
	fake_write(f->ft, PERCPU_GPA + CURRENT_AT, &task, sizeof(task));
	fake_write(f->ft, TASK_GPA + PID_AT, "\x39\x30\0\0", 4);
	fake_write(f->ft, TASK_GPA + COMM_AT, "kworker/u4:2\0\0\0", 16);
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

/* ---- which context runs ---- */

static struct guest_context context(struct facts *f, uint32_t preempt_count, uint64_t rflags)
{
	const struct x86_regs regs = {.gs_base = PERCPU, .rflags = rflags};
	struct guest_context c;

	memset(&c, 0xff, sizeof(c));
	fake_write(f->ft, PERCPU_GPA + COUNT_AT, &preempt_count, sizeof(preempt_count));
	guest_context(f->g, &regs, &c);
	return c;
}

static void test_task(void **state)
{
	struct guest_context c =
		context(*state, 0x80000000, X86_RFLAGS_IF); /* the inverted need-resched bit is not part of a count */

	assert_true(c.known);
	assert_int_equal(c.pid, 12345);
	assert_string_equal(c.comm, "kworker/u4:2");
	assert_false(c.irqs_off);
	assert_false(c.preempt_off);
	assert_int_equal(c.kind, GUEST_TASK);
}

/* include/linux/preempt.h: 8 bits of preemption, 8 of softirq, 4 of hardirq, 4 of NMI. */
static void test_kinds(void **state)
{
	static const struct {
		uint32_t count;
		bool preempt_off;
		enum guest_context_kind kind;
	} cases[] = {
		{0x00000000, false, GUEST_TASK},   {0x00000001, true, GUEST_TASK},    {0x000000ff, true, GUEST_TASK},
		{0x00000200, true, GUEST_TASK}, /* softirqs are disabled, and none is being served */
		{0x00000100, true, GUEST_SOFTIRQ}, {0x00000301, true, GUEST_SOFTIRQ}, {0x00010000, true, GUEST_HARDIRQ},
		{0x00010100, true, GUEST_HARDIRQ}, {0x000f0002, true, GUEST_HARDIRQ}, {0x00100000, true, GUEST_NMI},
		{0x00110101, true, GUEST_NMI},	   {0x00080000, true, GUEST_HARDIRQ}, {0x00800000, true, GUEST_NMI},
		{0x80f00000, true, GUEST_NMI},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct guest_context c = context(*state, cases[i].count, X86_RFLAGS_IF);

		assert_int_equal(c.preempt_off, cases[i].preempt_off);
		assert_int_equal(c.preempt_count, cases[i].count & 0x7fffffff);
		assert_int_equal(c.kind, cases[i].kind);
		assert_false(c.irqs_off);
	}
	assert_true(context(*state, 0, 2).irqs_off);
}

/* include/linux/preempt.h of Linux 7.3: 8 bits of preemption, 8 of softirq, 8 of interrupts turned off, 4 of hardirq, 4 of NMI.
 */
static void test_kinds_with_irq_disable_counted(void **state)
{
	static const struct {
		uint32_t count;
		enum guest_context_kind kind;
	} cases[] = {
		{0x00000000, GUEST_TASK},    {0x00010000, GUEST_TASK},	  {0x00ff0001, GUEST_TASK}, {0x00020200, GUEST_TASK},
		{0x00010100, GUEST_SOFTIRQ}, {0x01000000, GUEST_HARDIRQ}, {0x11000000, GUEST_NMI},
	};
	struct facts *f = *state;

	f->g->irq_disable_counted = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct guest_context c = context(f, cases[i].count, X86_RFLAGS_IF);

		assert_int_equal(c.kind, cases[i].kind);
		assert_int_equal(c.preempt_off, cases[i].count != 0);
	}
}

static void test_unknown(void **state)
{
	struct facts *f = *state;
	struct x86_regs regs = {.gs_base = 0x7f0000001000};
	struct guest_context c;

	/* In the few instructions before swapgs, GS belongs to user mode and may point anywhere. */
	fake_map(f->ft, f->g->cr3, 4, regs.gs_base, PERCPU_GPA, X86_PAGE_SIZE, 12);
	guest_context(f->g, &regs, &c);
	assert_false(c.known);
	assert_true(c.irqs_off); /* RFLAGS is enough to know this */
	assert_int_equal(c.pid, -1);
	assert_string_equal(c.comm, "");

	regs.gs_base = PERCPU + 0x8000; /* not mapped */
	guest_context(f->g, &regs, &c);
	assert_false(c.known);

	f->g->preempt_count = UINT64_MAX;
	assert_false(context(f, 0, 0).known);
}

static void nest(struct facts *f, int32_t nesting)
{
	fake_write(f->ft, TASK_GPA + NESTING_AT, &nesting, sizeof(nesting));
}

static void test_rcu_nesting(void **state)
{
	struct facts *f = *state;
	struct guest_context c;

	nest(f, 2);
	assert_false(context(f, 0, 0).rcu_known); /* a kernel without the count */

	f->g->rcu_nesting = (struct btf_member){.offset = NESTING_AT, .size = 4};
	c = context(f, 0, 0);
	assert_true(c.rcu_known);
	assert_int_equal(c.rcu_nesting, 2);
	nest(f, 0);
	c = context(f, 0x10000, 0);
	assert_true(c.rcu_known);
	assert_int_equal(c.rcu_nesting, 0);
	nest(f, INT32_MIN);
	assert_false(context(f, 0, 0).rcu_known);

	f->g->comm.size = 0; /* the nesting count can be read without the task's name and number */
	nest(f, 1);
	assert_int_equal(context(f, 0, 0).rcu_nesting, 1);
	f->g->rcu_nesting.offset = X86_PAGE_SIZE; /* not mapped */
	assert_false(context(f, 0, 0).rcu_known);
}

static void test_no_task_layout(void **state)
{
	struct facts *f = *state;
	struct guest_context c;

	f->g->comm.size = 0;
	c = context(f, 0x10000, 0);
	assert_true(c.known);
	assert_int_equal(c.kind, GUEST_HARDIRQ);
	assert_int_equal(c.pid, -1);
	assert_string_equal(c.comm, "");
}

/* The guest chooses the address and the name of its task. */
static void test_hostile_task(void **state)
{
	struct facts *f = *state;
	const uint64_t places[] = {0, 1, TASK + 0x100000, ~0ull, 0x0000800000000000ull, TASK + X86_PAGE_SIZE - 0x100};
	struct guest_context c;

	fake_write(f->ft, TASK_GPA + COMM_AT, "sixteen letters!", 16);
	c = context(f, 0, 0);
	assert_string_equal(c.comm, "sixteen letters");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		fake_write(f->ft, PERCPU_GPA + CURRENT_AT, &places[i], 8);
		c = context(f, 0, 0);
		assert_true(c.known);
		assert_int_equal(c.pid, -1);
		assert_string_equal(c.comm, "");
	}
}

/* ---- stacks ---- */

static void test_stack(void **state)
{
	const uint64_t base = 0xffffc90000120000ull;
	struct x86_regs regs = {0};

	(void)state;
	regs.gpr[X86_RSP] = base + 0x1000;
	assert_int_equal(guest_stack_end(&regs), base + 0x4000);
	assert_true(guest_on_stack(&regs, base));
	assert_true(guest_on_stack(&regs, base + 0x1000));
	assert_true(guest_on_stack(&regs, base + 0x3fff));
	assert_false(guest_on_stack(&regs, base + 0x4000));
	assert_false(guest_on_stack(&regs, base - 1));
	assert_false(guest_on_stack(&regs, 0));
	/* An interrupt stack is aligned to a page only, so it may continue past a boundary of the larger alignment. */
	regs.gpr[X86_RSP] = base + 0x3ff0;
	assert_true(guest_on_stack(&regs, base + 0x4010));
	assert_false(guest_on_stack(&regs, base + 0x3ff0 + 0x1000));
}

/* ---- what not to sample ---- */

static void load_symbols(struct facts *f, const struct symbol *symbols, size_t n)
{
	f->g->symtab = symtab_from_array(symbols, n, NULL);
	assert_non_null(f->g->symtab);
}

static void test_taint(void **state)
{
	static const struct symbol symbols[] = {{.name = "tainted_mask", .addr = TEXT + 0x100, .size = 8, .type = 'b'}};
	static const struct symbol unmapped[] = {{.name = "tainted_mask", .addr = TEXT + 0x100000, .size = 8, .type = 'b'}};
	const uint64_t flags = 0x3001;
	struct facts *f = *state;
	struct guest_taint taint;

	guest_taint(f->g, &taint);
	assert_false(taint.known);
	load_symbols(f, unmapped, 1);
	guest_taint(f->g, &taint);
	assert_false(taint.known);
	symtab_free(f->g->symtab);
	load_symbols(f, symbols, 1);
	fake_write(f->ft, TEXT_GPA + 0x100, &flags, sizeof(flags));
	guest_taint(f->g, &taint);
	assert_true(taint.known);
	assert_int_equal(taint.flags, flags);
}

static bool may_sample(struct facts *f, const char *name, uint64_t addr)
{
	const struct symbol fn = {.name = name, .addr = addr, .size = 0x10, .type = 't'};

	return guest_may_sample(f->g, &fn);
}

static void test_excluded_names(void **state)
{
	static const char *const never[] = {
		"_raw_spin_lock",
		"queued_spin_lock_slowpath",
		"mutex_lock",
		"__mutex_lock_slowpath",
		"down_read",
		"up_write",
		"rcu_read_unlock_strict",
		"asm_exc_page_fault",
		"exc_int3",
		"poke_int3_handler",
		"text_poke_bp",
		"pvclock_clocksource_read",
		"kvm_steal_clock",
		"kprobe_ftrace_handler",
		"native_load_gdt",
		"ftrace_caller",
		"__switch_to",
		"complete",
		"nmi_handle",
		"startup_64",
		"smp_call_function_many_cond",
	};
	static const char *const may[] = {
		"tcp_sendmsg",		 "do_exit",  "up_set",		 "downsize", "completely",
		"ext4_mark_inode_dirty", "vfs_read", "schedule_timeout",
	};
	struct facts *f = *state;

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++) {
		if (may_sample(f, never[i], TEXT))
			fail_msg("%s must not be sampled", never[i]);
	}
	for (size_t i = 0; i < sizeof(may) / sizeof(*may); i++) {
		if (!may_sample(f, may[i], TEXT))
			fail_msg("%s may be sampled", may[i]);
	}
}

static void test_names_that_serve_all(void **state)
{
	static const char *const all[] = {"kmalloc_trace",
					  "__kmalloc_node",
					  "kfree",
					  "memcpy",
					  "_printk",
					  "schedule_timeout",
					  "__stack_chk_fail",
					  "refcount_warn_saturate",
					  "strcmp",
					  "__x86_return_thunk"};
	static const char *const some[] = {"idr_replace",    "radix_tree_tag_set", "rb_erase",
					   "skb_queue_tail", "mempool_alloc",	   "stripe_write",
					   "mod_timer",	     "kobject_put",	   "__list_add_valid"};
	struct facts *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!guest_serves_all(f->g, all[i]))
			fail_msg("%s serves the whole kernel", all[i]);
	}
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		if (guest_serves_all(f->g, some[i]))
			fail_msg("%s is a callee of its callers", some[i]);
	}
}

static void test_excluded_ranges(void **state)
{
	static const struct symbol symbols[] = {
		{.name = "_stext", .addr = TEXT, .type = 'T'},
		{.name = "__noinstr_text_start", .addr = TEXT + 0x1000, .type = 'T'},
		{.name = "__noinstr_text_end", .addr = TEXT + 0x2000, .type = 'T'},
		{.name = "__entry_text_start", .addr = TEXT + 0x3000, .type = 'T'},
		{.name = "__entry_text_end", .addr = TEXT + 0x3000, .type = 'T'}, /* empty */
		{.name = "_sinittext", .addr = TEXT + 0x5000, .type = 'T'},	  /* has no end */
	};
	struct facts *f = *state;

	load_symbols(f, symbols, sizeof(symbols) / sizeof(*symbols));
	linux_find_excluded(f->g);
	assert_true(may_sample(f, "fine", TEXT + 0xfff));
	assert_false(may_sample(f, "fine", TEXT + 0x1000));
	assert_false(may_sample(f, "fine", TEXT + 0x1fff));
	assert_true(may_sample(f, "fine", TEXT + 0x2000));
	assert_true(may_sample(f, "fine", TEXT + 0x3000));
	assert_true(may_sample(f, "fine", TEXT + 0x5000));
}

/* ---- events ---- */

/* Offsets of the text of the functions below. */
#define FREE 0x1000
#define INSTALL 0x2000
#define UNINSTALL 0x3000
#define THUNK 0x4000
#define PLAIN 0x5000

static const struct symbol event_symbols[] = {
	{.name = "free_module", .addr = TEXT + FREE, .size = 0x40, .type = 't'},
	{.name = "arch_install_hw_breakpoint", .addr = TEXT + INSTALL, .size = 0x40, .type = 'T'},
	{.name = "arch_uninstall_hw_breakpoint", .addr = TEXT + UNINSTALL, .size = 0x40, .type = 'T'},
	{.name = "srso_return_thunk", .addr = TEXT + THUNK, .size = 0x40, .type = 'T'},
	{.name = "plain_function", .addr = TEXT + PLAIN, .size = 0x40, .type = 'T'},
};

static void put(struct facts *f, uint64_t at, const char *code, size_t len)
{
	char padded[0x40];

	memset(padded, 0x90, sizeof(padded));
	memcpy(padded, code, len);
	fake_write(f->ft, TEXT_GPA + at, padded, sizeof(padded));
}

#define PUT(f, at, code) put(f, at, code, sizeof(code) - 1)

static void expect_site(const struct guest_hook_site *site, enum guest_hook_kind kind, uint64_t at, unsigned len)
{
	assert_int_equal(site->kind, kind);
	assert_int_equal(site->insn.addr, TEXT + at);
	assert_int_equal(site->insn.len, len);
}

static void test_hook_sites(void **state)
{
	struct facts *f = *state;
	struct guest_hook_site *out;

	load_symbols(f, event_symbols, sizeof(event_symbols) / sizeof(*event_symbols));
	/* nopl 0(%rax,%rax,1); mov %rdi,%rax; push %r13; push %rbp */
	PUT(f, FREE, "\x0f\x1f\x44\x00\x00\x48\x89\xf8\x41\x55\x55");
	/* jmp to the thunk; jmp elsewhere; ret; jmp into the middle of the thunk */
	PUT(f, INSTALL, "\xe9\xfb\x1f\x00\x00\xe9\xf6\x2f\x00\x00\xc3\xe9\xf1\x1f\x00\x00");
	PUT(f, UNINSTALL, "\x55\x5d\xc3\xcc");
	assert_int_equal(guest_hook_sites(f->g, &out), 4);
	expect_site(&out[0], GUEST_HOOK_MODULE_GOING, FREE + 8, 2);
	expect_site(&out[1], GUEST_HOOK_DEBUG_REGS, INSTALL, 5);
	expect_site(&out[2], GUEST_HOOK_DEBUG_REGS, INSTALL + 10, 1);
	expect_site(&out[3], GUEST_HOOK_DEBUG_REGS, UNINSTALL + 2, 1);
	free(out);
}

static void test_many_hook_sites(void **state)
{
	struct facts *f = *state;
	struct guest_hook_site *out;
	char returns[0x40];

	memset(returns, 0xc3, sizeof(returns));
	load_symbols(f, event_symbols, sizeof(event_symbols) / sizeof(*event_symbols));
	put(f, INSTALL, returns, sizeof(returns));
	put(f, UNINSTALL, returns, sizeof(returns));
	put(f, FREE, "\x55", 1);
	assert_int_equal(guest_hook_sites(f->g, &out), 1 + 2 * sizeof(returns));
	expect_site(&out[0], GUEST_HOOK_MODULE_GOING, FREE, 1);
	for (unsigned i = 0; i < sizeof(returns); i++) {
		expect_site(&out[1 + i], GUEST_HOOK_DEBUG_REGS, INSTALL + i, 1);
		expect_site(&out[1 + sizeof(returns) + i], GUEST_HOOK_DEBUG_REGS, UNINSTALL + i, 1);
	}
	free(out);
}

/* After a branch, some paths through the function do not execute the push. */
static void test_hook_not_at_entry(void **state)
{
	struct facts *f = *state;
	struct guest_hook_site *out;

	load_symbols(f, event_symbols, 1);
	PUT(f, FREE, "\x48\x85\xff\x74\x01\x55");
	assert_int_equal(guest_hook_sites(f->g, &out), 0);
	assert_null(out);
}

/* The text of the one function is not mapped, and the other functions have no symbols. */
static void test_hook_not_mapped(void **state)
{
	struct facts *f = *state;
	struct guest_hook_site *out;

	load_symbols(f, event_symbols, 1);
	PUT(f, FREE, "\x55");
	fake_unmap(f->ft, f->g->cr3, 4, TEXT + FREE);
	assert_int_equal(guest_hook_sites(f->g, &out), 0);
	assert_null(out);
}

static void test_no_modules(void **state)
{
	struct facts *f = *state;
	const struct x86_regs regs = {0};
	uint64_t base, size;

	assert_false(guest_module_going(f->g, &regs, &base, &size));
	assert_int_equal(guest_text_state(f->g, TEXT), GUEST_TEXT_FINAL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_taint),
		T(test_task),
		T(test_kinds),
		T(test_kinds_with_irq_disable_counted),
		T(test_unknown),
		T(test_rcu_nesting),
		T(test_no_task_layout),
		T(test_hostile_task),
		T(test_stack),
		T(test_excluded_names),
		T(test_names_that_serve_all),
		T(test_excluded_ranges),
		T(test_hook_sites),
		T(test_many_hook_sites),
		T(test_hook_not_at_entry),
		T(test_hook_not_mapped),
		T(test_no_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
