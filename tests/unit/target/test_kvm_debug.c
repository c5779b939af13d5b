/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which debug registers the KVM target loads, and which debug exits it delivers to the client or back to the guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hv/target/kvm/stops.h"
#include "tests/unit/target/fake_kvm.h"

#define DATA 0xffff888000100000ull
#define GATE 0xffffffff81a01234ull
#define STACK 0xffffc90000000000ull
#define IDT 0xfffffe0000000000ull
#define BP 3
#define DB 1
#define STEP (1u << 14)
#define TRAPPING (KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP)

static int setup(void **state)
{
	*state = fake_kvm_new(2, KVM_BP_INTERCEPT);
	return *state ? 0 : -1;
}

/* Make a machine with a #BP handler in its IDT, and map the stack of CPU 0. */
static int setup_gate(void **state)
{
	const uint16_t gate[8] = {(uint16_t)GATE,	 0x10, 0x8e00, (uint16_t)(GATE >> 16), (uint16_t)(GATE >> 32),
				  (uint16_t)(GATE >> 48)};
	struct vm *vm = fake_kvm_new(1, KVM_BP_IDT_GATE);

	*state = vm;
	if (!vm)
		return -1;
	fake_map(vm->memory, vm->cr3, 4, IDT, 0x600000, X86_PAGE_SIZE, 12);
	fake_map(vm->memory, vm->cr3, 4, STACK, 0x700000, X86_PAGE_SIZE, 12);
	fake_write(vm->memory, 0x600000 + 3 * sizeof(gate), gate, sizeof(gate));
	vm->cpu[0].sregs.cr3 = vm->cr3;
	vm->cpu[0].sregs.idt.base = IDT;
	return 0;
}

static int teardown(void **state)
{
	fake_kvm_free(*state);
	return 0;
}

static void intercept(struct vm *vm)
{
	assert_int_equal(target_intercept(vm->target, true, NULL), 0);
	for (unsigned i = 0; i < vm->cpus; i++)
		fake_enter(vm, i);
}

static struct target_watch watch_at(uint64_t gva, uint8_t len, bool read, uint32_t cookie)
{
	return (struct target_watch){.gva = gva, .len = len, .read = read, .owner = 0, .cookie = cookie};
}

static void test_nothing_to_load(void **state)
{
	struct vm *vm = *state;

	fake_enter(vm, 0);
	assert_int_equal(vm->cpu[0].debug_sets, 0);
	fake_kick_exit(vm, 0);
	intercept(vm);
	assert_int_equal(fake_control(vm, 0), TRAPPING);
	assert_int_equal(vm->cpu[0].debug_sets, 1);
	fake_enter(vm, 0);
	assert_int_equal(vm->cpu[0].debug_sets, 1);
	assert_true(vm->cpu[1].vcpu.run->kvm_valid_regs & KVM_SYNC_X86_REGS);
}

/* SDM vol. 3, figure 18-1: bits 1, 3, 5 and 7 enable a register. Its type and length are in four bits each, from bit 16 on. */
static void test_dr7(void **state)
{
	static const struct {
		uint8_t len;
		bool read;
		unsigned bits;
	} cases[] = {{1, false, 0x1}, {2, false, 0x5}, {4, false, 0xd}, {8, false, 0x9},
		     {1, true, 0x3},  {2, true, 0x7},  {4, true, 0xf},	{8, true, 0xb}};
	struct vm *vm = *state;

	intercept(vm);
	for (unsigned i = 0; i < 8; i++) {
		struct target_watch w = watch_at(DATA + 8 * i, cases[i].len, cases[i].read, 1);
		unsigned slot = i % 4;

		target_watch_set(vm->target, slot, &w);
		fake_enter(vm, 1);
		assert_int_equal(fake_control(vm, 1), TRAPPING | KVM_GUESTDBG_USE_HW_BP);
		assert_int_equal(vm->cpu[1].debug.arch.debugreg[slot], w.gva);
		assert_int_equal(vm->cpu[1].debug.arch.debugreg[7] & ~0x300ull,
				 2ull << (2 * slot) | (uint64_t)cases[i].bits << (16 + 4 * slot));
		target_watch_clear(vm->target, slot);
		fake_enter(vm, 1);
		assert_int_equal(fake_control(vm, 1), TRAPPING);
	}
}

/* The watch applies to its owner, the CPU with the sampled access, only while that CPU is held. */
static void test_owner(void **state)
{
	struct vm *vm = *state;
	struct target_watch w = watch_at(DATA, 8, true, 7);

	intercept(vm);
	target_watch_set(vm->target, 0, &w);
	fake_enter(vm, 0);
	assert_int_equal(fake_control(vm, 0), TRAPPING);
	vm->answer = (struct target_action){.kind = TARGET_HOLD, .hold_ns = 1000000000000};
	fake_debug_exit(vm, 0, BP, 0);
	fake_enter(vm, 0);
	assert_int_equal(fake_control(vm, 0), TRAPPING | KVM_GUESTDBG_USE_HW_BP);
	target_release(vm->target, 0);
	fake_enter(vm, 0);
	assert_int_equal(fake_control(vm, 0), TRAPPING);
}

static void test_watch_hit(void **state)
{
	struct vm *vm = *state;
	struct target_watch w[2] = {watch_at(DATA, 8, true, 70), watch_at(DATA + 8, 4, false, 71)};
	struct target_stats stats;

	intercept(vm);
	target_watch_set(vm->target, 0, &w[0]);
	target_watch_set(vm->target, 2, &w[1]);
	fake_enter(vm, 1);
	fake_regs(vm, 1)->rip = 0x1234;
	fake_regs(vm, 1)->r15 = 0x15;
	fake_debug_exit(vm, 1, DB, 1);
	assert_int_equal(vm->watches, 1);
	assert_int_equal(vm->cookie_count, 1);
	assert_int_equal(vm->cookies[0], 70);
	assert_int_equal(vm->last_cpu, 1);
	assert_int_equal(vm->last_regs.rip, 0x1234);
	assert_int_equal(vm->last_regs.gpr[X86_R15], 0x15);
	assert_int_equal(vm->last_regs.cr3, vm->cr3);
	fake_debug_exit(vm, 1, DB, 5);
	assert_int_equal(vm->cookie_count, 2);
	assert_int_equal(vm->cookies[1], 71);
	/* DR6 may also have bits of registers that are not enabled (SDM vol. 3, 18.2.3). */
	fake_debug_exit(vm, 1, DB, 2 | 8);
	assert_int_equal(vm->watches, 2);

	vm->answer.kind = TARGET_NOT_MINE;
	fake_debug_exit(vm, 1, DB, 1);
	target_stats(vm->target, &stats);
	assert_int_equal(stats.stale_exits, 1);
	assert_int_equal(stats.reinjected, 0);
}

/* A slot gets a new watch in place of an old one. Until this CPU loads the new watch, it trips the old one. */
static void test_lazy_cookie(void **state)
{
	struct vm *vm = *state;
	struct target_watch old = watch_at(DATA, 8, true, 1), new = watch_at(DATA + 64, 8, true, 2);

	intercept(vm);
	target_watch_set(vm->target, 0, &old);
	fake_enter(vm, 1);
	target_watch_clear(vm->target, 0);
	target_watch_set(vm->target, 0, &new);
	fake_debug_exit(vm, 1, DB, 1);
	assert_int_equal(vm->cookies[0], 1);
	fake_enter(vm, 1);
	fake_debug_exit(vm, 1, DB, 1);
	assert_int_equal(vm->cookies[0], 2);
}

/* Reading and writing registers keeps their numbers (SDM vol. 2, table 2-2). */
static void test_registers(void **state)
{
	const struct kvm_regs before = {.rax = 0,
					.rcx = 1,
					.rdx = 2,
					.rbx = 3,
					.rsp = 4,
					.rbp = 5,
					.rsi = 6,
					.rdi = 7,
					.r8 = 8,
					.r9 = 9,
					.r10 = 10,
					.r11 = 11,
					.r12 = 12,
					.r13 = 13,
					.r14 = 14,
					.r15 = 15,
					.rip = 0x77,
					.rflags = 0x246};
	struct vm *vm = *state;
	struct kvm_regs *regs = fake_regs(vm, 0);

	intercept(vm);
	*regs = before;
	vm->answer.kind = TARGET_RESUME;
	fake_debug_exit(vm, 0, BP, 0);
	assert_false(vm->cpu[0].vcpu.run->kvm_dirty_regs & KVM_SYNC_X86_REGS);
	for (unsigned i = 0; i < X86_GPRS; i++)
		assert_int_equal(vm->last_regs.gpr[i], i);
	assert_int_equal(vm->last_regs.rip, 0x77);
	assert_int_equal(vm->last_regs.rflags, 0x246);

	vm->answer.kind = TARGET_RESUME_REGS;
	fake_debug_exit(vm, 0, BP, 0);
	assert_true(vm->cpu[0].vcpu.run->kvm_dirty_regs & KVM_SYNC_X86_REGS);
	assert_int_equal(regs->rax, 0x1000);
	assert_int_equal(regs->rbx, 0x1003);
	assert_int_equal(regs->r13, 0x100d);
	assert_int_equal(regs->rip, 0x77);
	vm->answer.kind = TARGET_RESUME;
	fake_debug_exit(vm, 0, BP, 0);
	for (unsigned i = 0; i < X86_GPRS; i++)
		assert_int_equal(vm->last_regs.gpr[i], 0x1000 + i);
}

/* ---- the guest's own breakpoints ---- */

static void test_int3(void **state)
{
	struct vm *vm = *state;
	struct target_stats stats;

	intercept(vm);
	vm->answer.kind = TARGET_RESUME;
	fake_debug_exit(vm, 0, BP, 0);
	fake_enter(vm, 0);
	assert_int_equal(vm->breakpoints, 1);
	assert_int_equal(fake_control(vm, 0), TRAPPING);

	vm->answer.kind = TARGET_NOT_MINE;
	fake_debug_exit(vm, 0, BP, 0);
	assert_int_equal(fake_control(vm, 0), TRAPPING | KVM_GUESTDBG_INJECT_BP);
	fake_enter(vm, 0);
	assert_int_equal(fake_control(vm, 0), TRAPPING); /* once */

	/* The client has no breakpoints in user space, so the target does not call it. */
	vm->answer.kind = TARGET_RESUME;
	vm->cpu[0].vcpu.run->s.regs.sregs.cs.selector = 0x33;
	fake_debug_exit(vm, 0, BP, 0);
	assert_int_equal(vm->breakpoints, 2);
	assert_int_equal(fake_control(vm, 0), TRAPPING | KVM_GUESTDBG_INJECT_BP);
	target_stats(vm->target, &stats);
	assert_int_equal(stats.reinjected, 2);
}

/* The statistics count the time from a debug exit to the next entry, in which the CPU does not run. Other exits add nothing. */
static void test_time_stopped(void **state)
{
	const struct timespec pause = {.tv_nsec = 3000000};
	struct vm *vm = *state;
	struct target_stats stats, later;

	intercept(vm);
	target_stats(vm->target, &stats);
	assert_int_equal(stats.stopped_ns, 0);
	vm->answer.kind = TARGET_RESUME;
	fake_debug_exit(vm, 0, BP, 0);
	nanosleep(&pause, NULL);
	fake_enter(vm, 0);
	target_stats(vm->target, &stats);
	assert_true(stats.stopped_ns >= 3000000);
	nanosleep(&pause, NULL);
	fake_enter(vm, 0);
	target_stats(vm->target, &later);
	assert_int_equal(later.stopped_ns, stats.stopped_ns);
}

/* A held CPU enters the guest to take interrupts, but makes no progress. That time is lost; the time between holds is not. */
static void test_time_lost(void **state)
{
	const struct timespec pause = {.tv_nsec = 3000000};
	struct vm *vm = *state;
	struct target_stats held, after, later;

	intercept(vm);
	vm->answer = (struct target_action){.kind = TARGET_HOLD, .hold_ns = UINT64_C(60000000000)};
	fake_debug_exit(vm, 0, BP, 0);
	fake_enter(vm, 0);
	nanosleep(&pause, NULL);
	target_stats(vm->target, &held);
	assert_true(held.lost_ns >= 3000000);
	assert_true(held.stopped_ns < held.lost_ns);
	vm->answer.kind = TARGET_RESUME;
	target_release(vm->target, 0);
	fake_enter(vm, 0);
	target_stats(vm->target, &after);
	assert_true(after.lost_ns >= held.lost_ns);
	nanosleep(&pause, NULL);
	fake_enter(vm, 0);
	target_stats(vm->target, &later);
	assert_int_equal(later.lost_ns, after.lost_ns);

	/* The time that a vCPU stands outside the guest after the machine has ended does not count as lost. */
	fake_debug_exit(vm, 0, BP, 0);
	kvm_target_over(vm->target);
	target_stats(vm->target, &after);
	nanosleep(&pause, NULL);
	target_stats(vm->target, &later);
	assert_int_equal(later.lost_ns, after.lost_ns);
}

/*
 * KVM accepts no second exception. A pending fault belongs to the next instruction, which will fault again, but a lost debug
 * trap of the last instruction would not come again. The guest executes an INT3 again by itself.
 */
static void test_while_another_exception_is_pending(void **state)
{
	const struct kvm_vcpu_events fault = {
		.exception = {.injected = 1, .nr = 14, .has_error_code = 1, .error_code = 2},
		.interrupt = {.shadow = 1},
		.nmi = {.masked = 1},
	};
	struct vm *vm = *state;

	intercept(vm);
	vm->cpu[0].events = fault;
	fake_debug_exit(vm, 0, DB, STEP);
	assert_int_equal(fake_control(vm, 0), TRAPPING | KVM_GUESTDBG_INJECT_DB);
	assert_int_equal(vm->cpu[0].events.exception.injected, 0);
	assert_int_equal(vm->cpu[0].events.interrupt.shadow, 1); /* and nothing else is changed */
	assert_int_equal(vm->cpu[0].events.nmi.masked, 1);
	fake_enter(vm, 0);

	vm->cpu[0].events = fault;
	vm->answer.kind = TARGET_NOT_MINE;
	fake_debug_exit(vm, 0, BP, 0);
	assert_int_equal(vm->cpu[0].events.exception.injected, 1);

	/* One #DB with the causes of both in DR6 is enough. */
	vm->cpu[0].events.exception.nr = DB;
	fake_debug_exit(vm, 0, DB, STEP);
	assert_int_equal(vm->cpu[0].events.exception.injected, 1);
	assert_int_equal(vm->cpu[0].debugregs.dr6 & STEP, STEP);
}

static void guest_sets(struct vm *vm, unsigned cpu, unsigned reg, uint64_t gva, uint64_t dr7)
{
	vm->cpu[cpu].debugregs.db[reg] = gva;
	vm->cpu[cpu].debugregs.dr7 = dr7;
	target_debug_regs_changed(vm->target, cpu);
}

/*
 * The target loads the guest's breakpoint beside a watch, into a free register and with its own type. It delivers a hit to the
 * guest with the register number that the guest chose.
 */
static void test_guest_watch(void **state)
{
	struct vm *vm = *state;
	struct target_watch w = watch_at(DATA, 8, true, 7);

	intercept(vm);
	target_watch_set(vm->target, 0, &w);
	guest_sets(vm, 1, 0, 0x601000, 0x1 | 0xdull << 16); /* local enable, 4 bytes, write */
	fake_enter(vm, 1);
	assert_int_equal(vm->cpu[1].debug.arch.debugreg[0], DATA);
	assert_int_equal(vm->cpu[1].debug.arch.debugreg[1], 0x601000);
	assert_int_equal(vm->cpu[1].debug.arch.debugreg[7] & ~0x300ull, 0x2 | 0xbull << 16 | 0x8 | 0xdull << 20);

	fake_debug_exit(vm, 1, DB, 2);
	assert_int_equal(vm->watches, 0);
	assert_int_equal(fake_control(vm, 1) & KVM_GUESTDBG_INJECT_DB, KVM_GUESTDBG_INJECT_DB);
	assert_int_equal(vm->cpu[1].debugregs.dr6, 0xffff0ff0 | 1);
	fake_enter(vm, 1);
	assert_int_equal(fake_control(vm, 1) & KVM_GUESTDBG_INJECT_DB, 0);

	/* One access trips both. The client gets its watch, and the guest its breakpoint. */
	fake_debug_exit(vm, 1, DB, 3);
	assert_int_equal(vm->watches, 1);
	assert_int_equal(vm->cookies[0], 7);
	assert_int_equal(vm->cpu[1].debugregs.dr6, 0xffff0ff0 | 1);
	assert_int_equal(fake_control(vm, 1) & KVM_GUESTDBG_INJECT_DB, KVM_GUESTDBG_INJECT_DB);
}

/* In #DB and NMI handlers Linux disables its breakpoints for a while. The target does not deliver a hit in that time. */
static void test_guest_watch_off_now(void **state)
{
	struct vm *vm = *state;
	struct target_watch w = watch_at(DATA, 8, true, 7);

	intercept(vm);
	target_watch_set(vm->target, 0, &w);
	guest_sets(vm, 1, 0, 0x601000, 0x1 | 0xdull << 16);
	fake_enter(vm, 1);
	vm->cpu[1].debugregs.dr7 = 0x400;
	fake_debug_exit(vm, 1, DB, 2);
	assert_int_equal(fake_control(vm, 1) & KVM_GUESTDBG_INJECT_DB, 0);
}

/* While the target uses no debug registers, KVM loads the guest's breakpoints by itself. */
static void test_guest_watch_alone(void **state)
{
	struct vm *vm = *state;

	intercept(vm);
	guest_sets(vm, 1, 2, 0x601000, 0x10 | 0xdull << 24);
	fake_enter(vm, 1);
	assert_int_equal(fake_control(vm, 1), TRAPPING);
}

static void test_no_register_left(void **state)
{
	struct vm *vm = *state;

	intercept(vm);
	for (unsigned i = 0; i < 4; i++) {
		struct target_watch w = watch_at(DATA + 8 * i, 8, true, i);

		target_watch_set(vm->target, i, &w);
	}
	guest_sets(vm, 1, 0, 0x601000, 0x1 | 0xdull << 16);
	fake_enter(vm, 1);
	/* The guest's breakpoint comes first and takes the place of a watch. */
	assert_int_equal(vm->cpu[1].debug.arch.debugreg[0], 0x601000);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(vm->cpu[1].debug.arch.debugreg[i], DATA + 8 * i);
	fake_debug_exit(vm, 1, DB, 0xf);
	assert_int_equal(vm->cookie_count, 3);
	assert_int_equal(fake_control(vm, 1) & KVM_GUESTDBG_INJECT_DB, KVM_GUESTDBG_INJECT_DB);
}

static void test_guest_steps(void **state)
{
	struct vm *vm = *state;

	intercept(vm);
	fake_debug_exit(vm, 0, DB, STEP);
	assert_int_equal(fake_control(vm, 0), TRAPPING | KVM_GUESTDBG_INJECT_DB);
	assert_int_equal(vm->cpu[0].debugregs.dr6, 0xffff0ff0 | STEP);
	assert_int_equal(vm->watches + vm->breakpoints, 0);
}

/* ---- breakpoints with KVM_BP_IDT_GATE ---- */

struct frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

static struct vm *stop_at_gate(void **state, uint64_t cs)
{
	const struct frame frame = {.rip = 0xffffffff81123457, .cs = cs, .rflags = 0x10246, .rsp = STACK + 0x808, .ss = 0x18};
	struct vm *vm = *state;

	fake_write(vm->memory, 0x700000 + 0x7d0, &frame, sizeof(frame));
	fake_regs(vm, 0)->rip = GATE;
	fake_regs(vm, 0)->rsp = STACK + 0x7d0;
	fake_regs(vm, 0)->rflags = 0x46;
	fake_regs(vm, 0)->rbx = 0xb;
	fake_debug_exit(vm, 0, DB, 8);
	return vm;
}

static void *answer_peek(void *arg)
{
	struct vm *vm = arg;

	for (;;) {
		fake_enter(vm, 0);
		fake_kick_exit(vm, 0);
		if (atomic_load(&vm->memory->busy[0]))
			return NULL;
	}
}

/* The target stops CPU 0 for a moment to read the gate, so CPU 0 has to run. */
static void intercept_gate(struct vm *vm)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, answer_peek, vm), 0);
	assert_int_equal(target_intercept(vm->target, true, NULL), 0);
	atomic_store(&vm->memory->busy[0], true);
	pthread_join(thread, NULL);
	fake_enter(vm, 0);
	assert_int_equal(vm->target->caps.watches, 3);
	assert_int_equal(fake_control(vm, 0), KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP);
	assert_int_equal(vm->cpu[0].debug.arch.debugreg[3], GATE);
	assert_int_equal(vm->cpu[0].debug.arch.debugreg[7] & ~0x300ull, 0x80); /* execute, one byte */
}

static void test_gate_ours(void **state)
{
	struct vm *vm = *state;
	struct kvm_regs *regs = fake_regs(vm, 0);

	intercept_gate(vm);
	vm->answer.kind = TARGET_RESUME;
	stop_at_gate(state, 0x10);
	assert_int_equal(vm->last_regs.rip, 0xffffffff81123456);
	assert_int_equal(vm->last_regs.gpr[X86_RSP], STACK + 0x808);
	assert_int_equal(vm->last_regs.rflags, 0x246);
	assert_int_equal(vm->last_regs.gpr[X86_RBX], 0xb);
	/* The callback gets the registers from before the exception. */
	assert_true(vm->cpu[0].vcpu.run->kvm_dirty_regs & KVM_SYNC_X86_REGS);
	assert_int_equal(regs->rip, 0xffffffff81123456);
	assert_int_equal(regs->rsp, STACK + 0x808);
	assert_int_equal(regs->rflags, 0x246);
	assert_int_equal(regs->rbx, 0xb);
}

static void expect_guests_own(struct vm *vm)
{
	struct target_stats stats;

	assert_int_equal(fake_regs(vm, 0)->rip, GATE);
	assert_int_equal(fake_regs(vm, 0)->rflags, 0x46 | X86_RFLAGS_RF); /* RF: the CPU must not stop here again */
	assert_true(vm->cpu[0].vcpu.run->kvm_dirty_regs & KVM_SYNC_X86_REGS);
	target_stats(vm->target, &stats);
	assert_int_equal(stats.reinjected, 1);
}

static void test_gate_guests_own(void **state)
{
	struct vm *vm = *state;

	intercept_gate(vm);
	vm->answer.kind = TARGET_NOT_MINE;
	stop_at_gate(state, 0x10);
	assert_int_equal(vm->breakpoints, 1);
	expect_guests_own(vm);
}

static void test_gate_user(void **state)
{
	struct vm *vm = *state;

	intercept_gate(vm);
	vm->answer.kind = TARGET_RESUME;
	stop_at_gate(state, 0x33);
	assert_int_equal(vm->breakpoints, 0);
	expect_guests_own(vm);
}

static void test_gate_no_stack(void **state)
{
	struct vm *vm = *state;

	intercept_gate(vm);
	vm->answer.kind = TARGET_RESUME;
	fake_unmap(vm->memory, vm->cr3, 4, STACK);
	stop_at_gate(state, 0x10);
	assert_int_equal(vm->breakpoints, 0);
	expect_guests_own(vm);
}

/* A second in which stops took 60 % of the time is told, and one in which they took 40 % is not. */
static void test_share_of_stops(void **state)
{
	struct kvm_stops s = {0};
	unsigned told = 0;

	(void)state;
	for (uint64_t ms = 1; ms <= 3000; ms++)
		told += kvm_stops_add(&s, ms * 1000000, ms * 1000000 + 600000);
	assert_in_range(told, 2, 3);
	s = (struct kvm_stops){0};
	for (uint64_t ms = 1; ms <= 3000; ms++)
		assert_false(kvm_stops_add(&s, ms * 1000000, ms * 1000000 + 400000));
}

/* Many stops, each too short to be told, that take nearly all of the CPU's time: the guest's watchdog is told. */
static void test_stops_are_told(void **state)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	struct vm *vm = *state;

	assert_int_equal(target_intercept(vm->target, true, NULL), 0);
	vm->answer = (struct target_action){.kind = TARGET_RESUME};
	/* 51 stops of 20 ms are enough. On a busy machine the time between stops can be longer than the stops. */
	for (unsigned i = 0; i < 100000 && !vm->cpu[0].clock_controls; i++) {
		fake_enter(vm, 0);
		fake_debug_exit(vm, 0, BP, 0);
		nanosleep(&pause, NULL);
	}
	assert_int_equal(vm->cpu[0].clock_controls, 1);
	assert_int_equal(vm->cpu[1].clock_controls, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define GATED(f) cmocka_unit_test_setup_teardown(f, setup_gate, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nothing_to_load),
		T(test_dr7),
		T(test_owner),
		T(test_watch_hit),
		T(test_lazy_cookie),
		T(test_registers),
		T(test_int3),
		T(test_time_stopped),
		T(test_time_lost),
		T(test_while_another_exception_is_pending),
		T(test_guest_watch),
		T(test_guest_watch_off_now),
		T(test_guest_watch_alone),
		T(test_no_register_left),
		T(test_guest_steps),
		GATED(test_gate_ours),
		GATED(test_gate_guests_own),
		GATED(test_gate_user),
		GATED(test_gate_no_stack),
		T(test_share_of_stops),
		T(test_stops_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
