// SPDX-License-Identifier: GPL-2.0-or-later
/* What the detector counts of each site, and which weights of sites it uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/pool.h"
#include "tests/unit/detect/sampler_rig.h"

#define FN 0x100u

/* A function "f" of two sites: a read at its start, and a write after it. */
static int setup(void **state)
{
	static const struct symbol function = {.name = "f", .addr = RIG_TEXT + FN, .size = 6, .type = 't'};
	struct sampler_rig *f;

	if (sampler_rig_setup(state, 1000, true) < 0)
		return -1;
	f = *state;
	rig_code(f->r, FN, READ_8);
	rig_code(f->r, FN + 3, WRITE_8);
	rig_functions(f->r, &function, 1);
	return 0;
}

static void begin(struct sampler_rig *f)
{
	assert_int_equal(sampler_rig_begin(f), 1);
}

/* Let the sampler arm until there is a point at this offset. */
static void arm(struct sampler_rig *f, uint64_t offset)
{
	for (unsigned n = 0; n < 100 && !rig_has_point(f->r, offset); n++)
		sampler_rig_tick(f);
	assert_true(rig_has_point(f->r, offset));
}

static struct coverage_counts counts_at(struct sampler_rig *f, uint32_t offset)
{
	struct coverage_function fn = {0};
	struct coverage_counts counts = {0};
	struct coverage_size size = coverage_size(detect_coverage(f->r->d));

	for (size_t i = 0; coverage_function(detect_coverage(f->r->d), &size, i, &fn) > 0; i++) {
		assert_string_equal(fn.name, "f");
		assert_int_equal(fn.sites, 2);
		for (size_t n = 0; n < fn.count; n++)
			counts = fn.armed[n].offset == offset ? fn.armed[n].counts : counts;
	}
	free(fn.armed);
	return counts;
}

static void assert_counts(struct sampler_rig *f, uint32_t offset, struct coverage_counts expected)
{
	struct coverage_counts counts = counts_at(f, offset);

	assert_memory_equal(&counts, &expected, sizeof(counts));
}

static void counts_of_a_site(void **state)
{
	struct sampler_rig *f = *state;
	struct x86_regs regs;

	begin(f);
	arm(f, FN);
	assert_counts(f, 0, (struct coverage_counts){.armed = 1});

	/* An access to the CPU's own stack is a hit, but opens no window. */
	regs = rig_regs(f->r, 0, FN);
	regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x40;
	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_RESUME);
	assert_counts(f, 0, (struct coverage_counts){.armed = 1, .hits = 1});

	/* A window in which nothing happens. */
	arm(f, FN);
	regs = rig_regs(f->r, 0, FN);
	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_hold_end(f->r, 0, &regs).kind, TARGET_RESUME);
	assert_counts(f, 0, (struct coverage_counts){.armed = 2, .hits = 2, .windows = 1});

	/* The memory has changed when it is over. */
	arm(f, FN);
	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_HOLD);
	rig_store(f->r, 0, "changed", 7);
	rig_hold_end(f->r, 0, &regs);
	rig_hold_end(f->r, 0, &regs);
	assert_counts(f, 0, (struct coverage_counts){.armed = 3, .hits = 3, .windows = 2, .conflicts = 1});
}

/* Another CPU comes by the other site and conflicts: the conflict is counted where the window was. */
static void conflict_of_two_points(void **state)
{
	struct sampler_rig *f = *state;
	struct x86_regs reads, writes;
	struct detect_stats stats;

	begin(f);
	arm(f, FN);
	arm(f, FN + 3);
	reads = rig_regs(f->r, 0, FN);
	writes = rig_regs(f->r, 1, FN + 3);
	assert_int_equal(rig_hit(f->r, 0, &reads).kind, TARGET_HOLD);
	assert_int_equal(rig_hit(f->r, 1, &writes).kind, TARGET_RESUME);
	assert_counts(f, 0, (struct coverage_counts){.armed = 1, .hits = 1, .windows = 1, .conflicts = 1});
	/* CPU 0 has read the word that CPU 1 writes. */
	assert_counts(f, 3, (struct coverage_counts){.armed = 1, .hits = 1, .talks = 1});
	stats = rig_stats(f->r);
	assert_int_equal(stats.hits, 2);
	assert_int_equal(stats.windows, 1);
	assert_int_equal(stats.conflicts, 1);
}

static void nothing_is_kept_unless_asked_for(void **state)
{
	struct sampler_rig *f = *state;
	struct x86_regs regs = rig_regs(f->r, 0, FN);

	f->r->config.coverage = false;
	rig_remake(f->r);
	begin(f);
	arm(f, FN);
	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_HOLD);
	assert_null(detect_coverage(f->r->d));
}

/* How often each of the two sites is chosen in 1000 choices. */
static unsigned choices_of(struct sampler_rig *f, uint64_t offset)
{
	struct rng rng = {.state = 1};
	unsigned n = 0;

	assert_int_equal(pool_add(f->r->d->sampler.pool, f, f->r->guest.symtab, RIG_TEXT, RIG_TEXT + RIG_TEXT_SIZE, NULL), 1);
	for (unsigned i = 0; i < 1000; i++)
		n += pool_choose(f->r->d->sampler.pool, &rng) == RIG_TEXT + FN + offset;
	return n;
}

static void weights_of_sites_are_used(void **state)
{
	struct sampler_rig *f = *state;
	struct prefer *prefer = prefer_new(PREFER_ONE);

	prefer_site(prefer, "f", 3, 99 * PREFER_ONE);
	prefer_ready(prefer);
	f->r->config.prefer = prefer;
	rig_remake(f->r);
	f->r->d->sampler.sites_preferred = true;
	assert_in_range(choices_of(f, 3), 975, 999);
	rig_remake(f->r);
	/* As the sampler leaves it for another build of the kernel. */
	assert_in_range(choices_of(f, 3), 400, 600);
	f->r->config.prefer = NULL;
	rig_remake(f->r);
	prefer_free(prefer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_of_a_site, setup, sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(conflict_of_two_points, setup, sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(nothing_is_kept_unless_asked_for, setup, sampler_rig_teardown),
		cmocka_unit_test_setup_teardown(weights_of_sites_are_used, setup, sampler_rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
