/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sampled functions call is sampled as well, unless everybody calls it, and only while a sampled function has called
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/arm.h"
#include "hv/detect/steer/callees.h"
#include "hv/detect/steer/pool.h"
#include "tests/unit/detect/detect_rig.h"

#define PAGE 0x1000u
#define CALL_LEN 5u
#define PATIENCE_MS 60000u

/* Offsets in the text. The pages 0 and 8 are those in which callers are counted. */
enum place {
	SUBJECT = 0x2000,
	SECOND = 0x2100, /* another function of the subject */
	HELPER = 0x3000, /* the subject calls it */
	TAIL = 0x3100,	 /* the subject jumps to it */
	DEEP = 0x3200,	 /* HELPER calls it */
	DEEPER = 0x3300, /* DEEP calls it */
	ALLOC = 0x3400,	 /* guest_serves_all() */
	LOCK = 0x3500,	 /* guest_may_sample() refuses it */
	POPULAR = 0x3600,
	BRANCH = 0x3700, /* the subject has a conditional jump to it */
	NOBODY = 0x3800,
	MODULE = 0x5000,
	OTHER = 0x6000, /* a module's text that MODULE calls */
	SIZE = 0x100,
	KERNEL = 0x4000, /* the kernel's text ends here */
};

struct bench {
	struct rig *r;
	struct symtab *module, *other;
};

/* Write a call, or a jump with `opcode` 0xe9, at *at, and advance *at. */
static void lead(struct bench *b, uint32_t *at, uint8_t opcode, uint32_t to)
{
	uint8_t code[CALL_LEN] = {opcode};
	int32_t distance = (int32_t)(to - (*at + CALL_LEN));

	memcpy(code + 1, &distance, sizeof(distance));
	rig_code(b->r, *at, code, sizeof(code));
	*at += CALL_LEN;
}

static void call(struct bench *b, uint32_t *at, uint32_t to)
{
	lead(b, at, 0xe8, to);
}

/* A function of SIZE bytes: a site, and then no-ops, which calls may replace. */
static void write_function(struct bench *b, uint32_t at)
{
	uint8_t nops[SIZE];

	memset(nops, 0x90, sizeof(nops));
	rig_code(b->r, at, nops, sizeof(nops));
	rig_code(b->r, at, READ_8);
}

static void write_calls(struct bench *b)
{
	uint32_t at = SUBJECT + 3;
	int32_t distance = BRANCH - (SUBJECT + 0x80 + 6);
	uint8_t branch[6] = {0x0f, 0x84};

	call(b, &at, HELPER);
	call(b, &at, ALLOC);
	call(b, &at, LOCK);
	call(b, &at, POPULAR);
	call(b, &at, SUBJECT + 0x40);
	call(b, &at, SECOND);
	call(b, &at, HELPER + 0x10); /* in the middle of a function: this is no call of one */
	call(b, &at, HELPER);
	lead(b, &at, 0xe9, TAIL);
	memcpy(branch + 2, &distance, sizeof(distance));
	rig_code(b->r, SUBJECT + 0x80, branch, sizeof(branch));
	at = HELPER + 3;
	call(b, &at, DEEP);
	call(b, &at, SUBJECT);
	at = DEEP + 3;
	call(b, &at, DEEPER);
	at = MODULE + 3;
	call(b, &at, HELPER);
	call(b, &at, OTHER);
	at = 0x10;
	call(b, &at, POPULAR);
	call(b, &at, POPULAR);
	call(b, &at, HELPER);
}

static struct symtab *one_function(const char *name, uint32_t at)
{
	const struct symbol fn = {.name = name, .addr = RIG_TEXT + at, .size = SIZE, .type = 't'};
	struct symtab *st = symtab_from_array(&fn, 1, NULL);

	assert_non_null(st);
	return st;
}

static void name_functions(struct bench *b)
{
	const struct {
		const char *name;
		uint32_t at;
	} names[] = {
		{"caller", 0},	      {"sub_one", SUBJECT},   {"sub_two", SECOND}, {"idr_help", HELPER},     {"idr_tail", TAIL},
		{"idr_deep", DEEP},   {"idr_deeper", DEEPER}, {"kmalloc", ALLOC},  {"kmalloc_alias", ALLOC}, {"lock", LOCK},
		{"popular", POPULAR}, {"branch", BRANCH},     {"nobody", NOBODY}};
	struct symbol functions[2 + sizeof(names) / sizeof(*names)] = {
		{.name = "_stext", .addr = RIG_TEXT, .type = 'T'}, {.name = "_etext", .addr = RIG_TEXT + KERNEL, .type = 'T'}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		functions[2 + i] =
			(struct symbol){.name = names[i].name, .addr = RIG_TEXT + names[i].at, .size = SIZE, .type = 't'};
		write_function(b, names[i].at);
	}
	write_function(b, MODULE);
	write_function(b, OTHER);
	rig_functions(b->r, functions, sizeof(functions) / sizeof(*functions));
	b->module = one_function("mod_fn", MODULE);
	b->other = one_function("other_fn", OTHER);
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	*state = b;
	if (!b)
		return -1;
	b->r = rig_new(2, 4);
	if (!b->r)
		return -1;
	name_functions(b);
	write_calls(b);
	b->r->guest.serves_all = "kmalloc";
	b->r->guest.not_sampled = "lock";
	b->r->config.sample = "sub_*";
	b->r->config.callee_depth = 1;
	rig_remake(b->r);
	b->r->d->life.started_ns = monotonic_ns();
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	rig_free(b->r);
	symtab_free(b->module);
	symtab_free(b->other);
	free(b);
	return 0;
}

static void make_again(struct bench *b, unsigned depth)
{
	b->r->config.callee_depth = depth;
	rig_remake(b->r);
	b->r->d->life.started_ns = monotonic_ns();
}

/* The kernel's text comes, with the subject in it or without. */
static void kernel_came(struct bench *b, bool subject)
{
	struct detect *d = b->r->d;
	struct err err = {0};

	if (subject)
		assert_int_equal(pool_add(d->sampler.pool, NULL, b->r->guest.symtab, RIG_TEXT, RIG_TEXT + KERNEL, &err), 2);
	assert_int_equal(callees_text_came(d->callees, NULL, b->r->guest.symtab, RIG_TEXT, RIG_TEXT + KERNEL, subject, &err),
			 0);
	assert_int_equal(callees_refresh(d->callees, &err), 0);
}

static bool has(struct bench *b, uint32_t at)
{
	struct detect *d = b->r->d;
	bool callee = callees_has(d->callees, RIG_TEXT + at);

	/* What is a callee is in the pool, and is not in it twice. */
	assert_true(!callee || pool_has_site(d->sampler.pool, RIG_TEXT + at));
	return callee;
}

static void test_what_the_subject_calls(void **state)
{
	struct bench *b = *state;

	kernel_came(b, true);
	assert_true(has(b, HELPER));
	assert_true(has(b, TAIL));
	assert_false(has(b, SUBJECT));
	assert_false(has(b, SECOND));
	assert_false(has(b, DEEP));
	assert_false(has(b, BRANCH));
	assert_false(has(b, NOBODY));
	assert_int_equal(rig_stats(b->r).callees, 2);
	assert_true(pool_has_site(b->r->d->sampler.pool, RIG_TEXT + SUBJECT));
	assert_false(pool_has_site(b->r->d->sampler.pool, RIG_TEXT + DEEP));
}

static void test_what_everybody_calls_is_left_out(void **state)
{
	struct bench *b = *state;

	kernel_came(b, true);
	assert_false(has(b, ALLOC));
	assert_false(has(b, LOCK));
	assert_false(has(b, POPULAR));
	assert_false(pool_has_site(b->r->d->sampler.pool, RIG_TEXT + POPULAR));
}

static void test_depth(void **state)
{
	struct bench *b = *state;

	make_again(b, 2);
	kernel_came(b, true);
	assert_true(has(b, HELPER) && has(b, DEEP) && !has(b, DEEPER));
	make_again(b, 3);
	kernel_came(b, true);
	assert_true(has(b, HELPER) && has(b, DEEP) && has(b, DEEPER));
	assert_int_equal(rig_stats(b->r).callees, 4);
}

/* The callees have twice the bytes of the subject in sites, and are chosen as often as the subject. */
static void test_callees_weigh_no_more_than_the_subject(void **state)
{
	struct bench *b = *state;
	struct rng rng = {.state = 7};
	unsigned subject = 0, draws = 4000;

	make_again(b, 3);
	kernel_came(b, true);
	for (unsigned i = 0; i < draws; i++) {
		uint64_t at = pool_choose(b->r->d->sampler.pool, &rng) - RIG_TEXT;

		assert_true(at == SUBJECT || at == SECOND || at == HELPER || at == TAIL || at == DEEP || at == DEEPER);
		subject += at < HELPER;
	}
	assert_in_range(subject, draws / 2 - 200, draws / 2 + 200);
}

static void module_came(struct bench *b, const struct symtab *symbols, uint32_t at, bool subject)
{
	struct detect *d = b->r->d;
	struct err err = {0};

	assert_int_equal(callees_text_came(d->callees, symbols, symbols, RIG_TEXT + at, RIG_TEXT + at + SIZE, subject, &err),
			 0);
}

/* With --module the kernel has callees, and no function of the subject. */
static void use_module(struct bench *b)
{
	b->r->config.sample = NULL;
	b->r->config.module = "mod";
	make_again(b, 1);
	kernel_came(b, false);
}

static void test_module(void **state)
{
	struct bench *b = *state;
	struct err err = {0};

	use_module(b);
	assert_int_equal(rig_stats(b->r).callees, 0);
	module_came(b, b->other, OTHER, false);
	module_came(b, b->module, MODULE, true);
	assert_int_equal(callees_refresh(b->r->d->callees, &err), 0);
	assert_true(has(b, HELPER) && has(b, OTHER));
	callees_text_gone(b->r->d->callees, b->module);
	assert_int_equal(callees_refresh(b->r->d->callees, &err), 0);
	assert_false(has(b, HELPER) || has(b, OTHER));
	assert_int_equal(rig_stats(b->r).callees, 2); /* the most so far */
}

/* A module whose text goes is out of the pool at once, before the search for other callees. */
static void test_callee_in_a_module_that_goes(void **state)
{
	struct bench *b = *state;
	struct err err = {0};

	use_module(b);
	module_came(b, b->other, OTHER, false);
	module_came(b, b->module, MODULE, true);
	assert_int_equal(callees_refresh(b->r->d->callees, &err), 0);
	callees_text_gone(b->r->d->callees, b->other);
	assert_false(pool_has_site(b->r->d->sampler.pool, RIG_TEXT + OTHER));
	assert_int_equal(callees_refresh(b->r->d->callees, &err), 0);
	assert_true(has(b, HELPER));
	assert_false(has(b, OTHER));
}

/* The module that is called is found after its caller. */
static void test_callee_in_a_module_that_comes_later(void **state)
{
	struct bench *b = *state;
	struct err err = {0};

	use_module(b);
	module_came(b, b->module, MODULE, true);
	assert_int_equal(callees_refresh(b->r->d->callees, &err), 0);
	assert_true(has(b, HELPER) && !has(b, OTHER));
	module_came(b, b->other, OTHER, false);
	assert_int_equal(callees_refresh(b->r->d->callees, &err), 0);
	assert_true(has(b, HELPER) && has(b, OTHER));
}

/* ---- at a hit ---- */

static void arm(struct bench *b, uint32_t at)
{
	assert_int_equal(arm_site(b->r->d, RIG_TEXT + at, ARM_CHANCE), ARMED);
}

/* Put a word on the stack of this CPU, `words` words of 8 bytes above its RSP. */
static void push(struct bench *b, unsigned cpu, unsigned words, uint64_t value)
{
	fake_write(b->r->ft, RIG_STACKS_GPA + cpu * FAKE_STACK_SIZE + FAKE_STACK_SIZE / 2 + words * sizeof(value), &value,
		   sizeof(value));
}

static enum target_action_kind hit(struct bench *b, unsigned cpu, uint32_t at)
{
	struct x86_regs regs = rig_regs(b->r, cpu, at);

	return rig_hit(b->r, cpu, &regs).kind;
}

static void test_hit_on_behalf_of_the_subject(void **state)
{
	struct bench *b = *state;

	kernel_came(b, true);
	arm(b, HELPER);
	push(b, 0, 5, RIG_TEXT + NOBODY + 8);
	push(b, 0, 63, RIG_TEXT + SUBJECT + 8);
	assert_int_equal(hit(b, 0, HELPER), TARGET_HOLD);
	assert_true(rig_window_is_open(b->r, 0));
	assert_int_equal(rig_stats(b->r).callee_hits, 1);
	assert_int_equal(rig_stats(b->r).skipped_caller, 0);
}

static void test_hit_of_another_caller(void **state)
{
	struct bench *b = *state;

	kernel_came(b, true);
	arm(b, HELPER);
	push(b, 0, 5, RIG_TEXT + NOBODY + 8);
	push(b, 0, 6, RIG_TEXT + SUBJECT - 1);
	push(b, 0, 7, RIG_TEXT + SECOND + SIZE);
	push(b, 0, 64, RIG_TEXT + SUBJECT + 8); /* not at the top of the stack any more */
	assert_int_equal(hit(b, 0, HELPER), TARGET_RESUME);
	assert_int_equal(rig_open_windows(b->r), 0);
	assert_false(rig_has_point(b->r, HELPER));
	assert_int_equal(rig_stats(b->r).hits, 1);
	assert_int_equal(rig_stats(b->r).callee_hits, 1);
	assert_int_equal(rig_stats(b->r).skipped_caller, 1);
}

/* The last page of the words that are looked at is not mapped, or is not a stack's. */
static void test_hit_at_the_end_of_the_stack(void **state)
{
	struct bench *b = *state;
	uint64_t value = RIG_TEXT + SUBJECT + 8;
	struct x86_regs regs = rig_regs(b->r, 0, HELPER);

	kernel_came(b, true);
	arm(b, HELPER);
	fake_write(b->r->ft, RIG_STACKS_GPA + FAKE_STACK_SIZE - sizeof(value), &value, sizeof(value));
	regs.gpr[X86_RSP] = RIG_STACKS + FAKE_STACK_SIZE - 2 * sizeof(value);
	assert_int_equal(rig_hit(b->r, 0, &regs).kind, TARGET_HOLD);
}

/* A hostile guest's RSP is in the last page of the address space. */
static void test_hit_with_a_stack_at_the_end_of_memory(void **state)
{
	struct bench *b = *state;
	struct x86_regs regs = rig_regs(b->r, 0, HELPER);

	make_again(b, 3);
	kernel_came(b, true);
	arm(b, HELPER);
	regs.gpr[X86_RSP] = UINT64_MAX - 6;
	assert_int_equal(rig_hit(b->r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(b->r).skipped_caller, 1);
}

/* The subject's own sites are sampled whatever is on the stack. */
static void test_hit_in_the_subject(void **state)
{
	struct bench *b = *state;

	kernel_came(b, true);
	arm(b, SUBJECT);
	assert_int_equal(hit(b, 0, SUBJECT), TARGET_HOLD);
	assert_int_equal(rig_stats(b->r).callee_hits, 0);
}

/* Another caller of the callee accesses what the subject is about to access: that is a race of the subject. */
static void test_conflict_with_another_caller(void **state)
{
	struct bench *b = *state;
	const struct observation *o;

	kernel_came(b, true);
	rig_code(b->r, HELPER, WRITE_8);
	arm(b, SUBJECT);
	arm(b, HELPER);
	assert_int_equal(hit(b, 0, SUBJECT), TARGET_HOLD);
	assert_int_equal(hit(b, 1, HELPER), TARGET_RESUME);
	o = rig_observation(b->r);
	assert_non_null(o);
	assert_int_equal(o->sides[0].pc, RIG_TEXT + SUBJECT);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + HELPER);
	assert_int_equal(rig_stats(b->r).skipped_caller, 0);
}

/* ---- callees that nearly always have other callers ---- */

/* How often the sites of a function are chosen in a thousand choices. */
static unsigned chosen(struct bench *b, uint32_t at)
{
	struct rng rng = {.state = 3};
	unsigned n = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t site = pool_choose(b->r->d->sampler.pool, &rng) - RIG_TEXT;

		assert_true(site == SUBJECT || site == SECOND || site == HELPER || site == TAIL);
		n += site == at;
	}
	return n;
}

static void executed(struct bench *b, unsigned times, bool other_caller, uint64_t now)
{
	for (unsigned i = 0; i < times; i++)
		callees_executed(b->r->d->callees, RIG_TEXT + HELPER, other_caller, now);
}

static void test_callee_of_others_rests(void **state)
{
	struct bench *b = *state;
	uint64_t now = 1000, rest = CALLEES_REST_NS;

	kernel_came(b, true);
	executed(b, CALLEES_OTHERS - 1, true, now);
	assert_true(chosen(b, HELPER) > 100);
	for (unsigned i = 0; i < 7; i++) {
		executed(b, CALLEES_OTHERS, true, now);
		callees_step(b->r->d->callees, now + rest - 1);
		assert_int_equal(chosen(b, HELPER), 0);
		assert_true(chosen(b, TAIL) > 100);
		callees_step(b->r->d->callees, now + rest);
		assert_true(chosen(b, HELPER) > 100);
		now += rest;
		rest = 2 * rest < CALLEES_REST_MOST_NS ? 2 * rest : CALLEES_REST_MOST_NS;
	}
	assert_int_equal(rest, CALLEES_REST_MOST_NS);
}

static void test_callee_of_the_subject_does_not_rest(void **state)
{
	struct bench *b = *state;

	kernel_came(b, true);
	for (unsigned i = 0; i < 10; i++) {
		executed(b, 1, false, 1);
		executed(b, CALLEES_OTHERS - 1, true, 1);
		assert_true(chosen(b, HELPER) > 100);
	}
}

/* A resting function is not chosen for having been executed either, until it is executed again. */
static void test_resting_function_was_not_executed(void **state)
{
	struct bench *b = *state;
	struct rng rng = {.state = 1};
	struct pool *pool;

	kernel_came(b, true);
	pool = b->r->d->sampler.pool;
	assert_true(chosen(b, HELPER) && chosen(b, SUBJECT)); /* both are decoded now */
	pool_executed(pool, RIG_TEXT + HELPER);
	assert_int_equal(pool_choose_executed(pool, &rng), RIG_TEXT + HELPER);
	pool_rest(pool, RIG_TEXT + HELPER, true);
	assert_int_equal(pool_choose_executed(pool, &rng), 0);
	pool_executed(pool, RIG_TEXT + HELPER);
	assert_int_equal(pool_choose_executed(pool, &rng), 0);
	pool_executed(pool, RIG_TEXT + SUBJECT);
	assert_int_equal(pool_choose_executed(pool, &rng), RIG_TEXT + SUBJECT);
	pool_rest(pool, RIG_TEXT + HELPER, false);
	assert_int_equal(pool_choose_executed(pool, &rng), RIG_TEXT + SUBJECT);
	assert_true(chosen(b, HELPER) > 100);
}

/* ---- the sampler ---- */

static void wait_callees(struct bench *b, unsigned n)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (unsigned ms = 0; rig_stats(b->r).callees != n && ms < PATIENCE_MS; ms++)
		nanosleep(&pause, NULL);
	assert_int_equal(rig_stats(b->r).callees, n);
}

/* From detect_start() on, the callees of a module come and go with the module. */
static void test_sampler_follows_a_module(void **state)
{
	struct bench *b = *state;
	const struct timespec pause = {.tv_nsec = 1000000};
	struct guest *g = &b->r->guest;
	struct err err = {0};
	unsigned polls;

	b->r->config.sample = NULL;
	b->r->config.module = "mod";
	b->r->config.rate = 100000;
	make_again(b, 1);
	g->ready = 1;
	g->module = (struct guest_module){.name = "mod", .base = RIG_TEXT + MODULE, .size = SIZE, .symbols = b->module};
	assert_int_equal(detect_start(b->r->d, &err), 0);
	atomic_store(&g->module_here, true);
	wait_callees(b, 1);
	polls = atomic_load(&g->module_polls);
	atomic_store(&g->module_here, false);
	/* The second poll from now begins after the first one was acted upon. */
	for (unsigned ms = 0; atomic_load(&g->module_polls) < polls + 3 && ms < PATIENCE_MS; ms++)
		nanosleep(&pause, NULL);
	detect_stop(b->r->d);
	assert_false(has(b, HELPER));
	assert_false(pool_has_site(b->r->d->sampler.pool, RIG_TEXT + HELPER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_the_subject_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_everybody_calls_is_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callees_weigh_no_more_than_the_subject, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callee_in_a_module_that_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callee_in_a_module_that_comes_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hit_on_behalf_of_the_subject, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hit_of_another_caller, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hit_at_the_end_of_the_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hit_with_a_stack_at_the_end_of_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hit_in_the_subject, setup, teardown),
		cmocka_unit_test_setup_teardown(test_conflict_with_another_caller, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callee_of_others_rests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callee_of_the_subject_does_not_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_resting_function_was_not_executed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sampler_follows_a_module, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
