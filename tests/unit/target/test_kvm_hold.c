/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holding a vCPU, releasing it, and waiting for other vCPUs, in each possible order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "tests/unit/target/fake_kvm.h"

#define LONG 1000000000000u /* ns: a hold of this length does not end by itself in a test. */
#define PLACE 0xffffffff81123456ull
#define STACK 0xffffc90000000808ull
#define BP 3
#define BARRIER_NS 10000000u /* kvm_barrier() gives up after this time. */

static int setup(void **state)
{
	struct vm *vm = fake_kvm_new(3, KVM_BP_INTERCEPT);

	*state = vm;
	if (!vm || target_intercept(vm->target, true, NULL))
		return -1;
	for (unsigned i = 0; i < vm->cpus; i++)
		fake_enter(vm, i);
	return 0;
}

static int teardown(void **state)
{
	fake_kvm_free(*state);
	return 0;
}

static void stop_at(struct vm *vm, unsigned cpu, uint64_t rip, uint64_t rsp)
{
	fake_regs(vm, cpu)->rip = rip;
	fake_regs(vm, cpu)->rsp = rsp;
	fake_debug_exit(vm, cpu, BP, 0);
}

/* CPU 0 stops at PLACE and is held. */
static struct vm *hold(void **state, uint64_t ns)
{
	struct vm *vm = *state;

	vm->answer = (struct target_action){.kind = TARGET_HOLD, .hold_ns = ns};
	stop_at(vm, 0, PLACE, STACK);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
	return vm;
}

static void test_release(void **state)
{
	struct vm *vm = *state;
	uint64_t kicks;

	assert_int_equal(kvm_target_held(vm->target), 0);
	hold(state, LONG);
	assert_int_equal(kvm_target_held(vm->target), 1u << 0);
	kicks = atomic_load(&vm->cpu[0].vcpu.kicks);

	fake_enter(vm, 0);
	fake_kick_exit(vm, 0); /* The kick had another reason. */
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 0);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);

	target_release(vm->target, 0);
	assert_int_equal(atomic_load(&vm->cpu[0].vcpu.kicks), kicks + 1);
	fake_kick_exit(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->last_regs.rip, PLACE);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_RUNNABLE);
	assert_int_equal(kvm_target_held(vm->target), 0);
	fake_enter(vm, 0);
	fake_kick_exit(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
}

static void test_time_is_over(void **state)
{
	struct vm *vm = hold(state, 0);

	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_RUNNABLE);
}

/* The client releases the vCPU before it is back in KVM_RUN. The release needs no kick, and must not be lost. */
static void test_release_before_entry(void **state)
{
	struct vm *vm = hold(state, LONG);
	uint64_t kicks = atomic_load(&vm->cpu[0].vcpu.kicks);

	target_release(vm->target, 0);
	assert_int_equal(atomic_load(&vm->cpu[0].vcpu.kicks), kicks);
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_RUNNABLE);
}

static struct target_action release_and_hold(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct vm *vm = ctx;

	(void)regs;
	target_release(vm->target, cpu);
	return vm->answer;
}

/* The client releases the vCPU after it has decided on the hold, and before the hold has begun. */
static void test_release_before_begin(void **state)
{
	struct vm *vm = *state;

	vm->client.on_breakpoint = release_and_hold;
	hold(state, LONG);
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_RUNNABLE);
}

/*
 * The held vCPU takes an interrupt, for which KVM makes it runnable. It comes back to its INT3 and is halted again for the rest
 * of its time.
 */
static void test_interrupt(void **state)
{
	struct vm *vm = hold(state, LONG);

	fake_enter(vm, 0);
	vm->cpu[0].mp_state = KVM_MP_STATE_RUNNABLE;
	stop_at(vm, 0, PLACE, STACK);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
	assert_int_equal(vm->hold_ends, 0);
	target_release(vm->target, 0);
	stop_at(vm, 0, PLACE, STACK); /* It hits the INT3 once more before it sees the release. */
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_RUNNABLE);
}

/* The hold ends while the vCPU is in an interrupt handler or in another task's HLT. The target does not change its MP state. */
static void test_ends_elsewhere(void **state)
{
	struct vm *vm = hold(state, LONG);

	fake_enter(vm, 0);
	vm->cpu[0].mp_state = KVM_MP_STATE_HALTED;
	fake_regs(vm, 0)->rip = PLACE + 0x1000;
	assert_int_equal(kvm_target_held(vm->target), 0);
	target_release(vm->target, 0);
	fake_kick_exit(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
	/* Another task stands at the same place. */
	hold(state, LONG);
	fake_enter(vm, 0);
	fake_regs(vm, 0)->rsp = STACK - 0x4000;
	target_release(vm->target, 0);
	fake_kick_exit(vm, 0);
	assert_int_equal(vm->hold_ends, 2);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
}

static void test_longer(void **state)
{
	struct vm *vm = hold(state, 0);

	vm->hold_answer = (struct target_action){.kind = TARGET_HOLD, .hold_ns = LONG};
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
	fake_kick_exit(vm, 0);
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	vm->hold_answer.kind = TARGET_RESUME;
	target_release(vm->target, 0);
	fake_kick_exit(vm, 0);
	assert_int_equal(vm->hold_ends, 2);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_RUNNABLE);
}

/* The client releases the vCPU. Before the vCPU sees that, another window holds its interrupt handler. */
static void test_another_hold(void **state)
{
	struct vm *vm = hold(state, LONG);

	fake_enter(vm, 0);
	target_release(vm->target, 0);
	stop_at(vm, 0, PLACE + 0x2000, STACK - 0x100);
	fake_enter(vm, 0);
	assert_int_equal(vm->hold_ends, 0);
	assert_int_equal(vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
	target_release(vm->target, 0);
	fake_kick_exit(vm, 0);
	assert_int_equal(vm->hold_ends, 1);
	assert_int_equal(vm->last_regs.rip, PLACE + 0x2000);
}

/* ---- waiting for other CPUs ---- */

/* The target does not kick a vCPU that is outside the guest or has loaded the current watches. */
static void test_sync_kicks(void **state)
{
	struct vm *vm = *state;
	const struct target_watch w = {.gva = STACK & ~7ull, .len = 8, .owner = 0, .cookie = 1};

	for (unsigned i = 0; i < vm->cpus; i++)
		atomic_store(&vm->cpu[i].vcpu.in_guest, false);
	target_watch_set(vm->target, 0, &w);
	target_watch_sync(vm->target, 0);
	fake_enter(vm, 1);
	fake_enter(vm, 2);
	target_watch_sync(vm->target, 0);
	for (unsigned i = 0; i < vm->cpus; i++)
		assert_int_equal(atomic_load(&vm->cpu[i].vcpu.kicks), 0);
	assert_int_equal(vm->cpu[1].debug.arch.debugreg[0], STACK & ~7ull);
}

static void *come_out_when_kicked(void *arg)
{
	struct vm *vm = arg;
	const struct timespec moment = {.tv_nsec = 100000};

	while (!atomic_load(&vm->cpu[1].vcpu.kicks))
		nanosleep(&moment, NULL);
	fake_kick_exit(vm, 1);
	fake_enter(vm, 1);
	return NULL;
}

static void *two_come_out(void *arg)
{
	come_out_when_kicked(arg);
	fake_enter(arg, 2); /* CPU 2 was outside the guest already. */
	return NULL;
}

static void test_sync_waits(void **state)
{
	struct vm *vm = *state;
	const struct target_watch w = {.gva = STACK & ~7ull, .len = 8, .owner = 0, .cookie = 1};
	pthread_t thread;

	atomic_store(&vm->cpu[2].vcpu.in_guest, false);
	target_watch_set(vm->target, 0, &w);
	assert_int_equal(pthread_create(&thread, NULL, come_out_when_kicked, vm), 0);
	target_watch_sync(vm->target, 0);
	/* CPU 1 has loaded the watch by now. */
	assert_int_equal(vm->cpu[1].debug.arch.debugreg[0], STACK & ~7ull);
	assert_int_equal(atomic_load(&vm->cpu[1].vcpu.kicks), 1);
	pthread_join(thread, NULL);
}

/*
 * The barrier returns when the other vCPUs have come out. It gives up after a while, which on a busy host may be too early even
 * for a vCPU that does come out. Then the test tries again.
 */
static void test_barrier(void **state)
{
	struct vm *vm = *state;
	bool in_time = false;

	for (unsigned tries = 0; tries < 100 && !in_time; tries++) {
		unsigned loads = vm->cpu[1].debug_sets;
		uint64_t began = monotonic_ns();
		pthread_t thread;

		fake_kick_exit(vm, 2);
		atomic_store(&vm->cpu[1].vcpu.kicks, 0);
		assert_int_equal(pthread_create(&thread, NULL, two_come_out, vm), 0);
		in_time = target_barrier(vm->target, 0) && monotonic_ns() - began < BARRIER_NS / 2;
		if (in_time)
			assert_int_equal(vm->cpu[1].debug_sets, loads + 1);
		pthread_join(thread, NULL);
	}
	assert_true(in_time);
	assert_int_equal(atomic_load(&vm->cpu[0].vcpu.kicks), 0);
}

/* The barrier does not wait for ever for a vCPU that stays in the guest, because two vCPUs may wait for each other. */
static void test_barrier_gives_up(void **state)
{
	struct vm *vm = *state;

	fake_kick_exit(vm, 1);
	assert_false(target_barrier(vm->target, 0));
	assert_int_equal(atomic_load(&vm->cpu[2].vcpu.kicks), 1);
	assert_int_equal(atomic_load(&vm->cpu[1].vcpu.kicks), 0);
}

/* After the machine has ended, the barrier waits for no vCPU. */
static void test_over(void **state)
{
	struct vm *vm = *state;
	const struct target_watch w = {.gva = STACK & ~7ull, .len = 8, .owner = 0, .cookie = 1};
	struct x86_regs regs;

	kvm_target_over(vm->target);
	target_watch_set(vm->target, 0, &w);
	target_watch_sync(vm->target, 0);
	assert_false(target_barrier(vm->target, 0));
	assert_int_equal(target_peek_regs(vm->target, 1, &regs), -1);
}

static void *peeked(void *arg)
{
	struct vm *vm = arg;

	vm->cpu[1].regs.rip = PLACE;
	vm->cpu[1].regs.rdx = 0xd;
	vm->cpu[1].sregs.cr3 = 0x5000;
	come_out_when_kicked(vm);
	return NULL;
}

static void test_peek(void **state)
{
	struct vm *vm = *state;
	struct x86_regs regs;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, peeked, vm), 0);
	assert_int_equal(target_peek_regs(vm->target, 1, &regs), 0);
	pthread_join(thread, NULL);
	assert_int_equal(regs.rip, PLACE);
	assert_int_equal(regs.gpr[X86_RDX], 0xd);
	assert_int_equal(regs.cr3, 0x5000);
}

/* ---- memory ---- */

static void test_memory(void **state)
{
	struct vm *vm = *state;
	uint8_t odd[9];
	uint64_t word = 0;

	fake_write(vm->memory, 0x300000, "0123456789", 10);
	assert_int_equal(target_read_phys(vm->target, 0x300000, odd + 1, 8),
			 0); /* One load, to an address that is not aligned. */
	assert_memory_equal(odd + 1, "01234567", 8);
	assert_int_equal(target_read_phys(vm->target, 0x300004, odd + 1, 4), 0);
	assert_memory_equal(odd + 1, "4567", 4);
	assert_int_equal(target_read_phys(vm->target, 0x300001, odd, 9), 0);
	assert_memory_equal(odd, "123456789", 9);
	assert_int_equal(target_read_phys(vm->target, FAKE_RAM - 4, &word, 8), -1);
	assert_int_equal(target_read_phys(vm->target, ~0ull, &word, 8), -1);

	target_stop(vm->target);
	assert_int_equal(vm->stops, 1);
}

/* Neither planting a breakpoint nor removing it overwrites bytes that the guest has changed meanwhile. */
static void test_plant(void **state)
{
	struct vm *vm = *state;

	fake_write(vm->memory, 0x300000, "01", 2);
	assert_int_equal(target_plant(vm->target, 0, 0x300000, '0'), 0);
	assert_int_equal(fake_byte(vm->memory, 0x300000), X86_INT3);
	assert_int_equal(target_plant(vm->target, 0, 0x300000, '0'), 1);
	assert_int_equal(target_plant(vm->target, 0, FAKE_RAM, '0'), -1);
	target_unplant(vm->target, 0, 0x300000, '0', false);
	assert_int_equal(fake_byte(vm->memory, 0x300000), X86_INT3);
	target_unplant(vm->target, 0, 0x300000, '0', true);
	assert_int_equal(fake_byte(vm->memory, 0x300000), '0');
	target_unplant(vm->target, 0, 0x300001, '0', true);
	assert_int_equal(fake_byte(vm->memory, 0x300001), '1');
	target_refetch(vm->target, 0x300001, '1');
	assert_int_equal(fake_byte(vm->memory, 0x300001), '1');
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_release),
		T(test_time_is_over),
		T(test_release_before_entry),
		T(test_release_before_begin),
		T(test_interrupt),
		T(test_ends_elsewhere),
		T(test_longer),
		T(test_another_hold),
		T(test_sync_kicks),
		T(test_sync_waits),
		T(test_barrier),
		T(test_barrier_gives_up),
		T(test_over),
		T(test_peek),
		T(test_memory),
		T(test_plant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
