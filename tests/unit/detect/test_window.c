/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hits of sample points: whether a window opens, how long it stays open, and which memory it watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/detect/detect_rig.h"

#define US 1000u
#define REP_STOSB INSN("\xf3\xaa")

static int setup(void **state)
{
	*state = rig_new(3, 4);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	rig_free(r);
	return 0;
}

/* Let CPU 0 hit the point, and check that it is held there. */
static struct target_action hold(struct rig *r, uint64_t offset, struct x86_regs *regs)
{
	struct target_action action = rig_hit(r, 0, regs);

	assert_int_equal(action.kind, TARGET_HOLD);
	assert_int_equal(rig_text_byte(r, offset), X86_INT3);
	return action;
}

static void test_read_watches_writes(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	rig_plant(r, 0, READ_8);
	hold(r, 0, &regs);
	assert_int_equal(fake_watch_count(r->ft), 1);
	assert_int_equal(r->ft->watches[0].gva, RIG_DATA);
	assert_int_equal(r->ft->watches[0].len, 8);
	assert_int_equal(r->ft->watches[0].owner, 0);
	assert_false(r->ft->watches[0].read);
	assert_int_equal(r->ft->syncs, 1);
	assert_int_equal(r->ft->last_self, 0);
}

/* Each phase of a window counts once. A window without watches does not wait for watches. */
static void test_phases_are_counted(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);
	struct detect_stats stats;

	rig_plant(r, 0, READ_8);
	hold(r, 0, &regs);
	stats = rig_stats(r);
	for (unsigned i = 0; i < WINDOW_PHASES; i++)
		assert_int_equal(stats.phase[i].count, i < WINDOW_HELD);
	rig_hold_end(r, 0, &regs);
	rig_hold_end(r, 0, &regs);
	stats = rig_stats(r);
	for (unsigned i = 0; i < WINDOW_PHASES; i++) {
		uint64_t sum = 0;

		assert_int_equal(stats.phase[i].count, 1);
		for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
			sum += stats.phase[i].bucket[k];
		assert_int_equal(sum, 1);
	}
}

static void test_histogram(void **state)
{
	struct histogram h = {0};

	(void)state;
	histogram_add(&h, 0);
	histogram_add(&h, 1);
	histogram_add(&h, 1023);
	histogram_add(&h, 1024);
	histogram_add(&h, UINT64_C(1) << 60);
	assert_int_equal(h.count, 5);
	assert_int_equal(h.bucket[0], 1);
	assert_int_equal(h.bucket[1], 1);
	assert_int_equal(h.bucket[10], 1);
	assert_int_equal(h.bucket[11], 1);
	assert_int_equal(h.bucket[HISTOGRAM_BUCKETS - 1], 1);
	assert_int_equal(h.sum_ns, 2048 + (UINT64_C(1) << 60));
}

static void test_write_watches_all(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	rig_plant(r, 0, WRITE_8);
	hold(r, 0, &regs);
	assert_true(r->ft->watches[0].read);
}

static void test_two_operands(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);
	struct target_watch *w = r->ft->watches;

	rig_plant(r, 0, INSN("\x48\xa5")); /* movsq */
	hold(r, 0, &regs);
	assert_int_equal(fake_watch_count(r->ft), 2);
	assert_int_equal(w[0].gva, RIG_DATA + 0x100);
	assert_false(w[0].read);
	assert_int_equal(w[1].gva, RIG_DATA);
	assert_true(w[1].read);
	assert_int_not_equal(w[0].cookie, w[1].cookie);
	assert_int_equal(r->ft->syncs, 1);
}

/* The number of naturally aligned pieces of at most 8 bytes that cover [gva, gva+len), chosen greedily from the start. */
static unsigned pieces_needed(uint64_t gva, uint64_t len)
{
	unsigned n = 0;

	for (uint64_t end = gva + len, size; gva < end; gva += size, n++) {
		size = 8;
		while (gva % size || gva + size > end)
			size /= 2;
	}
	return n;
}

/*
 * Check the watches on [gva, gva+len): each is aligned to its size, they do not overlap, none covers a byte outside, and bytes
 * are left out only if no slot is free.
 */
static void check_cover(struct rig *r, uint64_t gva, uint64_t len)
{
	unsigned needed = pieces_needed(gva, len), used = fake_watch_count(r->ft);
	uint8_t seen[128] = {0};
	uint64_t bytes = 0;

	assert_int_equal(used, needed < 4 ? needed : 4);
	for (unsigned i = 0; i < FAKE_SLOTS; i++) {
		const struct target_watch *w = &r->ft->watches[i];

		if (!r->ft->watched[i])
			continue;
		assert_true(w->len == 1 || w->len == 2 || w->len == 4 || w->len == 8);
		assert_int_equal(w->gva % w->len, 0);
		assert_true(w->gva >= gva && w->gva + w->len <= gva + len);
		for (unsigned b = 0; b < w->len; b++)
			assert_int_equal(seen[w->gva - gva + b]++, 0);
		bytes += w->len;
	}
	if (needed <= 4)
		assert_int_equal(bytes, len);
}

static void test_exact_cover(void **state)
{
	struct rig *r = *state;
	uint64_t no_watch = 0;

	for (uint64_t len = 1; len <= RACE_DATA_MAX; len++) {
		for (uint64_t at = X86_PAGE_SIZE - 20; at < X86_PAGE_SIZE + 4; at++) {
			struct x86_regs regs = rig_regs(r, 0, 0);

			regs.gpr[X86_RDI] += at;
			regs.gpr[X86_RCX] = len;
			rig_plant(r, 0, REP_STOSB);
			hold(r, 0, &regs);
			check_cover(r, RIG_DATA + at, len);
			no_watch += pieces_needed(RIG_DATA + at, len) > 4;
			assert_int_equal(rig_stats(r).no_watch, no_watch);
			assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
			assert_int_equal(fake_watch_count(r->ft), 0);
		}
	}
}

/* The window watches only the first bytes of a long access, and no_watch counts it. */
static void test_long_run(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0), other = rig_regs(r, 1, 0x123);
	const struct observation *o;

	regs.gpr[X86_RCX] = RACE_DATA_MAX + 1;
	rig_plant(r, 0, REP_STOSB);
	hold(r, 0, &regs);
	assert_int_equal(rig_stats(r).no_watch, 1);
	assert_int_equal(rig_watch_hit(r, 1, &other, rig_cookie(r, 0)).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->data_len, RACE_DATA_MAX);
}

static void test_slots_run_out(void **state)
{
	struct rig *r = *state;
	struct x86_regs first = rig_regs(r, 0, 0), second = rig_regs(r, 1, 0x20);

	first.gpr[X86_RDI] += 1; /* 1 + 2 + 4 + 1 bytes */
	second.gpr[X86_RDI] += 0x40;
	rig_plant(r, 0, READ_8);
	rig_plant(r, 0x20, READ_8);
	hold(r, 0, &first);
	assert_int_equal(rig_hit(r, 1, &second).kind, TARGET_HOLD);
	assert_int_equal(fake_watch_count(r->ft), 4);
	assert_int_equal(rig_stats(r).no_watch, 1);
	assert_int_equal(r->ft->syncs, 1); /* the second window has no watch to wait for */

	/* The first window's slots are free again. */
	assert_int_equal(rig_hold_end(r, 0, &first).kind, TARGET_RESUME);
	rig_plant(r, 0, READ_8);
	hold(r, 0, &first);
	assert_int_equal(fake_watch_count(r->ft), 4);
}

/* Another process has other memory at the same user address, so a watchpoint hit there would prove no conflict. */
static void test_user_address(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RDI] = RIG_USER;
	rig_plant(r, 0, WRITE_8);
	hold(r, 0, &regs);
	assert_int_equal(r->ft->watch_sets, 0);
	assert_int_equal(r->ft->syncs, 0);
	assert_int_equal(rig_stats(r).no_watch, 1);
}

static void expect_skipped(struct rig *r, struct x86_regs *regs)
{
	assert_int_equal(rig_hit(r, 0, regs).kind, TARGET_RESUME);
	assert_int_not_equal(rig_text_byte(r, 0), X86_INT3);
	assert_int_equal(rig_stats(r).armed, 0);
	assert_int_equal(rig_open_windows(r), 0);
	assert_int_equal(r->ft->watch_sets, 0);
}

static void test_own_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x80;
	rig_plant(r, 0, WRITE_8);
	expect_skipped(r, &regs);
	assert_int_equal(rig_stats(r).skipped_stack, 1);
}

/* The detector watches another CPU's stack like any other memory. */
static void test_other_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x80 + 2 * FAKE_STACK_SIZE;
	rig_plant(r, 0, WRITE_8);
	hold(r, 0, &regs);
}

static void test_no_memory(void **state)
{
	struct rig *r = *state;
	const uint64_t addresses[] = {RIG_DATA + RIG_DATA_SIZE, RIG_DATA + RIG_DATA_SIZE - 4, RIG_IO, 0x0000800000000000ull,
				      0xfffffffffffffffcull};

	for (unsigned i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		struct x86_regs regs = rig_regs(r, 0, 0);

		regs.gpr[X86_RDI] = addresses[i];
		rig_plant(r, 0, READ_8);
		expect_skipped(r, &regs);
		assert_int_equal(rig_stats(r).skipped_memory, i + 1);
	}
}

static void test_rep_count_zero(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	rig_plant(r, 0, REP_STOSB);
	expect_skipped(r, &regs);
	assert_int_equal(rig_stats(r).skipped_memory, 1);
}

/* Check that the CPU is never held for longer than `most` ns. Returns the longest window seen. */
static uint64_t longest_hold(struct rig *r, uint64_t rflags, uint64_t most)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct x86_regs regs = rig_regs(r, 0, 0);
		struct target_action action;

		regs.rflags = rflags;
		rig_rest(r, 0, 0);
		rig_plant(r, 0, READ_8);
		action = rig_hit(r, 0, &regs);
		if (action.kind == TARGET_RESUME)
			continue;
		assert_int_equal(action.kind, TARGET_HOLD);
		assert_true(action.hold_ns <= rig_window_ns(r, 0));
		assert_true(rig_window_ns(r, 0) <= most);
		if (rig_window_ns(r, 0) > longest)
			longest = rig_window_ns(r, 0);
		assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	}
	return longest;
}

static void test_delay_irqs_off(void **state)
{
	struct rig *r = *state;

	assert_true(longest_hold(r, 2, 1000 * US - 1) > 500 * US);
}

/* The configured delay is shorter than the limit for interrupts off, and so limits these windows too. */
static void test_delay_irqs_off_short(void **state)
{
	struct rig *r = *state;

	r->config.delay_ns = 200 * US;
	rig_remake(r);
	assert_true(longest_hold(r, 2, 200 * US) > 100 * US);
}

static void test_delay_preempt_off(void **state)
{
	struct rig *r = *state;

	r->guest.context.preempt_off = true;
	assert_true(longest_hold(r, X86_RFLAGS_IF, 1000 * US - 1) > 500 * US);
}

static void test_delay_task(void **state)
{
	struct rig *r = *state;

	assert_int_equal(longest_hold(r, X86_RFLAGS_IF, RIG_DELAY_NS), RIG_DELAY_NS);
}

/* The detector does not know whether the context can be preempted, and so assumes that it cannot. */
static void test_delay_unknown(void **state)
{
	struct rig *r = *state;

	r->guest.context.known = false;
	assert_true(longest_hold(r, X86_RFLAGS_IF, 1000 * US - 1) > 500 * US);
}

static void test_delay_nmi(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	r->guest.context.kind = GUEST_NMI;
	rig_plant(r, 0, READ_8);
	expect_skipped(r, &regs);
	assert_int_equal(rig_stats(r).skipped_short, 1);
}

static void test_delay_none(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	r->config.delay_ns = 0;
	rig_remake(r);
	rig_plant(r, 0, READ_8);
	expect_skipped(r, &regs);
	assert_int_equal(rig_stats(r).skipped_short, 1);
}

/* After a hold with interrupts off, the detector does not hold the CPU with interrupts off for a while. */
static void test_irqs_off_rest(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.rflags = 2;
	rig_rest(r, 0, UINT64_MAX);
	rig_plant(r, 0, READ_8);
	expect_skipped(r, &regs);
	assert_int_equal(rig_stats(r).skipped_short, 1);
}

static void test_irqs_on_during_rest(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	rig_rest(r, 0, UINT64_MAX);
	rig_plant(r, 0, READ_8);
	hold(r, 0, &regs);
}

/* If all other CPUs sleep, nothing can conflict, so the detector ends the window early. */
static void test_nobody_runs(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	r->config.delay_ns = 1000000000000;
	rig_remake(r);
	rig_plant(r, 0, READ_8);
	assert_true(hold(r, 0, &regs).hold_ns < r->config.delay_ns / 2);
	atomic_store(&r->ft->busy[0], true); /* the held CPU itself does not count */
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).cut_idle, 1);
	assert_int_equal(rig_open_windows(r), 0);
}

static void test_somebody_runs(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);
	struct target_action first, second;

	r->config.delay_ns = 1000000000000;
	rig_remake(r);
	atomic_store(&r->ft->busy[2], true);
	rig_plant(r, 0, READ_8);
	first = hold(r, 0, &regs);
	second = rig_hold_end(r, 0, &regs);
	assert_int_equal(second.kind, TARGET_HOLD);
	assert_true(second.hold_ns > first.hold_ns && second.hold_ns <= r->config.delay_ns);
	assert_true(rig_window_is_open(r, 0));
	assert_int_equal(rig_text_byte(r, 0), X86_INT3);
	/* The detector checks for running CPUs only once in a window. */
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).cut_idle, 0);
	assert_int_equal(rig_open_windows(r), 0);
}

/* The wake-ups of a sleeping CPU were frequent: it will wake up before the window ends, so the window goes on. */
static void test_sleeper_wakes_up(void **state)
{
	struct rig *r = *state;
	struct target_action action = {.kind = TARGET_RESUME};

	r->config.delay_ns = 1000000000000;
	rig_remake(r);
	/* The detector averages over a time that the test does not know. */
	while (action.kind != TARGET_HOLD) {
		struct x86_regs regs = rig_regs(r, 0, 0);

		rig_plant(r, 0, READ_8);
		hold(r, 0, &regs);
		atomic_fetch_add(&r->ft->wake_ups[2], 1000);
		action = rig_hold_end(r, 0, &regs);
	}
	assert_true(rig_stats(r).cut_idle > 0);
	assert_true(rig_window_is_open(r, 0));
}

/* Wake-ups of the held CPU, which serves interrupts in its window, and rare ones of other CPUs keep no window open. */
static void test_sleeper_sleeps_on(void **state)
{
	struct rig *r = *state;
	uint64_t began = monotonic_ns();

	r->config.delay_ns = 10000;
	rig_remake(r);
	while (monotonic_ns() - began < 200000000) {
		struct x86_regs regs = rig_regs(r, 0, 0);

		rig_plant(r, 0, READ_8);
		hold(r, 0, &regs);
		atomic_fetch_add(&r->ft->wake_ups[0], 1000);
		assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	}
}

/* Open a window on each of CPU 0 and 1, in this order. CPU 2 is the last that runs. Returns a time at which both were open. */
static uint64_t hold_two(struct rig *r)
{
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		struct x86_regs regs = rig_regs(r, cpu, 0x20 * cpu);

		regs.gpr[X86_RDI] += 0x40 * cpu;
		rig_plant(r, 0x20 * cpu, READ_8);
		assert_int_equal(rig_hit(r, cpu, &regs).kind, TARGET_HOLD);
	}
	return monotonic_ns();
}

static struct target_action hit_on_last(struct rig *r)
{
	struct x86_regs regs = rig_regs(r, 2, 0x40);

	regs.gpr[X86_RDI] += 0x80;
	rig_plant(r, 0x40, READ_8);
	return rig_hit(r, 2, &regs);
}

/* The last CPU gets a window when another window has had a quarter of its time. The first of four windows is not cut. */
static void test_last_one_has_its_turn(void **state)
{
	struct rig *r = *state;
	uint64_t began = hold_two(r);

	while (monotonic_ns() - began < RIG_DELAY_NS / 4)
		;
	assert_int_equal(hit_on_last(r).kind, TARGET_HOLD);
	assert_true(rig_window_is_open(r, 0));
	assert_false(rig_window_is_open(r, 1));
	assert_true(rig_window_is_open(r, 2));
	assert_int_equal(r->ft->releases[1], 1);
	assert_int_not_equal(rig_text_byte(r, 0x20), X86_INT3);
	assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
	assert_int_equal(rig_stats(r).cut_turn, 1);
	assert_int_equal(rig_stats(r).skipped_last, 0);
	assert_int_equal(fake_watch_count(r->ft), 2);
}

/* Memory has changed in the only window that may be cut: this window decides on its conflict first. */
static void test_changed_window_stays(void **state)
{
	struct rig *r = *state;
	uint64_t began = hold_two(r);

	rig_store(r, 0x40, "x", 1);
	while (monotonic_ns() - began < RIG_DELAY_NS / 4)
		;
	assert_int_equal(hit_on_last(r).kind, TARGET_RESUME);
	assert_true(rig_window_is_open(r, 1));
	assert_int_equal(rig_stats(r).skipped_last, 1);
}

static void test_last_one_passes(void **state)
{
	struct rig *r = *state;

	r->config.delay_ns = 1000000000000;
	rig_remake(r);
	for (unsigned cpu = 0; cpu < 3; cpu++) {
		struct x86_regs regs = rig_regs(r, cpu, 0x20 * cpu);

		regs.gpr[X86_RDI] += 0x40 * cpu;
		rig_plant(r, 0x20 * cpu, READ_8);
		assert_int_equal(rig_hit(r, cpu, &regs).kind, cpu < 2 ? TARGET_HOLD : TARGET_RESUME);
	}
	assert_int_equal(rig_open_windows(r), 2);
	assert_int_equal(rig_stats(r).skipped_last, 1);
	assert_int_equal(rig_text_byte(r, 0x20), X86_INT3);
	assert_int_not_equal(rig_text_byte(r, 0x40), X86_INT3);
}

/* A CPU that was held for long is not held again now. Another CPU is. */
static void test_held_too_long(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0), other = rig_regs(r, 1, 0x20);

	rig_plant(r, 0, READ_8);
	rig_plant(r, 0x20, READ_8);
	assert_true(rig_may_be_held(r, 0, monotonic_ns()));
	rig_was_held(r, 0, 1000000000000);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).skipped_held, 1);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_HOLD);
	assert_int_equal(rig_stats(r).skipped_held, 1);
}

/* A CPU that hits a point all the time is held for three quarters of the time, and for 1.5 s more. */
static void test_share_of_time_held(void **state)
{
	struct rig *r = *state;
	const uint64_t begin = 1000000000, step = 10000000, end = begin + 20000000000;
	uint64_t now = begin, held = 0;

	for (; now < end; now += step) {
		if (!rig_may_be_held(r, 0, now))
			continue;
		rig_was_held(r, 0, step);
		held += step;
	}
	assert_in_range(held, (end - begin) * 3 / 4 + 1400000000, (end - begin) * 3 / 4 + 1600000000);
}

static int setup_single(void **state)
{
	*state = rig_new(1, 4);
	return *state ? 0 : -1;
}

static void test_single_cpu(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	r->ft->target.caps.irq_while_held = false;
	rig_plant(r, 0, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).skipped_last, 1);
}

/* A held CPU takes interrupts if they are on, and its access may race with their handlers. */
static void test_single_cpu_with_irqs(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	r->ft->target.caps.irq_while_held = true;
	rig_plant(r, 0, READ_8);
	hold(r, 0, &regs);
	assert_int_equal(rig_stats(r).skipped_last, 0);
}

static void test_closing(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	detect_stop(r->d);
	rig_plant(r, 0, READ_8);
	expect_skipped(r, &regs);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_read_watches_writes),
		T(test_phases_are_counted),
		cmocka_unit_test(test_histogram),
		T(test_write_watches_all),
		T(test_two_operands),
		T(test_exact_cover),
		T(test_long_run),
		T(test_slots_run_out),
		T(test_user_address),
		T(test_own_stack),
		T(test_other_stack),
		T(test_no_memory),
		T(test_rep_count_zero),
		T(test_delay_irqs_off),
		T(test_delay_irqs_off_short),
		T(test_delay_preempt_off),
		T(test_delay_task),
		T(test_delay_unknown),
		T(test_delay_nmi),
		T(test_delay_none),
		T(test_irqs_off_rest),
		T(test_irqs_on_during_rest),
		T(test_nobody_runs),
		T(test_somebody_runs),
		T(test_sleeper_wakes_up),
		T(test_sleeper_sleeps_on),
		T(test_last_one_has_its_turn),
		T(test_changed_window_stays),
		T(test_last_one_passes),
		T(test_held_too_long),
		T(test_share_of_time_held),
		cmocka_unit_test_setup_teardown(test_single_cpu, setup_single, teardown),
		cmocka_unit_test_setup_teardown(test_single_cpu_with_irqs, setup_single, teardown),
		T(test_closing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
