// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a campaign learns from its runs. The weights follow the rule. In made-up kernels, where the test knows the chances of
 * every site, runs that learn find more pairs than runs that choose uniformly, with the same number of hits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/campaign/learn/weights.h"
#include "hv/report/coverage/prefer_json.h"

static char path[] = "/tmp/outrider-test-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static struct prefer *written(struct weights *w, const char *build_id)
{
	struct err err = {0};
	struct prefer *p;

	assert_int_equal(weights_write(w, build_id, path, &err), 0);
	p = prefer_load(path, &err);
	if (!p)
		fail_msg("%s", err.text);
	return p;
}

static uint32_t weight_of(const struct prefer *p, const char *function, uint32_t offset)
{
	struct prefer_weights w = prefer_find(p, function);

	return prefer_weight(&w, offset);
}

static void site(struct weights *w, const char *name, uint64_t armed, uint64_t hits, uint64_t windows, uint64_t conflicts)
{
	const struct weights_site s = {name, armed, hits, windows, conflicts, 0};

	assert_int_equal(weights_add_site(w, &s), 0);
}

/* ---- the rule ---- */

static void weights_are_as_the_rule_says(void **state)
{
	struct weights *w = weights_new();
	struct prefer *p;

	(void)state;
	assert_non_null(w);
	for (unsigned i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "usual%u+0x0", i);
		site(w, name, 3, 1, i % 2, i % 100 == 1);
	}
	site(w, "racy+0x0", 4, 4, 4, 3);
	site(w, "racy+0x8", 1, 0, 0, 0);
	site(w, "quiet+0x0", 40, 40, 40, 0);
	site(w, "stack+0x0", 10, 10, 0, 0);
	site(w, "idle+0x0", 30, 0, 0, 0);
	site(w, "idle+0x4", 30, 0, 0, 0);
	site(w, "busy+0x0", 9, 9, 5, 0);
	site(w, "busy+0x4", 1, 0, 0, 0);
	for (unsigned i = 1; i <= 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "x+0x%x", i);
		weights_add_pair(w, "racy+0x0", name);
	}
	p = written(w, "3b43fa");
	assert_true(prefer_is_for(p, (const uint8_t *)"\x3b\x43\xfa", 3));
	/* A site that raced weighs most. A site in the same function weighs more than a site without any history. */
	assert_true(weight_of(p, "racy", 0) > 5 * PREFER_ONE);
	assert_true(weight_of(p, "racy", 4) > PREFER_ONE);
	assert_int_equal(weight_of(p, "never_seen", 0), PREFER_ONE);
	/* A low weight, but not 0: windows without a conflict, memory that cannot be watched, points without a hit. */
	assert_in_range(weight_of(p, "quiet", 0), 1, PREFER_ONE / 3);
	assert_in_range(weight_of(p, "stack", 0), 1, PREFER_ONE / 3);
	assert_in_range(weight_of(p, "idle", 0), 1, PREFER_ONE / 3);
	/* A site near sites that were hit is likelier to be hit than a site near sites that never were. */
	assert_true(weight_of(p, "busy", 8) > weight_of(p, "idle", 8));
	prefer_free(p);
	weights_free(w);
}

/*
 * A site whose memory another CPU was seen to touch weighs more than a site with the same counts, and less the more of its
 * windows had no conflict. The kernel's other counts do not change.
 */
static void sites_that_talk_are_worth_more(void **state)
{
	struct weights *w = weights_new();
	const struct weights_site talks = {"talks+0x0", 3, 3, 2, 0, 2}, exhausted = {"exhausted+0x0", 300, 300, 300, 0, 150};
	struct prefer *p;

	(void)state;
	assert_non_null(w);
	for (unsigned i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "usual%u+0x0", i);
		site(w, name, 3, 3, 2, i % 100 == 1);
	}
	assert_int_equal(weights_add_site(w, &talks), 0);
	assert_int_equal(weights_add_site(w, &exhausted), 0);
	p = written(w, "");
	assert_true(weight_of(p, "talks", 0) > 3 * weight_of(p, "usual2", 0));
	assert_true(weight_of(p, "exhausted", 0) < weight_of(p, "talks", 0) / 10);
	prefer_free(p);
	weights_free(w);
}

/* A site that shows only known pairs weighs less than a site that shows a new pair each time. */
static void saturated_sites_are_worth_less(void **state)
{
	struct weights *w = weights_new();
	struct prefer *p;
	char name[32];

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "usual%u+0x0", i);
		site(w, name, 10, 3, 2, 0);
	}
	site(w, "known+0x0", 100, 100, 100, 20);
	site(w, "rich+0x0", 100, 100, 100, 20);
	weights_add_pair(w, "known+0x0", "x+0x1");
	for (unsigned i = 0; i < 18; i++) {
		snprintf(name, sizeof(name), "x+0x%x", 1 + i);
		weights_add_pair(w, i % 2 ? "rich+0x0" : name, i % 2 ? name : "rich+0x0");
	}
	weights_add_pair(w, "unknown", "virtio-blk:read"); /* neither name is a site that can be armed */
	p = written(w, "");
	assert_true(weight_of(p, "rich", 0) > 3 * weight_of(p, "known", 0));
	prefer_free(p);
	weights_free(w);
}

static void file_that_cannot_be_written(void **state)
{
	struct weights *w = weights_new();
	struct err err = {0};

	(void)state;
	site(w, "f+0x0", 1, 1, 1, 1);
	site(w, "not a site", 1, 1, 1, 1);
	assert_int_equal(weights_write(w, "", "/nowhere/prefer.json", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_string_equal(err.text, "cannot write /nowhere/prefer.json: No such file or directory");
	weights_free(w);
}

static void names_are_escaped(void **state)
{
	struct weights *w = weights_new();
	struct prefer *p;

	(void)state;
	site(w, "m:f\\x22\"+0x10", 1, 0, 0, 0);
	p = written(w, "");
	assert_int_not_equal(weight_of(p, "m:f\\x22\"", 0x10), PREFER_ONE);
	prefer_free(p);
	weights_free(w);
}

/* ---- made-up kernels ---- */

#define FUNCTIONS 2500u
#define EACH 20u
#define SITES (FUNCTIONS * EACH)
#define PARTNERS 24u
#define HITS 1500u
#define ROUNDS 4u

struct world {
	/* The chances of each site: that its sample point is hit before another point takes its place, that its memory can be
	 * watched, and that another CPU makes a conflicting access in the window. */
	double passed[SITES], watched[SITES], conflict[SITES];
	bool seen[SITES][PARTNERS];
	unsigned runs[SITES][PARTNERS];
	unsigned pairs;
};

static double unit(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) / 9007199254740992.0;
}

/*
 * One function in ten runs. A third of its sites access the stack, which cannot be watched. One function in twelve uses shared
 * data: there every site has conflicts, in 1% to 20% of its windows. In the other functions one site in 150 has.
 */
static void make_world(struct world *world, uint64_t seed)
{
	struct rng rng = {.state = seed};

	memset(world, 0, sizeof(*world));
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		bool runs = rng_below(&rng, 10) == 0, shared = rng_below(&rng, 12) == 0;

		for (unsigned i = f * EACH; i < (f + 1) * EACH; i++) {
			bool reached = rng_below(&rng, 2) == 0, races = shared || rng_below(&rng, 150) == 0;

			world->passed[i] = runs && reached ? 0.1 + 0.9 * unit(&rng) : 0;
			world->watched[i] = rng_below(&rng, 3) == 0 ? 0 : 1;
			world->conflict[i] = races ? 0.01 + 0.19 * unit(&rng) : 0;
		}
	}
}

/* The other side of a conflict. Partners with low numbers are far more frequent: the product of three fractions is small. */
static unsigned partner(struct rng *rng)
{
	return (unsigned)(PARTNERS * unit(rng) * unit(rng) * unit(rng));
}

struct run {
	uint64_t armed[SITES], hits[SITES], windows[SITES], conflicts[SITES];
	bool seen[SITES][PARTNERS];
};

static void point_at(struct world *world, struct run *run, struct rng *rng, unsigned i, unsigned *hits)
{
	unsigned other;

	run->armed[i]++;
	if (unit(rng) >= world->passed[i])
		return;
	run->hits[i]++;
	++*hits;
	if (unit(rng) >= world->watched[i])
		return;
	run->windows[i]++;
	if (unit(rng) >= world->conflict[i])
		return;
	run->conflicts[i]++;
	other = partner(rng);
	world->pairs += !world->seen[i][other];
	world->seen[i][other] = true;
	run->seen[i][other] = true;
}

/* A run that chooses sites by the weights of `p` (NULL: uniformly). It ends after HITS hits, or after 20 * HITS points. */
static void run_once(struct world *world, struct run *run, struct rng *rng, const struct prefer *p)
{
	static double before[SITES + 1];
	unsigned hits = 0;
	char name[16];

	for (unsigned i = 0; i < SITES; i++) {
		snprintf(name, sizeof(name), "f%u", i / EACH);
		before[i + 1] = before[i] + (p ? weight_of(p, name, i % EACH) : 1);
	}
	memset(run, 0, sizeof(*run));
	for (unsigned n = 0; hits < HITS && n < 20 * HITS; n++) {
		double at = before[SITES] * unit(rng);
		unsigned low = 0, high = SITES;

		while (high - low > 1) {
			unsigned mid = (low + high) / 2;

			if (before[mid] <= at)
				low = mid;
			else
				high = mid;
		}
		point_at(world, run, rng, low, &hits);
	}
	for (unsigned i = 0; i < SITES; i++) {
		for (unsigned n = 0; n < PARTNERS; n++)
			world->runs[i][n] += run->seen[i][n];
	}
}

static void add_run(struct run *sum, const struct run *run)
{
	for (unsigned i = 0; i < SITES; i++) {
		sum->armed[i] += run->armed[i];
		sum->hits[i] += run->hits[i];
		sum->windows[i] += run->windows[i];
		sum->conflicts[i] += run->conflicts[i];
	}
}

/* The weights that a campaign learns from all runs so far. */
static struct prefer *learnt(const struct world *world, const struct run *sum)
{
	struct weights *w = weights_new();
	char name[32], other[32];
	struct prefer *p;

	for (unsigned i = 0; i < SITES; i++) {
		snprintf(name, sizeof(name), "f%u+0x%x", i / EACH, i % EACH);
		if (sum->armed[i])
			site(w, name, sum->armed[i], sum->hits[i], sum->windows[i], sum->conflicts[i]);
		for (unsigned n = 0; n < PARTNERS; n++) {
			snprintf(other, sizeof(other), "other+0x%x", n);
			if (world->runs[i][n])
				weights_add_pair(w, name, other);
		}
	}
	p = written(w, "");
	weights_free(w);
	return p;
}

/* Number of pairs that four runs find together. */
static unsigned pairs_of_four_runs(uint64_t seed, bool learns)
{
	struct world *world = malloc(sizeof(*world));
	struct run *run = malloc(sizeof(*run)), *sum = calloc(1, sizeof(*sum));
	struct rng rng = {.state = seed * 77 + 1};
	struct prefer *p = NULL;
	unsigned pairs;

	assert_non_null(world);
	assert_non_null(run);
	assert_non_null(sum);
	make_world(world, seed);
	for (unsigned round = 0; round < ROUNDS; round++) {
		run_once(world, run, &rng, p);
		prefer_free(p);
		add_run(sum, run);
		p = learns ? learnt(world, sum) : NULL;
		print_message("# world %u %s, after %u runs: %u pairs\n", (unsigned)seed, learns ? "learning" : "uniform",
			      round + 1, world->pairs);
	}
	pairs = world->pairs;
	prefer_free(p);
	free(world);
	free(run);
	free(sum);
	return pairs;
}

static void learning_finds_more(void **state)
{
	unsigned uniform = 0, learning = 0, better = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		unsigned one = pairs_of_four_runs(seed, false), other = pairs_of_four_runs(seed, true);

		uniform += one;
		learning += other;
		better += other > one;
	}
	print_message("# six worlds: %u pairs uniformly, %u learning\n", uniform, learning);
	assert_int_equal(better, 6);
	assert_true(learning > uniform * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_as_the_rule_says),
		cmocka_unit_test(sites_that_talk_are_worth_more),
		cmocka_unit_test(saturated_sites_are_worth_less),
		cmocka_unit_test(file_that_cannot_be_written),
		cmocka_unit_test(names_are_escaped),
		cmocka_unit_test(learning_finds_more),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
