/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With weights each site is chosen as often as its weight says, repeatably; without, the choice is what it always was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/steer/pool.h"

#define TEXT 0xffffffff81000000ull
#define SITE_LEN 2u
#define FUNCTIONS 6u
#define SIZE 0x1000u
#define DRAWS 60000u

/* A kernel of functions of very different sizes and densities: where each is, how many sites it has, and how far apart. */
static const struct {
	const char *name;
	uint32_t at;
	unsigned sites, gap;
} layout[FUNCTIONS] = {
	{"dense", 0x000, 100, 0}, {"sparse", 0x200, 10, 60}, {"lonely", 0x600, 1, 1000},
	{"small", 0xb00, 1, 0},	  {"none", 0xc00, 0, 0},     {"medium", 0xe00, 40, 6},
};

struct kernel {
	uint8_t text[SIZE];
	struct symtab *symtab;
	struct prefer *prefer;
	struct pool *pool;
};

static int code(void *ctx, uint64_t gva, void *buf, size_t len)
{
	const struct kernel *k = ctx;

	memcpy(buf, k->text + (gva - TEXT), len);
	return 0;
}

static bool eligible(void *ctx, const struct symbol *fn)
{
	(void)ctx;
	(void)fn;
	return true;
}

static const char *name_at(uint64_t gva)
{
	const char *name = NULL;

	for (unsigned i = 0; i < FUNCTIONS; i++)
		name = layout[i].at <= gva - TEXT ? layout[i].name : name;
	return name;
}

static struct prefer_weights weights(void *ctx, uint64_t gva)
{
	const struct kernel *k = ctx;

	return prefer_find(k->prefer, name_at(gva));
}

static int setup(void **state)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct symbol functions[FUNCTIONS];

	*state = k;
	if (!k)
		return -1;
	memset(k->text, 0x90, sizeof(k->text));
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		unsigned size = layout[i].sites * (SITE_LEN + layout[i].gap);

		for (unsigned n = 0; n < layout[i].sites; n++)
			memcpy(k->text + layout[i].at + n * (SITE_LEN + layout[i].gap), "\x8a\x07", SITE_LEN);
		functions[i] = (struct symbol){
			.name = layout[i].name, .addr = TEXT + layout[i].at, .size = size ? size : 0x100, .type = 't'};
	}
	k->symtab = symtab_from_array(functions, FUNCTIONS, NULL);
	return k->symtab ? 0 : -1;
}

static int teardown(void **state)
{
	struct kernel *k = *state;

	pool_free(k->pool);
	prefer_free(k->prefer);
	symtab_free(k->symtab);
	free(k);
	return 0;
}

/* A pool with the weights in k->prefer, or without any. */
static void build(struct kernel *k)
{
	const struct pool_source source = {.eligible = eligible, .code = code, .weights = k->prefer ? weights : NULL, .ctx = k};

	pool_free(k->pool);
	k->pool = pool_new(&source, &(struct pool_filter){0});
	assert_non_null(k->pool);
	assert_int_equal(pool_add(k->pool, k, k->symtab, TEXT, TEXT + SIZE, NULL), FUNCTIONS);
}

static bool is_site(const struct kernel *k, unsigned at)
{
	return k->text[at] == 0x8a;
}

/* What the weights say of the site at `at`. */
static double weight_at(const struct kernel *k, unsigned at)
{
	struct prefer_weights w;
	uint32_t start = 0;

	for (unsigned i = 0; i < FUNCTIONS; i++)
		start = layout[i].at <= at ? layout[i].at : start;
	w = prefer_find(k->prefer, name_at(TEXT + at));
	return prefer_weight(&w, at - start);
}

/* Pearson's chi-square of the counts against the weights of the sites below `end`. Sets *sites to how many sites there are. */
static double chi_square(const struct kernel *k, const unsigned count[SIZE], unsigned end, unsigned *sites)
{
	double sum = 0, chi = 0;

	*sites = 0;
	for (unsigned at = 0; at < end; at++) {
		sum += is_site(k, at) ? weight_at(k, at) : 0;
		*sites += is_site(k, at);
	}
	for (unsigned at = 0; at < SIZE; at++) {
		double expected = is_site(k, at) && at < end ? DRAWS * weight_at(k, at) / sum : 0;

		if (expected)
			chi += (count[at] - expected) * (count[at] - expected) / expected;
		else
			assert_int_equal(count[at], 0);
	}
	return chi;
}

/* Of chi-square with n degrees of freedom the mean is n, and the variance is 2 n. Four standard deviations are allowed. */
static void assert_fits(double chi, unsigned sites)
{
	double freedom = sites - 1;

	print_message("# chi-square %.1f with %.0f degrees of freedom\n", chi, freedom);
	assert_true((chi - freedom) * (chi - freedom) < 16 * 2 * freedom);
}

static void prefer_some(struct kernel *k)
{
	k->prefer = prefer_new(PREFER_ONE / 2);
	assert_non_null(k->prefer);
	assert_int_equal(prefer_function(k->prefer, "dense", PREFER_ONE / 4), 0);
	assert_int_equal(prefer_function(k->prefer, "medium", 3 * PREFER_ONE), 0);
	for (unsigned i = 0; i < 40; i += 3)
		assert_int_equal(prefer_site(k->prefer, "medium", i * 8, PREFER_ONE / 3 + i * 10), 0);
	assert_int_equal(prefer_site(k->prefer, "dense", 20, 20 * PREFER_ONE), 0);
	assert_int_equal(prefer_site(k->prefer, "dense", 10, 2 * PREFER_ONE), 0);
	assert_int_equal(prefer_site(k->prefer, "lonely", 0, 9 * PREFER_ONE), 0);
	assert_int_equal(prefer_site(k->prefer, "dense", 11, 5 * PREFER_ONE), 0); /* there is no such site */
	prefer_ready(k->prefer);
}

static void choice_is_by_weight(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];
	unsigned sites;
	struct rng rng = {.state = 7};
	double chi;

	memset(count, 0, sizeof(count));
	prefer_some(k);
	build(k);
	for (unsigned i = 0; i < DRAWS; i++)
		count[pool_choose(k->pool, &rng) - TEXT]++;
	chi = chi_square(k, count, SIZE, &sites);
	assert_int_equal(sites, 152);
	assert_fits(chi, sites);
}

/* The test would find a choice that is uniform. */
static void uniform_choice_does_not_fit(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];
	unsigned sites;
	struct rng rng = {.state = 7};

	memset(count, 0, sizeof(count));
	build(k);
	for (unsigned i = 0; i < DRAWS; i++)
		count[pool_choose(k->pool, &rng) - TEXT]++;
	prefer_some(k);
	assert_true(chi_square(k, count, SIZE, &sites) > 100 * 152);
}

/* Among what the guest was seen to run, too. */
static void passed_choice_is_by_weight(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];
	unsigned sites;
	struct rng rng = {.state = 7};
	double chi;

	memset(count, 0, sizeof(count));
	prefer_some(k);
	build(k);
	for (unsigned i = 0; i < DRAWS; i++)
		pool_choose(k->pool, &rng); /* so that all is decoded */
	pool_executed(k->pool, TEXT);
	pool_executed(k->pool, TEXT + 0x200);
	pool_executed(k->pool, TEXT + 0x600);
	for (unsigned i = 0; i < DRAWS; i++)
		count[pool_choose_executed(k->pool, &rng) - TEXT]++;
	chi = chi_square(k, count, 0xb00, &sites);
	assert_int_equal(sites, 111);
	assert_fits(chi, sites);
}

/* Weights as far apart as they can be: the heavy site is nearly all there is, and no site is left out for good. */
static void extreme_weights(void **state)
{
	struct kernel *k = *state;
	struct rng rng = {.state = 3};
	unsigned heavy = 0, chosen = 0;

	k->prefer = prefer_new(PREFER_LEAST);
	assert_int_equal(prefer_site(k->prefer, "small", 0, PREFER_MOST), 0);
	prefer_ready(k->prefer);
	build(k);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t site = pool_choose(k->pool, &rng);

		heavy += site == TEXT + 0xb00;
		chosen += site != 0;
	}
	assert_int_equal(chosen, 20000);
	/* The other 151 sites come once in some 6600 choices. */
	assert_in_range(chosen - heavy, 1, 12);
}

static uint64_t hash_of_choices(struct kernel *k, uint64_t seed)
{
	struct rng rng = {.state = seed};
	uint64_t hash = 0;

	build(k);
	for (unsigned i = 0; i < 3000; i++)
		hash = hash * 0x100000001b3ull + pool_choose(k->pool, &rng);
	pool_executed(k->pool, TEXT + 0x200);
	pool_executed(k->pool, TEXT + 0xe00);
	for (unsigned i = 0; i < 3000; i++)
		hash = hash * 0x100000001b3ull + pool_choose_executed(k->pool, &rng);
	return hash;
}

/*
 * These are the choices of the version before weights, so an old seed still gives the same choices. Weights that are all equal
 * change nothing.
 */
static void without_weights_as_ever(void **state)
{
	struct kernel *k = *state;

	assert_int_equal(hash_of_choices(k, 99), 0xbfec0046822b95ceull);
	assert_int_equal(hash_of_choices(k, 1234567), 0x6fdf76b16dcc4b9cull);
	k->prefer = prefer_new(7 * PREFER_ONE);
	prefer_ready(k->prefer);
	assert_int_equal(hash_of_choices(k, 99), 0xbfec0046822b95ceull);
}

static void repeatable_by_seed(void **state)
{
	struct kernel *k = *state;
	uint64_t first;

	prefer_some(k);
	first = hash_of_choices(k, 5);
	assert_int_equal(hash_of_choices(k, 5), first);
	assert_int_not_equal(hash_of_choices(k, 6), first);
}

static void sites_of_a_function(void **state)
{
	struct kernel *k = *state;
	struct rng rng = {.state = 7};

	build(k);
	assert_int_equal(pool_function_sites(k->pool, TEXT + 0xe00), 0); /* not decoded yet */
	for (unsigned i = 0; i < 3000; i++)
		pool_choose(k->pool, &rng);
	assert_int_equal(pool_function_sites(k->pool, TEXT + 0xe00), 40);
	assert_int_equal(pool_function_sites(k->pool, TEXT + 0xe11), 40);
	assert_int_equal(pool_function_sites(k->pool, TEXT + 0xdff), 0); /* between two functions */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(choice_is_by_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(uniform_choice_does_not_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(passed_choice_is_by_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(extreme_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(without_weights_as_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(repeatable_by_seed, setup, teardown),
		cmocka_unit_test_setup_teardown(sites_of_a_function, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
