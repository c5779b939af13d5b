/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate control reaches the requested hit rate in a guest that runs little of the pool. The test is the sampler's thread and the
 * guest, and sets the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/pool.h"
#include "hv/detect/window/window.h"
#include "tests/unit/detect/sampler_rig.h"

#define SITE_LEN 3u
#define RUN_SITES 20u
#define SITES (RIG_TEXT_SIZE / SITE_LEN)
#define FUNCTION_SITES 100u
#define RATE 1000u
#define POINTS 200u
#define MANY_POINTS (SITES / 2)
/* Some room is left to points that are not chosen uniformly. */
#define NEARLY_ALL (MANY_POINTS / 16 * 13)
#define LOOK_TICKS 25u
/* For how long one step of rate control arms points, in ns (rate.c). */
#define ARM_NS 50000000u

/* "run" of RUN_SITES sites, and after it functions that no CPU runs. */
static int setup(void **state)
{
	static struct symbol functions[1 + SITES / FUNCTION_SITES];
	uint64_t at = RUN_SITES * SITE_LEN;
	struct sampler_rig *f;
	size_t n = 1;

	if (sampler_rig_setup(state, RATE, false) < 0)
		return -1;
	f = *state;
	for (unsigned i = 0; i < SITES; i++)
		rig_code(f->r, i * SITE_LEN, READ_8);
	functions[0] = (struct symbol){.name = "run", .addr = RIG_TEXT, .size = at, .type = 't'};
	for (; at + FUNCTION_SITES * SITE_LEN <= RIG_TEXT_SIZE; at += FUNCTION_SITES * SITE_LEN)
		functions[n++] =
			(struct symbol){.name = "idle", .addr = RIG_TEXT + at, .size = FUNCTION_SITES * SITE_LEN, .type = 't'};
	rig_functions(f->r, functions, n);
	return 0;
}

static void begin(struct sampler_rig *f)
{
	assert_true(sampler_rig_begin(f) > 0);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * The offsets of those of the first `n` sites that are armed, in the order in which a CPU comes by them. To ask for a point at
 * each of the sites took most of this test's time.
 */
static unsigned armed_sites(struct sampler_rig *f, unsigned n, uint64_t offsets[SITES])
{
	unsigned all = (unsigned)rig_stats(f->r).armed, found = 0;

	assert_true(all <= SITES);
	rig_armed(f->r, offsets, all);
	for (unsigned i = 0; i < all; i++) {
		uint64_t offset = offsets[i] - RIG_TEXT;

		if (offset < n * SITE_LEN)
			offsets[found++] = offset;
	}
	qsort(offsets, found, sizeof(*offsets), compare);
	return found;
}

/* The guest comes by the first `n` sites once. What they access is on its stack, so no window opens. */
static void run_guest(struct sampler_rig *f, unsigned n)
{
	uint64_t offsets[SITES];
	unsigned count = armed_sites(f, n, offsets);

	for (unsigned i = 0; i < count; i++) {
		struct x86_regs regs;

		if (!rig_has_point(f->r, offsets[i]))
			continue;
		regs = rig_regs(f->r, 0, offsets[i]);
		regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x40;
		assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_RESUME);
		f->hits++;
	}
}

static void tick(struct sampler_rig *f, unsigned n_sites)
{
	sampler_rig_tick(f);
	run_guest(f, n_sites);
}

/*
 * One function in a thousand runs, and one site in a hundred can be armed. Chosen uniformly, a point would be passed every
 * other second.
 */
static void what_runs_is_sampled_again(void **state)
{
	struct sampler_rig *f = *state;
	struct detect_stats stats;
	unsigned ticks = 0;

	f->r->ft->target.caps.points = POINTS;
	begin(f);
	while (f->hits < RATE && ticks++ < 100 * 100)
		tick(f, RUN_SITES);
	print_message("# %u hits in %u ticks of 10 ms\n", f->hits, ticks);
	assert_true(f->hits >= RATE);
	/* From then on it is half the rate at least. */
	f->hits = 0;
	for (unsigned i = 0; i < 400; i++)
		tick(f, RUN_SITES);
	assert_true(f->hits >= RATE * 4 / 2);
	assert_true(f->hits <= RATE * 4 * 3 / 2);

	print_message("# then %u hits in 400 ticks\n", f->hits);
	/* What does not run still has its turn. */
	stats = rig_stats(f->r);
	assert_int_equal(stats.armed_most, POINTS);
	assert_int_equal(stats.executed, stats.hits);
	assert_true(stats.planted >= stats.executed + stats.stale);
	assert_true(stats.stale > POINTS);
	assert_true(stats.arming_ns > 0);
	assert_int_equal(stats.asked_rate, RATE);
}

/* On a host where stops take long the guest keeps most of its time, whatever rate was asked for. */
static void guest_keeps_its_time(void **state)
{
	struct sampler_rig *f = *state;
	unsigned ticks = 0, unhindered;

	f->r->ft->target.caps.points = POINTS;
	begin(f);
	while (f->hits < RATE && ticks++ < 100 * 100)
		tick(f, RUN_SITES);
	f->hits = 0;
	for (unsigned i = 0; i < 400; i++)
		tick(f, RUN_SITES);
	unhindered = f->hits;
	assert_true(f->control.again > 0);
	/* Each hit now takes 2 ms, so that half the rate would take half of the time of both CPUs. */
	for (unsigned i = 0; i < 800; i++) {
		unsigned before = f->hits;

		if (i == 400)
			f->hits = before = 0;
		tick(f, RUN_SITES);
		f->r->ft->stopped_ns += (f->hits - before) * 2000000ull;
	}
	print_message("# %u hits in 400 ticks where stops cost nothing, %u where they take 2 ms\n", unhindered, f->hits);
	assert_true(f->hits * 3 < unhindered);
}

/* Where uniformly chosen points are passed often enough, all are chosen so. */
static void choice_stays_uniform_where_that_is_enough(void **state)
{
	struct sampler_rig *f = *state;
	bool cut_off = false;

	begin(f);
	for (unsigned i = 0; i < 400; i++) {
		uint64_t began = monotonic_ns();

		tick(f, SITES);
		/* On a busy machine, this thread may get no time within the 50 ms in which a step arms, which then arms too
		 * few. */
		cut_off = cut_off || monotonic_ns() - began >= ARM_NS;
		assert_true(f->control.again == 0 || cut_off);
	}
	assert_true(f->hits >= RATE * 4 * 8 / 10);
}

/* The guest comes by a site. Returns whether a window opened, and ends it. */
static bool come_by(struct sampler_rig *f, unsigned site, bool on_stack)
{
	struct x86_regs regs = rig_regs(f->r, 0, site * SITE_LEN);
	bool held;

	if (on_stack)
		regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x40;
	held = rig_hit(f->r, 0, &regs).kind == TARGET_HOLD;
	while (rig_window_is_open(f->r, 0))
		rig_hold_end(f->r, 0, &regs);
	f->hits++;
	return held;
}

/* Two functions run. The accesses of one function are to the stack. Most points go to the other function, where windows can
 * open. */
static void points_go_where_windows_open(void **state)
{
	struct sampler_rig *f = *state;
	unsigned windows = 0, misses = 0;

	begin(f);
	while (f->hits < 4 * RATE) {
		sampler_rig_tick(f);
		for (unsigned i = RUN_SITES; i < RUN_SITES + 2 * FUNCTION_SITES; i++) {
			bool on_stack = i < RUN_SITES + FUNCTION_SITES;

			if (!rig_has_point(f->r, i * SITE_LEN))
				continue;
			assert_int_equal(come_by(f, i, on_stack), !on_stack);
			windows += !on_stack;
			misses += on_stack;
		}
	}
	print_message("# %u hits with a window, %u without\n", windows, misses);
	assert_true(2 * windows > 3 * misses);
	assert_true(misses > 0);
	assert_true(rig_stats(f->r).passed_over > 0);
}

/*
 * While fewer points are armed than may be, rate control disarms no unhit point. Its room is not needed, since planting is what
 * takes time.
 */
static void no_point_is_taken_out_for_nothing(void **state)
{
	struct sampler_rig *f = *state;
	uint32_t armed = 0;

	f->r->ft->target.caps.points = MANY_POINTS;
	begin(f);
	for (unsigned i = 0; armed < NEARLY_ALL; i++) {
		assert_true(i < 100 * 100);
		tick(f, 0);
		armed = (uint32_t)rig_stats(f->r).armed;
		/* As if planting was slow: one look at the rate, and then many, see what little there is. */
		for (unsigned look = 0; look < 4; look++) {
			double budget = f->control.budget;

			f->now += LOOK_TICKS * TICK_NS;
			f->control.budget = -1e9;
			rate_step(f->r->d, &f->control, f->now);
			f->control.budget = budget;
		}
		assert_true(armed >= NEARLY_ALL || f->control.stale == 0);
	}
}

/*
 * Where all sites may be armed at a time, all are, and those that no CPU has come by so far are not left out for those that the
 * guest runs: some of them may be what it runs next.
 */
static void all_are_armed_that_may_be(void **state)
{
	struct sampler_rig *f = *state;
	unsigned few = RUN_SITES + 4 * FUNCTION_SITES;

	assert_true(pool_add(f->r->d->sampler.pool, f, f->r->guest.symtab, RIG_TEXT, RIG_TEXT + few * SITE_LEN, NULL) > 0);
	rate_init(f->r->d, &f->control);
	/* As if planting was slow, and the rate had been looked at before all were planted. */
	f->control.again = 32;
	for (unsigned i = 0; i < 400; i++)
		tick(f, RUN_SITES / 4);
	assert_true(f->control.again > 0);
	for (unsigned i = RUN_SITES / 4; i < few; i++)
		assert_true(rig_has_point(f->r, i * SITE_LEN));
}

static unsigned pages_with_points(struct rig *r)
{
	bool has[RIG_TEXT_SIZE / X86_PAGE_SIZE + 1] = {false};
	unsigned n = 0;

	for (unsigned i = 0; i < SITES; i++) {
		bool *page = &has[i * SITE_LEN / X86_PAGE_SIZE];

		if (rig_has_point(r, i * SITE_LEN) && !*page) {
			*page = true;
			n++;
		}
	}
	return n;
}

/* On a target with few pages, many points share a page, and pages that no CPU runs make room for others. */
static void few_pages_take_turns(void **state)
{
	struct sampler_rig *f = *state;
	bool seen[RIG_TEXT_SIZE / X86_PAGE_SIZE + 1] = {false};
	unsigned pages = 0, most = 0;

	f->r->ft->target.caps.points = POINTS;
	f->r->ft->target.caps.pages = 2;
	begin(f);
	for (unsigned i = 0; i < 100 * 1000 && (pages < RIG_TEXT_SIZE / X86_PAGE_SIZE || !f->hits); i++) {
		tick(f, RUN_SITES);
		assert_in_range(pages_with_points(f->r), 0, 2);
		most = rig_stats(f->r).armed > most ? (unsigned)rig_stats(f->r).armed : most;
		for (unsigned s = 0; s < SITES; s++) {
			bool *page = &seen[s * SITE_LEN / X86_PAGE_SIZE];

			if (!*page && rig_has_point(f->r, s * SITE_LEN)) {
				*page = true;
				pages++;
			}
		}
	}
	print_message("# %u points at a time, on %u pages in turn\n", most, pages);
	assert_true(most > 20);
	assert_int_equal(pages, RIG_TEXT_SIZE / X86_PAGE_SIZE);
	assert_true(f->hits > 0);
}

/* What the points that were armed meanwhile cost, when all of them are run into at once. */
#define STOP_NS 500000u
#define WINDOW_NS 4000000u

/*
 * The guest runs some sites, and each hit has its cost: a window's, if there is credit for one. In one tick both CPUs lose what
 * there is at most. Returns the time lost.
 */
static uint64_t run_at_a_cost(struct sampler_rig *f, unsigned n_sites)
{
	uint64_t lost = 0, offsets[SITES];
	unsigned count = armed_sites(f, n_sites, offsets);

	for (unsigned i = 0; i < count && lost < 2 * TICK_NS; i++) {
		struct x86_regs regs;
		bool affordable = window_affordable(f->r->d);

		if (!rig_has_point(f->r, offsets[i]))
			continue;
		regs = rig_regs(f->r, 0, offsets[i]);
		regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x40;
		assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_RESUME);
		f->hits++;
		lost += affordable ? WINDOW_NS : STOP_NS;
		/* The access is to the stack, for which no window opens that would take the credit. */
		f->r->d->hit.credit_ns -= affordable ? WINDOW_NS : 0;
	}
	f->r->ft->lost_ns += lost;
	return lost;
}

static double share_lost(struct sampler_rig *f, unsigned ticks, unsigned n_sites)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < ticks; i++) {
		sampler_rig_tick(f);
		lost += run_at_a_cost(f, n_sites);
	}
	return (double)lost / ((double)ticks * TICK_NS * 2);
}

/*
 * The rate follows the cost, and the number of points follows the rate: on a guest that runs all it has, on one that runs
 * little, and after one was idle, when far too much is armed.
 */
static void cost_is_held(void **state)
{
	static const double asked[] = {0.05, 0.2};
	struct sampler_rig *f = *state;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		double busy, first, again;

		f->r->config.rate = 1000000;
		f->r->config.overhead = asked[i];
		f->r->config.delay_ns = WINDOW_NS;
		f->r->ft->lost_ns = 0;
		rig_remake(f->r);
		begin(f);
		share_lost(f, 2000, SITES);
		busy = share_lost(f, 6000, SITES);
		share_lost(f, 6000, 0); /* idle */
		first = share_lost(f, 1000, SITES);
		again = share_lost(f, 6000, SITES);
		print_message("# asked %.3f: %.4f busy, %.4f in the first 10 s after an idle minute, then %.4f\n", asked[i],
			      busy, first, again);
		assert_true(busy > 0.9 * asked[i] && busy < 1.1 * asked[i]);
		/* A second's worth was saved up. */
		assert_true(first < 1.3 * asked[i]);
		assert_true(again > 0.9 * asked[i] && again < 1.1 * asked[i]);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, sampler_rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_runs_is_sampled_again),
		TEST(guest_keeps_its_time),
		TEST(choice_stays_uniform_where_that_is_enough),
		TEST(points_go_where_windows_open),
		TEST(no_point_is_taken_out_for_nothing),
		TEST(all_are_armed_that_may_be),
		TEST(few_pages_take_turns),
		TEST(cost_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
