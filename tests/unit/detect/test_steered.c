/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steered points, on the detector with a fake machine: new text shows which functions run, functions that run get points at all
 * their sites, sites of two CPUs on one word get more, known races fewer, and half of the hits stay with chance. The test is
 * the sampler's thread and the guest, and sets the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/arm.h"
#include "tests/unit/detect/sampler_rig.h"

#define SITE_LEN 3u
#define FUNCTION_SITES 8u
#define FUNCTION_SIZE (SITE_LEN * FUNCTION_SITES)
#define FUNCTIONS 64u
#define RATE 200u

/* FUNCTIONS functions, in each of which the even sites read and the odd sites write. */
static int setup(void **state)
{
	static struct symbol functions[FUNCTIONS];
	struct sampler_rig *f;

	if (sampler_rig_setup(state, RATE, false) < 0)
		return -1;
	f = *state;
	for (unsigned i = 0; i < FUNCTIONS * FUNCTION_SITES; i++) {
		if (i % 2)
			rig_code(f->r, i * SITE_LEN, WRITE_8);
		else
			rig_code(f->r, i * SITE_LEN, READ_8);
	}
	for (unsigned i = 0; i < FUNCTIONS; i++)
		functions[i] =
			(struct symbol){.name = "fn", .addr = RIG_TEXT + i * FUNCTION_SIZE, .size = FUNCTION_SIZE, .type = 't'};
	rig_functions(f->r, functions, FUNCTIONS);
	assert_int_equal(sampler_rig_begin(f), FUNCTIONS);
	return 0;
}

/* Let `ns` pass for the sampler, without a hit, and have it arm steered points only. Returns the number of armed points. */
static uint32_t steer(struct sampler_rig *f, uint64_t ns)
{
	uint32_t armed;

	f->now += ns;
	target_enter(f->r->d->target);
	steered_refill(f->r->d, &f->control.steering, RATE, (double)ns / 1e9, f->now);
	armed = steered_arm(f->r->d, &f->control.steering, 400, true, f->now);
	target_leave(f->r->d->target);
	return armed;
}

static uint64_t offset(unsigned function, unsigned site)
{
	return function * FUNCTION_SIZE + site * SITE_LEN;
}

/* `cpu` comes by the site, and accesses RIG_DATA + `data`. Its window, if there is one, ends without a conflict. */
static void run_site(struct sampler_rig *f, unsigned function, unsigned site, unsigned cpu, uint64_t data)
{
	struct x86_regs regs = rig_regs(f->r, cpu, offset(function, site));
	const struct hit_path *hit = &f->r->d->hit;

	if (!rig_has_point(f->r, offset(function, site)))
		return;
	regs.gpr[X86_RDI] = RIG_DATA + data;
	rig_hit(f->r, cpu, &regs);
	while (rig_window_is_open(f->r, cpu))
		rig_hold_end(f->r, cpu, &regs);
	steered_learn(f->r->d, &f->control.steering, &hit->executed[(f->r->d->stats.executed - 1) % EXECUTED_KEPT], f->now);
	f->hits++;
}

/* Let time pass for the sampler as steer() does, until it arms nothing, but for less than TALK_WAIT_NS. */
static void steer_on(struct sampler_rig *f)
{
	for (unsigned i = 0; i < TALK_WAIT_NS / TICK_NS - 1; i++)
		steer(f, TICK_NS);
}

/* Let time pass, in which no CPU runs, until every site had its tries. Returns a bit mask of the sites of the function that had
 * a point meanwhile. */
static unsigned steer_to_the_end(struct sampler_rig *f, unsigned function)
{
	unsigned seen = 0;

	for (unsigned tick = 0; tick < FUNCTION_SITES * TALKER_TRIES * TALK_WAIT_NS / TICK_NS / 2; tick++) {
		steer(f, TICK_NS);
		for (unsigned i = 0; i < FUNCTION_SITES; i++)
			seen |= (unsigned)rig_has_point(f->r, offset(function, i)) << i;
	}
	return seen;
}

/* Returns how many sites of the function have a point. */
static unsigned points_in(struct sampler_rig *f, unsigned function)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FUNCTION_SITES; i++)
		n += rig_has_point(f->r, offset(function, i));
	return n;
}

static void arm_all_first_sites(struct sampler_rig *f)
{
	while (rig_stats(f->r).armed < FUNCTIONS)
		assert_true(steer(f, TICK_NS) > 0);
}

static void test_new_text_gets_a_point_a_function(void **state)
{
	struct sampler_rig *f = *state;

	arm_all_first_sites(f);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		assert_true(rig_has_point(f->r, offset(i, 0)));
		assert_int_equal(points_in(f, i), 1);
	}
	/* They wait there, however long no CPU comes. */
	assert_int_equal(steer(f, 100 * TALK_WAIT_NS), 0);
	assert_int_equal(rig_stats(f->r).armed, FUNCTIONS);
	assert_int_equal(rig_stats(f->r).steered_first, FUNCTIONS);
}

static void test_a_function_that_runs_gets_points_at_all_sites(void **state)
{
	struct sampler_rig *f = *state;

	arm_all_first_sites(f);
	run_site(f, 7, 0, 0, 0);
	steer_on(f);
	/* Some at a time, so that a CPU does not stop at all sites of a path. */
	assert_int_equal(points_in(f, 7), 4);
	assert_int_equal(points_in(f, 8), 1);
	/* No CPU comes: the points are disarmed, armed again TALK_TRIES times in all, and then no more. */
	assert_int_equal(steer_to_the_end(f, 7), (1u << FUNCTION_SITES) - 1);
	assert_int_equal(points_in(f, 7), 0);
	assert_int_equal(rig_stats(f->r).armed, FUNCTIONS - 1);
}

/* Let the sites of function 3 be hit as long as points are armed there. Returns the hits. */
static unsigned run_function(struct sampler_rig *f, uint64_t data_step, unsigned cpus)
{
	unsigned idle = 0;

	f->hits = 0;
	while (idle < 20) {
		unsigned before = f->hits;

		steer(f, TICK_NS);
		for (unsigned i = 0; i < FUNCTION_SITES; i++)
			run_site(f, 3, i, i % cpus, i * data_step);
		idle = f->hits == before ? idle + 1 : 0;
	}
	return f->hits;
}

static void test_sites_that_talk_get_more_tries(void **state)
{
	struct sampler_rig *f = *state;
	unsigned alone, one_cpu;

	arm_all_first_sites(f);
	one_cpu = run_function(f, 0, 1);
	assert_int_equal(one_cpu, FUNCTION_SITES * TALK_TRIES);
	assert_int_equal(rig_stats(f->r).talks, 0);
	f->control.steering.talkers = (struct talkers){0};
	steered_learn(f->r->d, &f->control.steering, &(struct executed_point){.addr = RIG_TEXT + offset(3, 0)}, f->now);
	alone = run_function(f, 64, 2);
	assert_in_range(alone, FUNCTION_SITES * TALK_TRIES - 1, FUNCTION_SITES * TALK_TRIES);
	assert_int_equal(rig_stats(f->r).talks, 0);
	f->control.steering.talkers = (struct talkers){0};
	steered_learn(f->r->d, &f->control.steering, &(struct executed_point){.addr = RIG_TEXT + offset(3, 0)}, f->now);
	assert_true(run_function(f, 0, 2) > 3 * alone);
	assert_true(rig_stats(f->r).talks > 0);
	steer(f, TICK_NS);
	assert_in_range(rig_stats(f->r).talking_sites, FUNCTION_SITES - 1, FUNCTION_SITES);
}

/* Both sides of a conflict that the reporter has attributed are news, and the same conflict again and again is not. */
static void test_conflicts_are_news_and_then_not(void **state)
{
	struct sampler_rig *f = *state;
	struct hit_path *hit = &f->r->d->hit;

	for (unsigned i = 0; i < TALK_CONFLICTS; i++) {
		hit->met[hit->met_count++ % MET_KEPT] = (struct met_sites){{RIG_TEXT + offset(5, 2), RIG_TEXT + offset(9, 1)}};
		if (i == 0)
			steer_on(f);
		assert_true(i > 0 || (rig_has_point(f->r, offset(5, 2)) && rig_has_point(f->r, offset(9, 1))));
	}
	steer(f, TALK_WAIT_NS); /* no CPU came: the points are disarmed */
	assert_int_equal(steer_to_the_end(f, 5), ((1u << FUNCTION_SITES) - 1) & ~(1u << 2));
	assert_int_equal(rig_stats(f->r).retired_sites, 2);
	/* A side that is a device or unknown. */
	hit->met[hit->met_count++ % MET_KEPT] = (struct met_sites){{0}};
	steer(f, TICK_NS);
}

/* However much there is to try, steered points get half of the hits that were asked for. */
static void test_half_of_the_hits_are_left_to_chance(void **state)
{
	struct sampler_rig *f = *state;
	const unsigned seconds = 20;
	unsigned hits;

	for (unsigned tick = 0; tick < seconds * 100; tick++) {
		/* Every function runs, and what was tried is forgotten at once: each site is due all the time. */
		f->control.steering.talkers = (struct talkers){0};
		for (unsigned i = 0; i < FUNCTIONS; i++)
			steered_learn(f->r->d, &f->control.steering, &(struct executed_point){.addr = RIG_TEXT + offset(i, 0)},
				      f->now);
		steer(f, TICK_NS);
		for (unsigned i = 0; i < FUNCTIONS * FUNCTION_SITES; i++)
			run_site(f, i / FUNCTION_SITES, i % FUNCTION_SITES, tick % 2, 0);
	}
	hits = (unsigned)rig_stats(f->r).steered_hits;
	print_message("# %u hits at steered points\n", hits);
	assert_int_equal(hits, f->hits);
	assert_in_range(hits, RATE * seconds * 2 / 5, RATE * seconds * 11 / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_text_gets_a_point_a_function, setup, sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(test_a_function_that_runs_gets_points_at_all_sites, setup,
						sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(test_sites_that_talk_get_more_tries, setup, sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(test_conflicts_are_news_and_then_not, setup, sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(test_half_of_the_hits_are_left_to_chance, setup, sampler_rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
