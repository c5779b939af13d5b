/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The KVM target makes all vCPUs stand still, while they run in their own threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "tests/unit/target/fake_kvm.h"

#define CPUS 3
#define ROUNDS 50
#define LONG 1000000000000u /* ns: a hold of this length does not end by itself in a test. */
#define PATIENCE_NS 30000000000ull
#define BARRIER_NS 10000000u /* kvm_barrier() gives up after this time. */

/* What the client saw. Its callbacks run on the vCPUs' threads. */
struct seen {
	struct vm *vm;
	atomic_uint breakpoints, hold_ends;
	atomic_bool inside;   /* A callback has begun and has not ended. */
	atomic_bool stay;     /* on_breakpoint() does not return while this is set. */
	atomic_bool standing; /* The test says that the machine stands still. */
	atomic_bool wrong;    /* A callback was called while the machine stood still. */
	struct target_action answer;
};

static void nap(void)
{
	const struct timespec moment = {.tv_nsec = 200000};

	nanosleep(&moment, NULL);
}

static void wait_for(atomic_uint *count, unsigned n)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (atomic_load(count) < n) {
		assert_true(monotonic_ns() < until);
		nap();
	}
}

static void wait_for_flag(atomic_bool *flag)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (!atomic_load(flag)) {
		assert_true(monotonic_ns() < until);
		nap();
	}
}

static struct target_action on_breakpoint(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct seen *s = ctx;

	(void)cpu;
	atomic_store(&s->inside, true);
	while (atomic_load(&s->stay))
		nap();
	if (atomic_load(&s->standing))
		atomic_store(&s->wrong, true);
	regs->gpr[X86_RAX]++;
	atomic_store(&s->inside, false);
	atomic_fetch_add(&s->breakpoints, 1);
	return s->answer;
}

static struct target_action on_hold_end(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct seen *s = ctx;

	(void)cpu;
	(void)regs;
	if (atomic_load(&s->standing))
		atomic_store(&s->wrong, true);
	atomic_fetch_add(&s->hold_ends, 1);
	return (struct target_action){.kind = TARGET_RESUME};
}

static void stand(struct seen *s)
{
	assert_int_equal(target_stand_still(s->vm->target), 0);
	atomic_store(&s->standing, true);
}

static void go_on(struct seen *s)
{
	atomic_store(&s->standing, false);
	target_go_on(s->vm->target);
}

static int setup(void **state)
{
	struct seen *s = calloc(1, sizeof(*s));

	*state = s;
	if (!s)
		return -1;
	s->vm = fake_kvm_new(CPUS, KVM_BP_INTERCEPT);
	if (!s->vm)
		return -1;
	s->vm->client = (struct target_client){.on_breakpoint = on_breakpoint, .on_hold_end = on_hold_end, .ctx = s};
	if (target_intercept(s->vm->target, true, NULL))
		return -1;
	for (unsigned i = 0; i < CPUS; i++)
		fake_cpu_start(s->vm, i);
	return 0;
}

static int teardown(void **state)
{
	struct seen *s = *state;

	/* If a test fails while the machine stands, let the machine run, so that its threads can end. */
	atomic_store(&s->stay, false);
	if (atomic_load(&s->standing))
		go_on(s);
	for (unsigned i = 0; i < CPUS; i++) {
		if (atomic_load(&s->vm->cpu[i].vcpu.tid))
			fake_cpu_end(s->vm, i);
	}
	assert_false(atomic_load(&s->wrong));
	fake_kvm_free(s->vm);
	free(s);
	return 0;
}

static uint64_t executed(struct vm *vm, unsigned cpu)
{
	return atomic_load(&vm->cpu[cpu].instructions);
}

static void assert_it_runs(struct vm *vm, unsigned cpu)
{
	uint64_t before = executed(vm, cpu), until = monotonic_ns() + PATIENCE_NS;

	while (executed(vm, cpu) == before) {
		assert_true(monotonic_ns() < until);
		nap();
	}
}

static void assert_all_stand(struct vm *vm)
{
	uint64_t before[CPUS];

	for (unsigned i = 0; i < CPUS; i++)
		before[i] = executed(vm, i);
	nap();
	for (unsigned i = 0; i < CPUS; i++) {
		assert_int_equal(executed(vm, i), before[i]);
		assert_false(atomic_load(&vm->cpu[i].vcpu.in_guest));
	}
}

static void test_stands_and_goes_on(void **state)
{
	struct seen *s = *state;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < CPUS; i++)
			assert_it_runs(s->vm, i);
		stand(s);
		assert_all_stand(s->vm);
		go_on(s);
	}
}

/* The vCPU completes a read from a port that the guest has begun before it stands. */
static void test_no_access_half_done(void **state)
{
	struct seen *s = *state;

	for (unsigned round = 0; round < 2 * ROUNDS; round++) {
		assert_it_runs(s->vm, round % CPUS);
		stand(s);
		for (unsigned i = 0; i < CPUS; i++)
			assert_false(s->vm->cpu[i].reads_port);
		go_on(s);
	}
}

/* Before the vCPU stands, KVM has taken the registers that a callback changed from the kvm_run page. */
static void test_changed_registers_are_taken(void **state)
{
	struct seen *s = *state;

	s->answer.kind = TARGET_RESUME_REGS;
	for (unsigned round = 0; round < ROUNDS; round++) {
		atomic_store(&s->stay, true);
		atomic_store(&s->vm->cpu[1].traps, true);
		wait_for_flag(&s->inside);
		atomic_store(&s->stay, false);
		stand(s);
		assert_false(s->vm->cpu[1].vcpu.run->kvm_dirty_regs);
		assert_int_equal(fake_regs(s->vm, 1)->rax, atomic_load(&s->breakpoints));
		go_on(s);
		wait_for(&s->breakpoints, round + 1);
	}
}

static void *stand_in_thread(void *arg)
{
	struct seen *s = arg;

	stand(s);
	return NULL;
}

/* A callback that has begun ends before the machine stands. */
static void test_waits_for_callback(void **state)
{
	struct seen *s = *state;
	pthread_t thread;

	atomic_store(&s->stay, true);
	atomic_store(&s->vm->cpu[0].traps, true);
	wait_for_flag(&s->inside);
	assert_int_equal(pthread_create(&thread, NULL, stand_in_thread, s), 0);
	nap();
	assert_false(atomic_load(&s->standing));
	atomic_store(&s->stay, false);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&s->breakpoints), 1);
	assert_all_stand(s->vm);
	go_on(s);
}

static void test_nests(void **state)
{
	struct seen *s = *state;

	stand(s);
	assert_int_equal(target_stand_still(s->vm->target), 0);
	target_go_on(s->vm->target);
	assert_all_stand(s->vm);
	go_on(s);
	for (unsigned i = 0; i < CPUS; i++)
		assert_it_runs(s->vm, i);
}

static void *stand_often(void *arg)
{
	struct seen *s = arg;
	void *bad = NULL;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t before[CPUS];

		if (target_stand_still(s->vm->target))
			return s;
		for (unsigned i = 0; i < CPUS; i++)
			before[i] = executed(s->vm, i);
		sched_yield();
		for (unsigned i = 0; i < CPUS; i++) {
			if (executed(s->vm, i) != before[i] || s->vm->cpu[i].reads_port)
				bad = s;
		}
		target_go_on(s->vm->target);
	}
	return bad;
}

/* Several threads make the machine stand for different times, while vCPUs deliver stops. */
static void test_several_threads(void **state)
{
	struct seen *s = *state;
	pthread_t threads[3];

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, stand_often, s), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		atomic_store(&s->vm->cpu[round % CPUS].traps, true);
		nap();
	}
	for (unsigned i = 0; i < 3; i++) {
		void *bad;

		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	for (unsigned i = 0; i < CPUS; i++)
		assert_it_runs(s->vm, i);
}

static void hold_cpu(struct seen *s, unsigned cpu, uint64_t ns)
{
	s->answer = (struct target_action){.kind = TARGET_HOLD, .hold_ns = ns};
	atomic_store(&s->vm->cpu[cpu].traps, true);
	wait_for(&s->breakpoints, 1);
}

/* A held vCPU stands, too. It stays held afterwards, and a release in between is not lost. */
static void test_held(void **state)
{
	struct seen *s = *state;

	hold_cpu(s, 0, LONG);
	stand(s);
	assert_all_stand(s->vm);
	assert_int_equal(s->vm->cpu[0].mp_state, KVM_MP_STATE_HALTED);
	go_on(s);
	assert_it_runs(s->vm, 1);
	assert_int_equal(atomic_load(&s->hold_ends), 0);

	stand(s);
	target_release(s->vm->target, 0);
	assert_all_stand(s->vm);
	assert_int_equal(atomic_load(&s->hold_ends), 0);
	go_on(s);
	wait_for(&s->hold_ends, 1);
	assert_it_runs(s->vm, 0);
}

/* While the machine stands, a thread can read registers, and can change watches or wait for other vCPUs without blocking. */
static void test_what_works_meanwhile(void **state)
{
	struct seen *s = *state;
	const struct target_watch watch = {.gva = 0xffff888000001000, .len = 8, .owner = 0, .cookie = 1};
	struct x86_regs regs;
	bool in_time = false;

	s->vm->cpu[2].regs.rip = 0x1234;
	stand(s);
	assert_int_equal(target_peek_regs(s->vm->target, 2, &regs), 0);
	assert_int_equal(regs.rip, 0x1234);
	target_watch_set(s->vm->target, 0, &watch);
	target_watch_sync(s->vm->target, 0);
	/* On a busy machine this thread may be preempted for longer than the barrier waits. Then the test tries again. */
	for (unsigned tries = 0; tries < 100 && !in_time; tries++) {
		uint64_t began = monotonic_ns();

		target_barrier(s->vm->target, 0);
		in_time = monotonic_ns() - began < BARRIER_NS;
	}
	assert_true(in_time);
	assert_all_stand(s->vm);
	go_on(s);
	assert_it_runs(s->vm, 1);
	assert_it_runs(s->vm, 1);
	stand(s);
	assert_int_equal(s->vm->cpu[1].debug.arch.debugreg[0], watch.gva);
	go_on(s);
}

/* Let the machine, which stands, stand for `stand_ns` more, run, and stand again. Returns the number of vCPUs that got
 * KVM_KVMCLOCK_CTRL. */
static unsigned told_after(struct seen *s, long stand_ns)
{
	const struct timespec rest = {.tv_nsec = stand_ns};
	unsigned before[CPUS], told = 0;

	for (unsigned i = 0; i < CPUS; i++)
		before[i] = s->vm->cpu[i].clock_controls;
	nanosleep(&rest, NULL);
	go_on(s);
	for (unsigned i = 0; i < CPUS; i++)
		assert_it_runs(s->vm, i);
	stand(s);
	for (unsigned i = 0; i < CPUS; i++) {
		assert_in_range(s->vm->cpu[i].clock_controls - before[i], 0, 1);
		told += s->vm->cpu[i].clock_controls - before[i];
	}
	return told;
}

/* After a long stand, the target calls KVM_KVMCLOCK_CTRL, as after a long hold. */
static void test_watchdogs_are_told(void **state)
{
	struct seen *s = *state;
	unsigned told = CPUS;

	stand(s);
	assert_int_equal(told_after(s, 110000000), CPUS);
	/* On a busy machine a thread may wake up late, and a short stand becomes a long one. Then the test tries again. */
	for (unsigned tries = 0; tries < 1000 && told > 0; tries++)
		told = told_after(s, 0);
	assert_int_equal(told, 0);
	go_on(s);
}

/* Planting a breakpoint stops no vCPU: only target_stand_still() makes the machine stand. */
static void test_enter_does_not_stop(void **state)
{
	struct seen *s = *state;

	for (unsigned i = 0; i < CPUS; i++)
		assert_it_runs(s->vm, i);
	fake_write(s->vm->memory, 0x300000, "0", 1);
	target_enter(s->vm->target);
	assert_int_equal(target_plant(s->vm->target, 0, 0x300000, '0'), 0);
	for (unsigned i = 0; i < CPUS; i++)
		assert_it_runs(s->vm, i);
	target_unplant(s->vm->target, 0, 0x300000, '0', true);
	target_leave(s->vm->target);
	for (unsigned i = 0; i < CPUS; i++) {
		assert_int_equal(atomic_load(&s->vm->cpu[i].vcpu.kicks), 0);
		assert_int_equal(s->vm->cpu[i].vcpu.run->immediate_exit, 0);
	}
}

/* The target does not wait for a vCPU that has ended, and a vCPU that starts meanwhile executes no instruction. */
static void test_without_thread(void **state)
{
	struct seen *s = *state;
	uint64_t before;

	fake_cpu_end(s->vm, 2);
	before = executed(s->vm, 2);
	stand(s);
	fake_cpu_start(s->vm, 2);
	nap();
	assert_int_equal(executed(s->vm, 2), before);
	go_on(s);
	assert_it_runs(s->vm, 2);
}

static void test_over(void **state)
{
	struct seen *s = *state;

	for (unsigned i = 0; i < CPUS; i++)
		fake_cpu_end(s->vm, i);
	kvm_target_over(s->vm->target);
	assert_int_equal(target_stand_still(s->vm->target), -1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_stands_and_goes_on),
		T(test_no_access_half_done),
		T(test_changed_registers_are_taken),
		T(test_waits_for_callback),
		T(test_nests),
		T(test_several_threads),
		T(test_held),
		T(test_what_works_meanwhile),
		T(test_watchdogs_are_told),
		T(test_enter_does_not_stop),
		T(test_without_thread),
		T(test_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
