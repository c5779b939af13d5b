/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of sites is uniform and repeatable, and never falls on one that must not be sampled. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/steer/pool.h"

#define TEXT 0xffffffff81000000ull
#define SIZE 0x1000u
#define FUNCTIONS_MAX 16

/* A kernel of a few functions. */
struct kernel {
	uint8_t text[SIZE];
	struct symbol functions[FUNCTIONS_MAX];
	size_t n;
	const char *excluded; /* a glob on functions that are not eligible, or NULL */
	bool unreadable;
	unsigned reads;
	struct symtab *symtab;
	struct pool *pool;
};

static bool eligible(void *ctx, const struct symbol *fn)
{
	const struct kernel *k = ctx;

	return !k->excluded || fnmatch(k->excluded, fn->name, 0) != 0;
}

static int code(void *ctx, uint64_t gva, void *buf, size_t len)
{
	struct kernel *k = ctx;

	k->reads++;
	if (k->unreadable || gva - TEXT > SIZE || len > SIZE - (gva - TEXT))
		return -1;
	memcpy(buf, k->text + (gva - TEXT), len);
	return 0;
}

static int setup(void **state)
{
	struct kernel *k = calloc(1, sizeof(*k));

	*state = k;
	if (!k)
		return -1;
	memset(k->text, 0x90, sizeof(k->text));
	return 0;
}

static int teardown(void **state)
{
	struct kernel *k = *state;

	pool_free(k->pool);
	symtab_free(k->symtab);
	free(k);
	return 0;
}

static void add_symbol(struct kernel *k, const char *name, uint32_t at, uint32_t size, char type)
{
	assert_true(k->n < FUNCTIONS_MAX);
	k->functions[k->n++] = (struct symbol){.name = name, .addr = TEXT + at, .size = size, .type = type};
}

/* Add a function of `sites` sites, each followed by `gap` no-ops. */
static void add_function(struct kernel *k, const char *name, uint32_t at, unsigned sites, unsigned gap)
{
	assert_true(at + sites * (2 + gap) <= SIZE);
	for (unsigned i = 0; i < sites; i++)
		memcpy(k->text + at + i * (2 + gap), "\x8a\x07", 2); /* mov (%rdi), %al */
	add_symbol(k, name, at, sites * (2 + gap), 't');
}

static void add_code(struct kernel *k, const char *name, uint32_t at, const void *bytes, size_t len)
{
	memcpy(k->text + at, bytes, len);
	add_symbol(k, name, at, (uint32_t)len, 't');
}

static struct pool *make_pool(struct kernel *k, const struct pool_filter *filter)
{
	const struct pool_source source = {.eligible = eligible, .code = code, .ctx = k};

	return pool_new(&source, filter);
}

/* With all functions added, make k->pool over [TEXT, TEXT + SIZE). Returns how many functions it took. */
static int64_t build(struct kernel *k, const char *sample)
{
	const struct pool_filter filter = {.sample = sample};

	k->symtab = symtab_from_array(k->functions, k->n, NULL);
	assert_non_null(k->symtab);
	k->pool = make_pool(k, &filter);
	assert_non_null(k->pool);
	return pool_add(k->pool, k, k->symtab, TEXT, TEXT + SIZE, NULL);
}

/* Count how often each byte of the text is chosen as a site in `draws` draws. */
static void draw(struct kernel *k, uint64_t seed, unsigned draws, unsigned count[SIZE])
{
	struct rng rng = {.state = seed};

	memset(count, 0, SIZE * sizeof(*count));
	for (unsigned i = 0; i < draws; i++) {
		uint64_t site = pool_choose(k->pool, &rng);

		assert_true(site >= TEXT && site < TEXT + SIZE);
		count[site - TEXT]++;
	}
}

/* Functions of very different density: each site must come up equally often (chi-square, far beyond the 0.1% point). */
static void test_uniform(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];
	const unsigned draws = 60000;
	unsigned sites = 0;
	double expected, chi = 0;

	add_function(k, "dense", 0x000, 100, 0);
	add_function(k, "sparse", 0x200, 10, 60);
	add_function(k, "sparser", 0x600, 1, 1000);
	add_function(k, "small", 0xb00, 1, 0);
	add_symbol(k, "none", 0xc00, 0x100, 't');
	add_function(k, "medium", 0xe00, 40, 6);
	assert_int_equal(build(k, NULL), 6);
	draw(k, 7, draws, count);
	for (unsigned at = 0; at < SIZE; at++)
		sites += k->text[at] == 0x8a;
	assert_int_equal(sites, 152);
	assert_int_equal(pool_sites(k->pool), sites);
	expected = (double)draws / sites;
	for (unsigned at = 0; at < SIZE; at++) {
		if (k->text[at] == 0x8a)
			chi += (count[at] - expected) * (count[at] - expected) / expected;
		else
			assert_int_equal(count[at], 0);
	}
	/* 151 degrees of freedom: mean 151, standard deviation 17.4. */
	assert_true(chi < 151 + 4 * 17.4);
	assert_true(chi > 151 - 4 * 17.4);
}

/* The same seed gives the same sites in the same order, even if all was decoded before in another order. */
static void test_repeatable(void **state)
{
	struct kernel *k = *state;
	struct pool *again;
	struct rng a = {.state = 99}, b = {.state = 99}, other = {.state = 100};
	unsigned differ = 0;

	for (unsigned i = 0; i < 8; i++)
		add_function(k, "f", 0x200 * i, 10 + 4 * i, i);
	build(k, NULL);
	assert_int_equal(k->reads, 0);
	again = make_pool(k, &(struct pool_filter){0});
	assert_non_null(again);
	pool_add(again, k, k->symtab, TEXT, TEXT + SIZE, NULL);
	for (unsigned i = 0; i < 500; i++)
		differ += pool_choose(again, &other) != pool_choose(k->pool, &a);
	assert_true(differ > 400);
	assert_int_equal(k->reads, 2 * 8); /* each of the two pools reads each function once */

	a.state = 99;
	for (unsigned i = 0; i < 2000; i++)
		assert_int_equal(pool_choose(k->pool, &a), pool_choose(again, &b));
	pool_free(again);
}

static void test_module_comes_and_goes(void **state)
{
	struct kernel *k = *state;
	struct symtab *module;
	const struct symbol fn = {.name = "module_fn", .addr = TEXT + 0x800, .size = 0x100, .type = 't'};
	static unsigned count[SIZE];
	unsigned in_module = 0;

	add_function(k, "kernel_fn", 0, 20, 0);
	build(k, NULL);
	for (unsigned i = 0; i < 40; i++)
		memcpy(k->text + 0x800 + 2 * i, "\x8a\x07", 2);
	module = symtab_from_array(&fn, 1, NULL);
	assert_non_null(module);
	assert_int_equal(pool_add(k->pool, module, module, fn.addr, fn.addr + fn.size, NULL), 1);
	draw(k, 1, 3000, count);
	for (unsigned at = 0x800; at < SIZE; at++)
		in_module += count[at];
	assert_in_range(in_module, 1800, 2200); /* the module has 40 of 60 sites */
	assert_int_equal(pool_sites(k->pool), 60);

	pool_remove(k->pool, &fn); /* there is no such segment */
	pool_remove(k->pool, module);
	assert_int_equal(pool_sites(k->pool), 20);
	draw(k, 1, 1000, count);
	for (unsigned at = 0x800; at < SIZE; at++)
		assert_int_equal(count[at], 0);
	pool_remove(k->pool, k);
	assert_int_equal(pool_choose(k->pool, &(struct rng){.state = 1}), 0);
	assert_int_equal(pool_sites(k->pool), 0);
	symtab_free(module);
}

/* Among what the guest was seen to run each site comes up equally often, and nothing else does. */
static void test_passed(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];
	struct rng rng = {.state = 5};

	add_function(k, "long", 0x000, 40, 1);
	add_function(k, "short", 0x200, 10, 8);
	add_function(k, "tiny", 0x400, 3, 0);
	add_function(k, "idle", 0x600, 100, 0);
	build(k, NULL);
	pool_executed(k->pool, TEXT); /* not decoded, so no site of it was ever armed */
	assert_int_equal(pool_choose_executed(k->pool, &rng), 0);
	draw(k, 1, 3000, count);
	memset(count, 0, sizeof(count));
	for (unsigned i = 0; i < 3; i++) {
		pool_executed(k->pool, TEXT + 0x200 * i);
		pool_executed(k->pool, TEXT + 0x200 * i + 2);
	}
	pool_executed(k->pool, TEXT + 0xfff); /* in no function */
	for (unsigned i = 0; i < 53 * 200; i++)
		count[pool_choose_executed(k->pool, &rng) - TEXT]++;
	for (unsigned at = 0; at < SIZE; at++) {
		bool site = at < 0x600 && k->text[at] == 0x8a;

		assert_in_range(count[at], site ? 130 : 0, site ? 270 : 0);
	}
	pool_remove(k->pool, k);
	assert_int_equal(pool_choose_executed(k->pool, &rng), 0);
}

static void test_passed_module_goes(void **state)
{
	const struct symbol fn = {.name = "module_fn", .addr = TEXT + 0x800, .size = 80, .type = 't'};
	struct symtab *module = symtab_from_array(&fn, 1, NULL);
	struct kernel *k = *state;
	static unsigned count[SIZE];
	struct rng rng = {.state = 5};

	add_function(k, "kernel_fn", 0, 20, 0);
	build(k, NULL);
	for (unsigned i = 0; i < 40; i++)
		memcpy(k->text + 0x800 + 2 * i, "\x8a\x07", 2);
	assert_int_equal(pool_add(k->pool, module, module, fn.addr, fn.addr + fn.size, NULL), 1);
	draw(k, 1, 300, count);
	pool_executed(k->pool, fn.addr);
	pool_executed(k->pool, TEXT);
	pool_remove(k->pool, module);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(pool_choose_executed(k->pool, &rng) - TEXT < 40);
	symtab_free(module);
}

static void test_globs(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];

	add_function(k, "tcp_sendmsg", 0x000, 10, 0);
	add_function(k, "tcp_recvmsg", 0x100, 10, 0);
	add_function(k, "udp_sendmsg", 0x200, 10, 0);
	add_function(k, "do_exit", 0x300, 10, 0);
	add_function(k, "do_exit2", 0x400, 10, 0);
	assert_int_equal(build(k, "*_sendmsg,,do_exit"), 3);
	draw(k, 3, 1000, count);
	for (unsigned at = 0; at < SIZE; at++)
		assert_true(!count[at] || at < 0x100 || (at >= 0x200 && at < 0x400));
}

static void test_modules(void **state)
{
	(void)state;
	assert_true(pool_module_fits("", NULL));
	assert_true(pool_module_fits("ext4", NULL));
	assert_true(pool_module_fits("ext4", "jbd2,ext4"));
	assert_true(pool_module_fits("snd_hda_intel", "snd_hda_*"));
	assert_false(pool_module_fits("ext", "jbd2,ext4"));
	assert_false(pool_module_fits("", "*"));
}

static void test_globs_match_nothing(void **state)
{
	struct kernel *k = *state;

	add_function(k, "tcp_sendmsg", 0x000, 10, 0);
	assert_int_equal(build(k, "tcp,sendmsg,tcp_sendmsg2,"), 0);
	assert_int_equal(pool_choose(k->pool, &(struct rng){.state = 1}), 0);
}

static void test_exclusion(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];

	k->excluded = "*lock";
	add_function(k, "one", 0x000, 10, 0);
	add_function(k, "the_lock", 0x100, 10, 0);
	/* Three names are of one function. Any of them may be asked for, and each may veto. */
	add_function(k, "alias", 0x200, 10, 0);
	add_symbol(k, "alias_lock", 0x200, 20, 't');
	add_function(k, "first_name", 0x300, 10, 0);
	add_symbol(k, "second_name", 0x300, 20, 'T');
	assert_int_equal(build(k, "one,the_*,alias,second*"), 2);
	draw(k, 3, 500, count);
	for (unsigned at = 0; at < SIZE; at++)
		assert_true(!count[at] || at < 0x100 || at >= 0x300);
}

/* Sites are in text and inside the bounds only. Where sizes overlap no site counts twice. */
static void test_bounds(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];

	memset(k->text, 0, sizeof(k->text));
	for (unsigned at = 0; at < SIZE; at += 2)
		memcpy(k->text + at, "\x8a\x07", 2);
	add_symbol(k, "data", 0x000, 0x100, 'd');
	add_symbol(k, "weak", 0x100, 0x100, 'W');
	add_symbol(k, "overlapping", 0x180, 0x40, 't');
	add_symbol(k, "too_large", 0x200, 0x10001, 't');
	add_symbol(k, "leaves_text", 0xf00, 0x200, 't');
	k->symtab = symtab_from_array(k->functions, k->n, NULL);
	k->pool = make_pool(k, &(struct pool_filter){0});
	assert_non_null(k->pool);
	/* The text begins after `data` and ends in `leaves_text`. */
	assert_int_equal(pool_add(k->pool, k, k->symtab, TEXT + 0x100, TEXT + 0xf80, NULL), 3);
	draw(k, 3, 5000, count);
	for (unsigned at = 0; at < SIZE; at++)
		assert_true(!count[at] || (at >= 0x100 && at < 0x1c0) || (at >= 0xf00 && at < 0xf80));
	assert_int_equal(pool_sites(k->pool), 0xc0 / 2 + 0x80 / 2);
}

static void test_unreadable(void **state)
{
	struct kernel *k = *state;

	k->unreadable = true;
	add_function(k, "gone", 0x000, 10, 0);
	assert_int_equal(build(k, NULL), 1);
	assert_int_equal(pool_choose(k->pool, &(struct rng){.state = 1}), 0);
	assert_int_equal(pool_sites(k->pool), 0);
}

static unsigned draw_one(struct kernel *k, unsigned count[SIZE])
{
	unsigned different = 0;

	draw(k, 11, 300, count);
	for (unsigned at = 0; at < SIZE; at++)
		different += count[at] != 0;
	return different;
}

/*
 * The guest's own INT3 (a kprobe, text being patched) replaces the first byte of a longer instruction. The pool must not decode
 * the rest of that instruction.
 */
static void test_guest_int3(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];

	/* mov (%rdi),%al; a jmp whose first byte is an INT3 now; its displacement looks like mov (%rdi),%al twice */
	add_code(k, "patched", 0, "\x8a\x07\xcc\x8a\x07\x8a\x07\x8a\x07\xc3", 10);
	build(k, NULL);
	assert_int_equal(draw_one(k, count), 1);
	assert_true(count[0] > 0);
}

/* After ret and jmp an INT3 is padding (CONFIG_SLS), and the bytes after it are code. */
static void test_padding_int3(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];

	add_code(k, "padded", 0, "\x8a\x07\xc3\xcc\x8a\x07\xeb\xfe\xcc\xcc\x8a\x07\x0f\x0b\xcc\x8a\x07", 17);
	build(k, NULL);
	assert_int_equal(draw_one(k, count), 4);
	assert_true(count[0] && count[4] && count[10] && count[15]);
}

static void test_does_not_decode(void **state)
{
	struct kernel *k = *state;
	static unsigned count[SIZE];

	add_code(k, "broken", 0, "\x8a\x07\x06\x8a\x07", 5); /* push %es is no 64-bit instruction */
	build(k, NULL);
	assert_int_equal(draw_one(k, count), 1);
	assert_true(count[0] > 0);
}

static const struct {
	const char *text, *code;
	unsigned len;
	bool site, per_cpu_site;
} kinds[] = {
#define KIND(text, code, site, per_cpu)                     \
	{                                                   \
		text, code, sizeof(code) - 1, site, per_cpu \
	}
	KIND("mov (%rdi),%rax", "\x48\x8b\x07", true, true),
	KIND("mov %rax,(%rdi)", "\x48\x89\x07", true, true),
	KIND("incl 8(%rbx)", "\xff\x43\x08", true, true),
	KIND("mov 0(%rip),%eax", "\x8b\x05\0\0\0\0", true, true),
	KIND("mov -8(%rbp),%eax", "\x8b\x45\xf8", true, true), /* no frame pointers: any register */
	KIND("rep movsq", "\xf3\x48\xa5", true, true),
	KIND("mov (%rsp),%eax", "\x8b\x04\x24", false, false),
	KIND("push %rax", "\x50", false, false),
	KIND("lock incl (%rdi)", "\xf0\xff\x07", true, true), /* it may get a reference */
	KIND("lock incl 0(%rip)", "\xf0\xff\x05\0\0\0\0", false, false),
	KIND("lock decl (%rdi)", "\xf0\xff\x0f", false, false),
	KIND("xchg %eax,(%rdi)", "\x87\x07", false, false),
	KIND("ds incl (%rdi)", "\x3e\xff\x07", false, false), /* its LOCK was patched out */
	KIND("lea (%rdi),%rax", "\x48\x8d\x07", false, false),
	KIND("nopl (%rax)", "\x0f\x1f\x00", false, false),
	KIND("prefetcht0 (%rdi)", "\x0f\x18\x0f", false, false),
	KIND("clflush (%rdi)", "\x0f\xae\x3f", false, false),
	KIND("invlpg (%rdi)", "\x0f\x01\x3f", false, false),
	KIND("xsave (%rdi)", "\x0f\xae\x27", false, false),
	KIND("call *(%rdi)", "\xff\x17", false, false),
	KIND("jmp *(%rdi)", "\xff\x27", false, false),
	KIND("insb", "\x6c", false, false),
	KIND("bt %rax,(%rdi)", "\x48\x0f\xa3\x07", false, false),
	KIND("mov %rax,%rbx", "\x48\x89\xc3", false, false),
	KIND("int3", "\xcc", false, false),
	KIND("ret", "\xc3", false, false),
	KIND("mov %gs:0x10,%eax", "\x65\x8b\x04\x25\x10\0\0\0", false, true),
	KIND("incl %gs:0(%rip)", "\x65\xff\x05\0\0\0\0", false, true),
	KIND("lock incl %gs:(%rdi)", "\xf0\x65\xff\x07", false, false),
};

static void test_kinds(void **state)
{
	struct kernel *k = *state;
	struct pool *per_cpu = make_pool(k, &(struct pool_filter){.per_cpu = true});
	struct insn_decoder *decoder = insn_decoder_new();

	k->pool = make_pool(k, &(struct pool_filter){0});
	assert_true(per_cpu && decoder && k->pool);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct insn insn;

		if (insn_decode(decoder, (const uint8_t *)kinds[i].code, kinds[i].len, TEXT, &insn) != kinds[i].len)
			fail_msg("%s does not decode", kinds[i].text);
		if (pool_is_site(k->pool, &insn) != kinds[i].site)
			fail_msg("%s: %s a site", kinds[i].text, kinds[i].site ? "must be" : "must not be");
		if (pool_is_site(per_cpu, &insn) != kinds[i].per_cpu_site)
			fail_msg("%s: wrong with per-CPU accesses", kinds[i].text);
	}
	pool_free(per_cpu);
	insn_decoder_free(decoder);
}

/* The first site of each function, once, and those of the text that came last before those of the text before it. */
static void test_first_sites(void **state)
{
	struct kernel *k = *state;
	struct span module = {TEXT + 0x800, TEXT + 0x810};
	const struct spans spans = {.list = &module, .count = 1};
	unsigned found = 0, without = 0;
	uint64_t site;

	add_function(k, "one", 0x000, 4, 0);
	add_code(k, "no_site", 0x100, "\x90\x90", 2);
	add_code(k, "site_after_a_nop", 0x200, "\x90\x8a\x07", 3);
	assert_int_equal(build(k, NULL), 3);
	memcpy(k->text + 0x804, "\x8a\x07", 2);
	assert_int_equal(pool_add_spans(k->pool, &spans, &spans, PREFER_ONE, NULL), 0);

	assert_true(pool_next_first_site(k->pool, &site));
	assert_int_equal(site, TEXT + 0x804);
	while (pool_next_first_site(k->pool, &site)) {
		assert_true(site == TEXT || site == TEXT + 0x201 || !site);
		found += site != 0;
		without += !site;
	}
	assert_int_equal(found, 2);
	assert_int_equal(without, 1);
	assert_int_equal(pool_function_site(k->pool, TEXT + 1, 3), TEXT + 6);
	assert_int_equal(pool_function_site(k->pool, TEXT + 1, 4), 0);
	assert_int_equal(pool_function_site(k->pool, TEXT + SIZE, 0), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_uniform),
		T(test_first_sites),
		T(test_repeatable),
		T(test_module_comes_and_goes),
		T(test_globs),
		T(test_modules),
		T(test_exclusion),
		T(test_bounds),
		T(test_globs_match_nothing),
		T(test_unreadable),
		T(test_guest_int3),
		T(test_padding_int3),
		T(test_does_not_decode),
		T(test_kinds),
		T(test_passed),
		T(test_passed_module_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
