/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rendezvous: both CPUs are held before their accesses while the machine stands still, and no CPU is held for long. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/window/rendezvous.h"
#include "tests/unit/detect/detect_rig.h"

#define READER 0x10u
#define WRITER 0x20u
#define OTHER 0x30u
#define POINTS_MAX 8u

struct fixture {
	struct rig *r;
	struct x86_regs reader, writer;
	bool refuse;
	unsigned asked, taken;
	uint64_t asked_for[2];
	/* What was seen in the rendezvous. */
	struct rendezvous rendezvous;
	struct rendezvous_point points[POINTS_MAX];
	int stands;
	uint8_t text[2];
	/* The machine comes to a stand when the test says so. */
	bool slow;
	sem_t may_stand;
};

static bool on_wanted(void *ctx, uint64_t a, uint64_t b)
{
	struct fixture *f = ctx;

	f->asked++;
	f->asked_for[0] = a;
	f->asked_for[1] = b;
	return !f->refuse;
}

static void on_rendezvous(void *ctx, const struct rendezvous *m)
{
	struct fixture *f = ctx;

	f->taken++;
	f->rendezvous = *m;
	assert_in_range(m->point_count, 1, POINTS_MAX);
	memcpy(f->points, m->points, m->point_count * sizeof(*f->points));
	f->stands = atomic_load(&f->r->ft->stands);
	f->text[0] = rig_text_byte(f->r, READER);
	f->text[1] = rig_text_byte(f->r, WRITER);
}

static void on_race(void *ctx, const struct observation *o)
{
	(void)ctx;
	(void)o;
}

static void on_stand(void *ctx)
{
	struct fixture *f = ctx;

	while (f->slow && sem_wait(&f->may_stand))
		;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f || sem_init(&f->may_stand, 0, 0))
		return -1;
	f->r = rig_new(3, 4);
	if (!f->r)
		return -1;
	f->r->sink =
		(struct detect_sink){.race = on_race, .rendezvous_wanted = on_wanted, .rendezvous = on_rendezvous, .ctx = f};
	f->r->ft->on_stand = on_stand;
	f->r->ft->hook_ctx = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rendezvous_stop(f->r->d);
	assert_int_equal(f->r->ft->misuses, 0);
	assert_int_equal(atomic_load(&f->r->ft->stands), 0);
	rig_free(f->r);
	sem_destroy(&f->may_stand);
	free(f);
	return 0;
}

/* CPU 0 is held before its read, and CPU 1 comes to its write of the same memory. Returns what is done with CPU 1. */
static struct target_action come_together(struct fixture *f)
{
	struct fake_target *ft = f->r->ft;

	rig_remake(f->r);
	assert_int_equal(rendezvous_start(f->r->d, NULL), 0);
	rig_plant(f->r, READER, READ_8);
	rig_plant(f->r, WRITER, WRITE_8);
	rig_plant(f->r, OTHER, READ_8);
	f->reader = rig_regs(f->r, 0, READER);
	f->writer = rig_regs(f->r, 1, WRITER);
	if (!ft->peek[0].rip)
		ft->peek[0] = f->reader;
	if (!ft->peek[1].rip)
		ft->peek[1] = f->writer;
	assert_int_equal(rig_hit(f->r, 0, &f->reader).kind, TARGET_HOLD);
	return rig_hit(f->r, 1, &f->writer);
}

/* Set when the rendezvous is given up, so that no test waits for the clock. */
static void set_deadline(struct fixture *f, uint64_t ns)
{
	pthread_mutex_lock(&f->r->d->lock);
	f->r->d->hit.rendezvous.deadline_ns = ns;
	pthread_mutex_unlock(&f->r->d->lock);
}

/* Wait until the rendezvous is over. */
static void wait_over(struct fixture *f)
{
	uint64_t until = monotonic_ns() + 60000000000u;

	while (!rig_stats(f->r).rendezvous && !rig_stats(f->r).rendezvous_skipped) {
		assert_true(monotonic_ns() < until);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* Neither window nor point of the two sides is left, and both CPUs were let go. The observation was made all the same. */
static void assert_both_gone(struct fixture *f)
{
	const struct observation *o = rig_observation(f->r);

	assert_int_equal(rig_open_windows(f->r), 0);
	assert_int_equal(rig_slots_in_use(f->r), 0);
	assert_false(rig_has_point(f->r, READER));
	assert_false(rig_has_point(f->r, WRITER));
	assert_true(rig_has_point(f->r, OTHER));
	assert_int_equal(rig_hold_end(f->r, 0, &f->reader).kind, TARGET_RESUME);
	assert_int_equal(rig_hold_end(f->r, 1, &f->writer).kind, TARGET_RESUME);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_POINT);
	assert_int_equal(o->rendezvous, 1);
}

static void assert_skipped(struct fixture *f)
{
	wait_over(f);
	assert_int_equal(f->taken, 0);
	assert_int_equal(rig_stats(f->r).rendezvous, 0);
	assert_int_equal(rig_stats(f->r).rendezvous_skipped, 1);
	assert_both_gone(f);
}

static void assert_side(const struct rendezvous_side *side, const struct x86_regs *regs, unsigned cpu, uint8_t rw)
{
	assert_int_equal(side->cpu, cpu);
	assert_memory_equal(&side->regs, regs, sizeof(*regs));
	assert_int_equal(side->gva, RIG_DATA);
	assert_int_equal(side->gpa, RIG_DATA_GPA);
	assert_int_equal(side->size, 8);
	assert_int_equal(side->rw, rw);
	assert_int_equal(side->insn_len, 3);
	assert_int_equal(side->cfa, regs->gpr[X86_RSP] + 8); /* the fake guest's stacks begin with a return address */
	assert_int_equal(side->return_address, 0x1111 * (cpu + 1));
}

static void write_returns(struct fixture *f)
{
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		uint64_t address = 0x1111 * (cpu + 1);

		fake_write(f->r->ft, RIG_STACKS_GPA + cpu * FAKE_STACK_SIZE + FAKE_STACK_SIZE / 2, &address, sizeof(address));
	}
}

static void test_takes_place(void **state)
{
	struct fixture *f = *state;
	struct target_action action;
	bool seen[3] = {false};

	write_returns(f);
	action = come_together(f);
	assert_int_equal(action.kind, TARGET_HOLD);
	assert_in_range(action.hold_ns, 1, 100000000);
	wait_over(f);
	assert_int_equal(f->asked, 1);
	assert_int_equal(f->asked_for[0], RIG_TEXT + READER);
	assert_int_equal(f->asked_for[1], RIG_TEXT + WRITER);
	assert_int_equal(f->taken, 1);
	assert_int_equal(f->stands, 1);
	assert_int_equal(f->text[0], X86_INT3);
	assert_int_equal(f->text[1], X86_INT3);
	assert_int_equal(f->rendezvous.number, 1);
	assert_side(&f->rendezvous.sides[0], &f->reader, 0, INSN_READ);
	assert_side(&f->rendezvous.sides[1], &f->writer, 1, INSN_WRITE);
	assert_int_equal(f->rendezvous.point_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(f->points[i].byte, 0x48);
		seen[(f->points[i].gpa - RIG_TEXT_GPA - READER) / 0x10] = true;
	}
	assert_true(seen[0] && seen[1] && seen[2]);
	assert_int_equal(rig_stats(f->r).rendezvous, 1);
	assert_both_gone(f);
	assert_int_equal(f->r->ft->releases[0], 1);
	assert_int_equal(f->r->ft->releases[1], 1);
}

/* The caller does not want this rendezvous: both CPUs go on. */
static void test_not_wanted(void **state)
{
	struct fixture *f = *state;

	f->refuse = true;
	assert_int_equal(come_together(f).kind, TARGET_RESUME);
	assert_int_equal(f->asked, 1);
	assert_int_equal(rig_observation(f->r)->rendezvous, 0);
	assert_int_equal(rig_open_windows(f->r), 0);
	assert_false(rig_has_point(f->r, WRITER));
}

/* Where nothing can be read unless all CPUs are stopped, no second CPU is held. */
static void test_costly_target(void **state)
{
	struct fixture *f = *state;

	f->r->ft->target.caps.costly_stops = true;
	assert_int_equal(come_together(f).kind, TARGET_RESUME);
	assert_int_equal(f->asked, 0);
}

/* When the machine stands still, a CPU is in an interrupt handler. */
static void test_cpu_has_moved(void **state)
{
	struct fixture *f = *state;

	f->r->ft->peek[1] = rig_regs(f->r, 1, 0x500);
	assert_int_equal(come_together(f).kind, TARGET_HOLD);
	assert_skipped(f);
}

/* Both CPUs come back from interrupts while the machine comes to a stand, and their holds end: they are held on. */
static void test_held_on(void **state)
{
	struct fixture *f = *state;

	f->slow = true;
	assert_int_equal(come_together(f).kind, TARGET_HOLD);
	set_deadline(f, monotonic_ns() + 600000000000u);
	assert_int_equal(rig_hit(f->r, 0, &f->reader).kind, TARGET_HOLD);
	assert_int_equal(rig_hit(f->r, 1, &f->writer).kind, TARGET_HOLD);
	assert_int_equal(rig_hold_end(f->r, 0, &f->reader).kind, TARGET_HOLD);
	assert_int_equal(rig_hold_end(f->r, 1, &f->writer).kind, TARGET_HOLD);
	assert_int_equal(rig_stats(f->r).hits, 2);
	sem_post(&f->may_stand);
	wait_over(f);
	assert_int_equal(f->taken, 1);
	assert_both_gone(f);
}

/* The second CPU is in an interrupt handler of its own, and comes by another point: it is not held there. */
static void test_no_window_in_a_rendezvous(void **state)
{
	struct fixture *f = *state;
	struct x86_regs nested = rig_regs(f->r, 1, OTHER);

	f->slow = true;
	assert_int_equal(come_together(f).kind, TARGET_HOLD);
	nested.gpr[X86_RDI] += 0x800;
	nested.gpr[X86_RSP] -= 0x100;
	assert_int_equal(rig_hit(f->r, 1, &nested).kind, TARGET_RESUME);
	assert_int_equal(rig_open_windows(f->r), 1);
	rig_plant(f->r, OTHER, READ_8);
	sem_post(&f->may_stand);
	wait_over(f);
	assert_both_gone(f);
}

/* The machine does not come to a stand in time: the guest goes on. */
static void check_too_late(struct fixture *f, unsigned first)
{
	set_deadline(f, monotonic_ns() - 1);
	assert_int_equal(rig_hold_end(f->r, first, first ? &f->writer : &f->reader).kind, TARGET_RESUME);
	assert_int_equal(f->r->ft->releases[first], 0); /* a release would end its next hold */
	assert_int_equal(f->r->ft->releases[!first], 1);
	sem_post(&f->may_stand);
	assert_skipped(f);
}

static void test_too_late(void **state)
{
	struct fixture *f = *state;

	f->slow = true;
	assert_int_equal(come_together(f).kind, TARGET_HOLD);
	check_too_late(f, 0);
}

/* With interrupts off there is less time, and then none for a while. */
static void test_irqs_off(void **state)
{
	struct fixture *f = *state;
	struct target_action action;
	struct x86_regs again;

	f->slow = true;
	rig_remake(f->r);
	f->r->ft->peek[1] = rig_regs(f->r, 1, WRITER);
	f->r->ft->peek[1].rflags &= ~(uint64_t)X86_RFLAGS_IF;
	assert_int_equal(rendezvous_start(f->r->d, NULL), 0);
	rig_plant(f->r, READER, READ_8);
	rig_plant(f->r, WRITER, WRITE_8);
	rig_plant(f->r, OTHER, READ_8);
	f->reader = rig_regs(f->r, 0, READER);
	f->writer = f->r->ft->peek[1];
	assert_int_equal(rig_hit(f->r, 0, &f->reader).kind, TARGET_HOLD);
	action = rig_hit(f->r, 1, &f->writer);
	assert_int_equal(action.kind, TARGET_HOLD);
	assert_in_range(action.hold_ns, 1, 10000000);
	check_too_late(f, 1);

	pthread_mutex_lock(&f->r->d->lock);
	assert_true(f->r->d->hit.irqs_off_rendezvous_rest > 0);
	f->r->d->hit.irqs_off_rendezvous_rest = monotonic_ns() + 600000000000u;
	pthread_mutex_unlock(&f->r->d->lock);
	rig_plant(f->r, READER, READ_8);
	rig_plant(f->r, WRITER, WRITE_8);
	assert_int_equal(rig_hit(f->r, 0, &f->reader).kind, TARGET_HOLD);
	again = f->writer;
	assert_int_equal(rig_hit(f->r, 1, &again).kind, TARGET_RESUME);
	assert_int_equal(f->asked, 1);
}

/* While both CPUs are held, a third one comes to the instruction of one of them, with other data. */
static struct target_action third_comes(struct fixture *f, uint64_t at)
{
	struct x86_regs third;

	f->slow = true;
	assert_int_equal(come_together(f).kind, TARGET_HOLD);
	third = rig_regs(f->r, 2, at);
	third.gpr[X86_RDI] += 0x400;
	return rig_hit(f->r, 2, &third);
}

/* Its access is emulated, and the rendezvous takes place. */
static void test_another_context_at_the_first(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(third_comes(f, READER).kind, TARGET_RESUME_REGS);
	assert_int_equal(rig_text_byte(f->r, READER), X86_INT3);
	sem_post(&f->may_stand);
	wait_over(f);
	assert_int_equal(f->taken, 1);
	assert_both_gone(f);
}

/* Its access cannot be emulated, and the rendezvous is given up. */
static void test_another_context_at_the_second(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(third_comes(f, WRITER).kind, TARGET_RESUME);
	assert_int_not_equal(rig_text_byte(f->r, WRITER), X86_INT3);
	sem_post(&f->may_stand);
	assert_skipped(f);
}

/* Two CPUs at one instruction: a race of a site with itself. */
static void test_one_site(void **state)
{
	struct fixture *f = *state;
	struct x86_regs one, other;

	rig_remake(f->r);
	assert_int_equal(rendezvous_start(f->r->d, NULL), 0);
	rig_plant(f->r, WRITER, WRITE_8);
	rig_plant(f->r, OTHER, READ_8);
	f->r->ft->peek[0] = one = f->reader = rig_regs(f->r, 0, WRITER);
	f->r->ft->peek[1] = other = f->writer = rig_regs(f->r, 1, WRITER);
	assert_int_equal(rig_hit(f->r, 0, &one).kind, TARGET_HOLD);
	assert_int_equal(rig_hit(f->r, 1, &other).kind, TARGET_HOLD);
	wait_over(f);
	assert_int_equal(f->taken, 1);
	assert_int_equal(f->rendezvous.point_count, 2);
	assert_both_gone(f);
}

/* The detector ends while a rendezvous is under way: both CPUs go on, and no INT3 is left. */
static void test_ends_in_a_rendezvous(void **state)
{
	struct fixture *f = *state;

	f->slow = true;
	assert_int_equal(come_together(f).kind, TARGET_HOLD);
	f->slow = false;
	sem_post(&f->may_stand);
	rendezvous_stop(f->r->d);
	detect_stop(f->r->d);
	assert_int_equal(rig_int3s(f->r, 0, RIG_TEXT_SIZE), 0);
	assert_int_equal(rig_open_windows(f->r), 0);
	assert_int_equal(rig_hold_end(f->r, 0, &f->reader).kind, TARGET_RESUME);
	assert_int_equal(rig_hold_end(f->r, 1, &f->writer).kind, TARGET_RESUME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_takes_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_wanted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_costly_target, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpu_has_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_window_in_a_rendezvous, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_irqs_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_context_at_the_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_context_at_the_second, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_site, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends_in_a_rendezvous, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
