/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gdbstub target with a fake stub: which stops the client gets, which CPUs the target resumes, when it sets watchpoints,
 * and that it removes all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "hv/target/gdb/gdb.h"
#include "tests/unit/rsp/fake_stub.h"

#define TEXT 0xffffffff81000000ull
#define DATA 0xffff888000001000ull
#define PATIENCE_NS 30000000000ull

struct attached {
	struct fake_stub *stub;
	struct target *t;
	struct target_client client;
	struct target_action on_breakpoint, on_hold_end; /* What these callbacks return. */
	bool watch_on_hit;				 /* on_breakpoint() sets and syncs a watch. */
	atomic_uint breakpoints, watches, hold_ends;
	unsigned last_cpu;
	uint32_t cookie;
	struct x86_regs last_regs;
};

static struct target_action on_breakpoint(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	const struct target_watch watch = {.gva = DATA, .len = 8, .read = true, .owner = (uint8_t)cpu, .cookie = 7};
	struct attached *a = ctx;

	a->last_cpu = cpu;
	a->last_regs = *regs;
	if (a->watch_on_hit) {
		target_watch_set(a->t, 1, &watch);
		target_watch_sync(a->t, cpu);
	}
	if (a->on_breakpoint.kind == TARGET_RESUME_REGS) {
		regs->gpr[X86_RSP] -= 8;
		regs->rip += 2;
	}
	atomic_fetch_add(&a->breakpoints, 1);
	return a->on_breakpoint;
}

static struct target_action on_watch(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n)
{
	struct attached *a = ctx;

	a->last_cpu = cpu;
	a->last_regs = *regs;
	a->cookie = n == 1 ? cookies[0] : 0;
	target_watch_clear(a->t, 1);
	target_release(a->t, 0);
	atomic_fetch_add(&a->watches, 1);
	return (struct target_action){.kind = TARGET_RESUME};
}

static struct target_action on_hold_end(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct attached *a = ctx;
	struct target_action action = a->on_hold_end;

	(void)regs;
	a->last_cpu = cpu;
	a->on_hold_end.kind = TARGET_RESUME; /* The callback extends the hold only once. */
	atomic_fetch_add(&a->hold_ends, 1);
	return action;
}

static int setup(void **state)
{
	struct attached *a = calloc(1, sizeof(*a));

	*state = a;
	if (!a)
		return -1;
	a->stub = fake_stub_new();
	a->client = (struct target_client){
		.on_breakpoint = on_breakpoint, .on_watch = on_watch, .on_hold_end = on_hold_end, .ctx = a};
	return 0;
}

static int teardown(void **state)
{
	struct attached *a = *state;

	gdb_target_free(a->t);
	fake_stub_free(a->stub);
	free(a);
	return 0;
}

static void open_it(struct attached *a)
{
	struct gdb_config config = {.fd = a->stub->client_fd, .overhead = 0.5};
	struct err err = {0};

	fake_stub_start(a->stub);
	a->t = gdb_target_new(&config, NULL, &err);
	assert_string_equal(err.text, "");
	assert_non_null(a->t);
	a->t->client = &a->client;
	assert_int_equal(gdb_target_start(a->t, NULL), 0);
	assert_true(fake_stub_wait(a->stub, true));
}

static void wait_count(atomic_uint *count, unsigned n)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (atomic_load(count) < n) {
		assert_true(monotonic_ns() < until);
		nanosleep(&nap, NULL);
	}
}

/* Wait until the stub has received `n` requests to resume in all. */
static void wait_resumes(struct attached *a, unsigned n)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	unsigned resumes = 0;

	while (resumes < n) {
		assert_true(monotonic_ns() < until);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&a->stub->lock);
		resumes = a->stub->resumes;
		pthread_mutex_unlock(&a->stub->lock);
	}
}

static bool cpu_runs(struct attached *a, unsigned cpu)
{
	bool runs;

	pthread_mutex_lock(&a->stub->lock);
	runs = a->stub->running && a->stub->cpu[cpu].runs;
	pthread_mutex_unlock(&a->stub->lock);
	return runs;
}

static void test_memory_and_registers(void **state)
{
	struct attached *a = *state;
	uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
	struct x86_regs regs;

	open_it(a);
	assert_int_equal(a->t->caps.cpus, 2);
	assert_false(a->t->caps.irq_while_held);
	assert_int_equal(a->t->ops->write_phys(a->t, 0x10fd, bytes, 8), 0); /* This crosses the end of a cached line. */
	assert_int_equal(target_read_phys(a->t, 0x10fd, back, 8), 0);
	assert_memory_equal(back, bytes, 8);
	assert_int_equal(target_read_phys(a->t, STUB_RAM - 4, back, 8), -1);
	assert_int_equal(target_read_phys(a->t, ~0ull, back, 8), -1);
	a->stub->cpu[1].rip = TEXT;
	assert_int_equal(target_peek_regs(a->t, 1, &regs), 0);
	assert_int_equal(regs.rip, TEXT);
	assert_true(fake_stub_wait(a->stub, true)); /* The machine never stands still for long. */
}

/* The target reads memory again at the next stop: its cache lasts for one stop. */
static void test_memory_is_read_again(void **state)
{
	struct attached *a = *state;
	uint8_t byte;

	open_it(a);
	a->stub->ram[0x100] = 1;
	assert_int_equal(target_read_phys(a->t, 0x100, &byte, 1), 0);
	assert_int_equal(byte, 1);
	assert_true(fake_stub_wait(a->stub, true));
	a->stub->ram[0x100] = 2;
	assert_int_equal(target_read_phys(a->t, 0x100, &byte, 1), 0);
	assert_int_equal(byte, 2);
}

static void test_plant(void **state)
{
	struct attached *a = *state;
	unsigned n = 0;

	open_it(a);
	a->stub->ram[0x200] = 0x48;
	assert_int_equal(target_plant(a->t, TEXT + 0x200, 0x200, 0x55), 1);
	assert_int_equal(target_plant(a->t, TEXT + 0x200, 0x200, 0x48), 0);
	assert_true(fake_stub_has(a->stub, 0, TEXT + 0x200));
	assert_int_equal(a->stub->ram[0x200], 0x48); /* The stub sets the breakpoint. The target writes no byte. */
	target_unplant(a->t, TEXT + 0x200, 0x200, 0x48, false);
	assert_int_equal(fake_stub_points(a->stub, -1), 0);
	/* The target refuses more breakpoints than caps.points and caps.lasting allow. */
	while (n < 2 * STUB_POINTS && target_plant(a->t, TEXT + n, 0x300, 0) == 0)
		n++;
	assert_int_equal(n, a->t->caps.points + a->t->caps.lasting);
}

static void test_breakpoint(void **state)
{
	struct attached *a = *state;

	a->on_breakpoint.kind = TARGET_RESUME_REGS;
	open_it(a);
	a->stub->cpu[1].rip = TEXT;
	a->stub->cpu[1].gpr[7] = 0x8000;
	fake_stub_stop(a->stub, "T05thread:02;");
	wait_count(&a->breakpoints, 1);
	assert_int_equal(a->last_cpu, 1);
	assert_int_equal(a->last_regs.rip, TEXT);
	assert_true(fake_stub_wait(a->stub, true));
	assert_int_equal(a->stub->cpu[1].rip, TEXT + 2);
	assert_int_equal(a->stub->cpu[1].gpr[7], 0x7ff8);
	assert_true(cpu_runs(a, 0) && cpu_runs(a, 1));
}

/* The target does not resume a machine that another client has paused, and leaves no breakpoint in it. */
static void test_paused(void **state)
{
	struct attached *a = *state;
	enum gdb_end end;

	open_it(a);
	assert_int_equal(gdb_target_wait(a->t, 1000000, &end, NULL), 1);
	assert_int_equal(target_plant(a->t, TEXT, 0x200, 0), 0);
	assert_true(fake_stub_wait(a->stub, true));
	fake_stub_stop(a->stub, "T02thread:01;");
	assert_int_equal(gdb_target_wait(a->t, PATIENCE_NS, &end, NULL), 0);
	assert_int_equal(end, GDB_END_PAUSED);
	assert_int_equal(atomic_load(&a->breakpoints), 0);
	gdb_target_detach(a->t, NULL);
	assert_false(a->stub->running);
	assert_false(a->stub->detached);
	assert_int_equal(fake_stub_points(a->stub, -1), 0);
}

/* A whole window: CPU 0 is held, CPU 1 trips the watchpoint, CPU 0 is released. Afterwards no watchpoint is set. */
static void test_window(void **state)
{
	struct attached *a = *state;

	a->on_breakpoint = (struct target_action){TARGET_HOLD, PATIENCE_NS};
	a->watch_on_hit = true;
	open_it(a);
	a->stub->cpu[0].rip = TEXT;
	fake_stub_stop(a->stub, "T05thread:01;");
	wait_resumes(a, 2);
	assert_false(cpu_runs(a, 0));
	assert_true(cpu_runs(a, 1));
	assert_true(fake_stub_has(a->stub, 4, DATA));

	a->stub->cpu[1].rip = TEXT + 0x50;
	fake_stub_stop(a->stub, "T05thread:02;awatch:ffff888000001000;");
	wait_count(&a->watches, 1);
	assert_int_equal(a->cookie, 7);
	wait_count(&a->hold_ends, 1);
	wait_resumes(a, 3);
	assert_true(cpu_runs(a, 0) && cpu_runs(a, 1));
	assert_int_equal(fake_stub_points(a->stub, -1), 0);
}

/* When the time of a hold is over, on_hold_end() may extend the hold. */
static void test_hold_ends(void **state)
{
	struct attached *a = *state;

	a->on_breakpoint = (struct target_action){TARGET_HOLD, 5000000};
	a->on_hold_end = (struct target_action){TARGET_HOLD, 5000000};
	open_it(a);
	fake_stub_stop(a->stub, "T05thread:02;");
	wait_count(&a->hold_ends, 2);
	assert_int_equal(a->last_cpu, 1);
	wait_resumes(a, 4);
	assert_true(cpu_runs(a, 0) && cpu_runs(a, 1));
}

/* QEMU may report a watchpoint late, after the CPU has stopped at a breakpoint. The target ignores such a report. */
static void test_late_watch(void **state)
{
	struct attached *a = *state;

	a->on_breakpoint.kind = TARGET_RESUME;
	open_it(a);
	assert_int_equal(target_plant(a->t, TEXT + 0x10, 0x200, 0), 0);
	target_watch_set(a->t, 1, &(struct target_watch){.gva = DATA, .len = 4, .cookie = 9});
	target_watch_sync(a->t, TARGET_MAX_CPUS);
	assert_true(fake_stub_wait(a->stub, true));
	assert_true(fake_stub_has(a->stub, 2, DATA));
	a->stub->cpu[0].rip = TEXT + 0x10;
	fake_stub_stop(a->stub, "T05thread:01;watch:ffff888000001000;");
	wait_count(&a->breakpoints, 1);
	assert_int_equal(atomic_load(&a->watches), 0);
}

static void test_idle(void **state)
{
	struct attached *a = *state;

	open_it(a);
	assert_false(target_idle(a->t, 1));
	a->stub->cpu[1].halted = true;
	assert_true(target_idle(a->t, 1));
}

/* The machine stands until the last target_go_on(), for longer than any other stop may last. */
static void test_stand(void **state)
{
	const struct timespec longer = {.tv_nsec = 20000000};
	struct attached *a = *state;
	uint8_t byte;

	open_it(a);
	assert_int_equal(target_stand_still(a->t), 0);
	assert_int_equal(target_stand_still(a->t), 0);
	assert_int_equal(target_read_phys(a->t, 0, &byte, 1), 0);
	target_go_on(a->t);
	nanosleep(&longer, NULL);
	assert_false(cpu_runs(a, 0));
	assert_false(cpu_runs(a, 1));
	target_go_on(a->t);
	assert_true(fake_stub_wait(a->stub, true));
}

static void test_machine_ends(void **state)
{
	struct attached *a = *state;
	struct err err = {0};
	enum gdb_end end;
	uint8_t byte;

	open_it(a);
	fake_stub_stop(a->stub, "W00");
	assert_int_equal(gdb_target_wait(a->t, PATIENCE_NS, &end, &err), 0);
	assert_int_equal(end, GDB_END_GONE);
	assert_true(atomic_load(&a->t->over));
	assert_int_equal(target_read_phys(a->t, 0, &byte, 1), -1);
	assert_int_equal(target_stand_still(a->t), -1);
}

static void test_connection_lost(void **state)
{
	struct attached *a = *state;
	enum gdb_end end;

	open_it(a);
	fake_stub_hang_up(a->stub);
	assert_int_equal(gdb_target_wait(a->t, PATIENCE_NS, &end, NULL), 0);
	assert_int_equal(end, GDB_END_GONE);
}

static void test_detach(void **state)
{
	struct attached *a = *state;
	enum gdb_end end;

	a->on_breakpoint = (struct target_action){TARGET_HOLD, PATIENCE_NS};
	a->watch_on_hit = true;
	open_it(a);
	assert_int_equal(target_plant(a->t, TEXT, 0x200, 0), 0);
	assert_true(fake_stub_wait(a->stub, true));
	fake_stub_stop(a->stub, "T05thread:01;");
	wait_resumes(a, 3);
	target_stop(a->t);
	assert_int_equal(gdb_target_wait(a->t, PATIENCE_NS, &end, NULL), 0);
	assert_int_equal(end, GDB_END_STOPPED);
	gdb_target_detach(a->t, NULL);
	assert_true(a->stub->detached);
	assert_false(a->stub->physical);
	assert_int_equal(fake_stub_points(a->stub, -1), 0);
}

/* The machine stands still for at most its share of the time, for any number of requests. */
static void test_budget(void **state)
{
	struct attached *a = *state;
	uint64_t until = monotonic_ns() + 1000000000;
	struct gdb_figures figures;

	open_it(a);
	a->t->ops->intercept(a->t, true, NULL);
	while (monotonic_ns() < until) {
		struct x86_regs regs;

		assert_int_equal(target_peek_regs(a->t, 0, &regs), 0);
	}
	gdb_target_figures(a->t, &figures);
	assert_true(figures.paused_ns * 10 <
		    figures.elapsed_ns * 8); /* The share is half of the time. A busy host may resume late. */
	assert_true(figures.requests > 100);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_memory_and_registers),
		T(test_memory_is_read_again),
		T(test_plant),
		T(test_breakpoint),
		T(test_paused),
		T(test_window),
		T(test_hold_ends),
		T(test_late_watch),
		T(test_idle),
		T(test_stand),
		T(test_machine_ends),
		T(test_connection_lost),
		T(test_detach),
		T(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
