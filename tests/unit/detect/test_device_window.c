// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows that begin at a device: a request is held, words of its memory are watched, and its memory is compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/window/device_window.h"
#include "hv/detect/window/device_words.h"
#include "tests/unit/detect/detect_rig.h"

#define RATE 20
#define LONG_NS 60000000000u /* of a window that a busy machine must not end: 60 s */
#define PERIOD_NS (UINT64_C(1000000000) / RATE)

static int setup(void **state)
{
	struct rig *r = rig_new(2, 4);

	if (!r)
		return -1;
	r->config.device_rate = RATE;
	rig_remake(r);
	r->d->life.started_ns = monotonic_ns();
	atomic_store(&r->ft->busy[0], true);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_int_equal(rig_slots_in_use(r), 0);
	assert_int_equal(rig_open_windows(r), 0);
	rig_free(r);
	return 0;
}

static const struct device_request disk_read = {
	.type = "virtio-blk", .queue = 1, .head = 7, .op = DEVICE_BLK_READ, .sector = 8192, .tid = 4711, .thread = "disk0"};
static const struct device_request disk_write = {
	.type = "virtio-blk", .queue = 1, .head = 7, .op = DEVICE_BLK_WRITE, .sector = 8192, .tid = 4711, .thread = "disk0"};

/* Header, data and status of a disk read: the device writes the data to RIG_DATA + 0x1000. */
static const struct device_segment read_segments[] = {
	{.gpa = RIG_DATA_GPA + 0x100, .len = 16},
	{.gpa = RIG_DATA_GPA + 0x1000, .len = 512, .write = true, .descriptor = 1},
	{.gpa = RIG_DATA_GPA + 0x180, .len = 1, .write = true, .descriptor = 2},
};

/* The same of a disk write, which reads the data. */
static const struct device_segment write_segments[] = {
	{.gpa = RIG_DATA_GPA + 0x100, .len = 16},
	{.gpa = RIG_DATA_GPA + 0x1000, .len = 512, .descriptor = 1},
	{.gpa = RIG_DATA_GPA + 0x180, .len = 1, .write = true, .descriptor = 2},
};

static uint64_t begin(struct rig *r, bool write)
{
	const struct target_client *client = detect_client(r->d);

	return client->on_request(client->ctx, write ? &disk_write : &disk_read, write ? write_segments : read_segments, 3);
}

static uint64_t hold_end(struct rig *r, bool last)
{
	const struct target_client *client = detect_client(r->d);

	return client->on_request_hold_end(client->ctx, last);
}

/* Let the device be held to the end of its window. */
static void end(struct rig *r)
{
	while (hold_end(r, false))
		;
}

/* The slot that watches this offset of the data, or -1. */
static int slot_at(struct rig *r, uint64_t offset)
{
	for (unsigned i = 0; i < FAKE_SLOTS; i++) {
		if (r->ft->watched[i] && r->ft->watches[i].gva == RIG_DATA + offset)
			return (int)i;
	}
	return -1;
}

/* Hold requests until the word at this offset is watched. The choice is random, so that takes a few. */
static unsigned hold_until_watched(struct rig *r, bool write, uint64_t offset)
{
	for (unsigned tries = 0; tries < 100; tries++) {
		int slot;

		assert_true(begin(r, write));
		slot = slot_at(r, offset);
		if (slot >= 0)
			return (unsigned)slot;
		hold_end(r, true);
	}
	fail_msg("the word at 0x%llx is never watched", (unsigned long long)offset);
	return 0;
}

/* ---- the choice of requests ---- */

static void test_requests_are_asked_for_at_the_rate(void **state)
{
	struct rig *r = *state;
	uint64_t now = monotonic_ns();

	device_window_step(r->d, now);
	assert_in_range(atomic_load(&r->ft->wanted), 1, 4);
	atomic_store(&r->ft->wanted, 0);
	device_window_step(r->d, now + PERIOD_NS - 1);
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
	device_window_step(r->d, now + PERIOD_NS);
	assert_true(atomic_load(&r->ft->wanted));
}

static void test_no_request_is_asked_for_while_one_is_held(void **state)
{
	struct rig *r = *state;

	assert_true(begin(r, false));
	device_window_step(r->d, monotonic_ns());
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
	assert_int_equal(begin(r, false), 0);
	hold_end(r, true);
	assert_int_equal(rig_stats(r).device_windows, 1);
}

static void test_without_a_rate_there_are_none(void **state)
{
	struct rig *r = *state;

	r->config.device_rate = 0;
	rig_remake(r);
	r->d->life.started_ns = monotonic_ns();
	device_window_step(r->d, monotonic_ns());
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
	assert_int_equal(begin(r, false), 0);
	assert_int_equal(rig_stats(r).device_windows, 0);
}

static void test_before_the_first_sample_point_there_are_none(void **state)
{
	struct rig *r = *state;

	r->d->life.started_ns = 0;
	device_window_step(r->d, monotonic_ns());
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
}

static void test_the_cost_limit_counts_them(void **state)
{
	struct rig *r = *state;

	r->d->config.overhead = 0.1;
	r->d->hit.credit_ns = RIG_DELAY_NS;
	assert_true(begin(r, false));
	assert_true(r->d->hit.credit_ns <= 0);
	assert_true(device_window_left(&r->d->hit.device_window, monotonic_ns()) > 0);
	end(r);
	assert_true(device_window_left(&r->d->hit.device_window, monotonic_ns()) == 0);
	assert_true(rig_stats(r).device_held_ns >= RIG_DELAY_NS);
	/* The credit is used up: nothing is held, and nothing is asked for. */
	assert_int_equal(begin(r, false), 0);
	device_window_step(r->d, monotonic_ns() + 10 * PERIOD_NS);
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
}

/* 10 % of two CPUs are 200 ms a second, and windows at devices get a quarter of that: 10 windows of 5 ms a second, not 20. */
static void test_a_cost_limit_lowers_the_rate(void **state)
{
	struct rig *r = *state;
	uint64_t now = monotonic_ns();

	r->d->config.overhead = 0.1;
	r->d->hit.credit_ns = RIG_DELAY_NS;
	device_window_step(r->d, now);
	atomic_store(&r->ft->wanted, 0);
	device_window_step(r->d, now + 2 * PERIOD_NS - PERIOD_NS / 10);
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
	device_window_step(r->d, now + 2 * PERIOD_NS + PERIOD_NS / 10);
	assert_true(atomic_load(&r->ft->wanted));
}

static void test_a_request_without_memory_is_not_held(void **state)
{
	struct rig *r = *state;
	const struct target_client *client = detect_client(r->d);
	const struct device_segment empty = {.gpa = RIG_DATA_GPA};

	assert_int_equal(client->on_request(client->ctx, &disk_read, &empty, 1), 0);
	assert_int_equal(rig_stats(r).device_windows, 0);
}

/* ---- the hold ---- */

static void test_a_hold_is_as_long_as_a_window(void **state)
{
	struct rig *r = *state;
	uint64_t began = monotonic_ns(), first = begin(r, false), more;

	assert_in_range(first, RIG_DELAY_NS / 4, RIG_DELAY_NS / 4 + 1);
	more = hold_end(r, false);
	assert_true(more > 0 && more <= RIG_DELAY_NS);
	end(r);
	assert_true(monotonic_ns() - began >= RIG_DELAY_NS);
	assert_null(rig_observation(r));
}

static void test_a_hold_is_cut_when_no_cpu_runs(void **state)
{
	struct rig *r = *state;

	atomic_store(&r->ft->busy[0], false);
	assert_true(begin(r, false));
	assert_int_equal(hold_end(r, false), 0);
	assert_true(rig_stats(r).device_held_ns < RIG_DELAY_NS);
}

static void test_the_end_of_the_detector_lets_the_request_go(void **state)
{
	struct rig *r = *state;

	assert_true(begin(r, false));
	pthread_mutex_lock(&r->d->lock);
	r->d->life.closing = true;
	device_window_end(r->d);
	pthread_mutex_unlock(&r->d->lock);
	assert_int_equal(atomic_load(&r->ft->let_go), 1);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_int_equal(hold_end(r, true), 0);
	assert_int_equal(begin(r, false), 0);
}

static void refuse(struct rig *r, bool on)
{
	pthread_mutex_lock(&r->d->lock);
	device_window_refuse(r->d, on);
	pthread_mutex_unlock(&r->d->lock);
}

/* For a copy of the machine, d->lock is held until the devices' threads have come to rest. So these must not wait for it. */
static void test_a_copy_of_the_machine_waits_for_no_window(void **state)
{
	struct rig *r = *state;

	device_window_step(r->d, monotonic_ns());
	assert_true(begin(r, false));
	refuse(r, true);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
	assert_int_equal(atomic_load(&r->ft->let_go), 1);
	assert_int_equal(hold_end(r, true), 0);
	device_window_wait(r->d);
	assert_int_equal(atomic_load(&r->ft->let_go), 1);
	device_window_step(r->d, monotonic_ns() + 10 * PERIOD_NS);
	assert_int_equal(atomic_load(&r->ft->wanted), 0);
	assert_int_equal(begin(r, false), 0);

	refuse(r, false);
	pthread_mutex_lock(&r->d->lock);
	assert_int_equal(begin(r, false), 0);
	pthread_mutex_unlock(&r->d->lock);
	assert_true(begin(r, false));
	hold_end(r, true);
}

/* ---- the watched words ---- */

static void test_words_lie_in_their_segment(void **state)
{
	const struct device_segment odd = {.gpa = 0x1003, .len = 11};
	struct device_word word;

	(void)state;
	word = device_word_at(&odd, 0, 0);
	assert_int_equal(word.gpa, 0x1003);
	assert_int_equal(word.len, 1);
	word = device_word_at(&odd, 0, 1);
	assert_int_equal(word.gpa, 0x1004);
	assert_int_equal(word.len, 4);
	word = device_word_at(&odd, 0, 10);
	assert_int_equal(word.gpa, 0x100c);
	assert_int_equal(word.len, 2);
	word = device_word_at(&odd, 0, 8);
	assert_int_equal(word.gpa, 0x1008);
	assert_int_equal(word.len, 4);
}

static void expect_watches(struct rig *r, bool write)
{
	unsigned n = fake_watch_count(r->ft);

	/* One slot stays free for windows of CPUs. */
	assert_in_range(n, 1, 3);
	for (unsigned i = 0; i < FAKE_SLOTS; i++) {
		const struct target_watch *watch = &r->ft->watches[i];

		if (!r->ft->watched[i])
			continue;
		/* Reads conflict with a device that writes, and not with a device that reads. */
		assert_int_equal(watch->read, !write);
		assert_int_equal(watch->owner, TARGET_MAX_CPUS);
		assert_true(watch->gva >= RIG_DATA + 0x1000 && watch->gva + watch->len <= RIG_DATA + 0x1200);
	}
	assert_int_equal(r->ft->last_self, 2);
}

static void test_words_of_the_data_are_watched(void **state)
{
	struct rig *r = *state;

	for (unsigned i = 0; i < 50; i++) {
		assert_true(begin(r, i % 2));
		expect_watches(r, i % 2);
		hold_end(r, true);
		assert_int_equal(fake_watch_count(r->ft), 0);
	}
}

static void test_first_and_last_word_have_their_turn(void **state)
{
	struct rig *r = *state;

	hold_until_watched(r, false, 0x1000);
	hold_end(r, true);
	hold_until_watched(r, false, 0x11f8);
	hold_end(r, true);
}

static void test_without_an_address_nothing_is_watched(void **state)
{
	struct rig *r = *state;

	r->guest.mapped_size = 0;
	assert_true(begin(r, false));
	assert_int_equal(fake_watch_count(r->ft), 0);
	end(r);
}

/* ---- conflicts ---- */

static const struct observation *expect_conflict(struct rig *r, bool write, uint64_t offset)
{
	const struct observation *o = rig_observation(r);

	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_DEVICE_WINDOW);
	assert_true(o->sides[0].kind == RACE_SIDE_CPU);
	assert_int_equal(o->sides[0].cpu, 1);
	assert_int_equal(o->sides[0].gva, RIG_DATA + offset);
	assert_int_equal(o->gpa, RIG_DATA_GPA + offset);
	assert_int_equal(o->data_len, 8);
	assert_true(o->sides[1].kind == RACE_SIDE_DEVICE);
	assert_int_equal(o->sides[1].rw, write ? INSN_READ : INSN_WRITE);
	assert_memory_equal(&o->sides[1].device.request, write ? &disk_write : &disk_read, sizeof(disk_read));
	assert_int_equal(o->sides[1].device.gpa, RIG_DATA_GPA + offset);
	assert_int_equal(o->sides[1].device.descriptor, 1);
	assert_true(o->window.known);
	assert_int_equal(o->window.hold_ns, RIG_DELAY_NS);
	assert_true(o->window.watched_ns > 0);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 1);
	assert_int_equal(rig_stats(r).device_conflicts, 1);
	return o;
}

/* A CPU reads the last word of what a device fills. The window ends, and the request is let go. */
static void test_a_read_of_what_a_device_fills(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0);
	unsigned slot = hold_until_watched(r, false, 0x11f8);

	assert_int_equal(rig_watch_hit(r, 1, &regs, rig_cookie(r, slot)).kind, TARGET_RESUME);
	expect_conflict(r, false, 0x11f8);
	assert_int_equal(atomic_load(&r->ft->let_go), 1);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_int_equal(hold_end(r, true), 0);
}

/* A CPU writes the first word of what a device reads. */
static void test_a_write_of_what_a_device_reads(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0);
	const struct observation *o;
	unsigned slot;

	rig_store(r, 0x1000, "ABCDEFGH", 8);
	slot = hold_until_watched(r, true, 0x1000);
	rig_store(r, 0x1000, "abcdefgh", 8);
	rig_watch_hit(r, 1, &regs, rig_cookie(r, slot));
	o = expect_conflict(r, true, 0x1000);
	assert_memory_equal(o->before, "ABCDEFGH", 8);
	assert_memory_equal(o->after, "abcdefgh", 8);
	hold_end(r, true);
}

/* The hit of a watch that was removed is of an access that may have come after the device's. */
static void test_a_late_hit_is_no_conflict(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0);
	uint32_t cookie = rig_cookie(r, hold_until_watched(r, false, 0x1000));

	hold_end(r, true);
	assert_int_equal(rig_watch_hit(r, 1, &regs, cookie).kind, TARGET_NOT_MINE);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
}

/* ---- the comparison ---- */

/* A change tells which word to watch: for the rest of the window, and in later requests of the kind. */
static void test_a_changed_word_is_watched(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0);
	uint64_t offset = 0x10a0;
	int slot;

	r->d->config.delay_ns = LONG_NS;
	assert_true(begin(r, true));
	while (slot_at(r, offset) >= 0)
		offset += 8;
	rig_store(r, offset + 3, "x", 1);
	assert_true(hold_end(r, false));
	assert_int_equal(rig_stats(r).device_unseen, 1);
	assert_int_equal(r->ft->barriers, 1);
	assert_true(slot_at(r, offset) >= 0);
	/* The change itself is counted once. */
	hold_end(r, true);
	assert_int_equal(rig_stats(r).device_unseen, 1);
	assert_null(rig_observation(r));
	r->d->config.delay_ns = RIG_DELAY_NS;

	assert_true(begin(r, true));
	slot = slot_at(r, offset);
	assert_true(slot >= 0);
	rig_watch_hit(r, 1, &regs, rig_cookie(r, (unsigned)slot));
	expect_conflict(r, true, offset);
	hold_end(r, true);
	/* What was learnt of writes says nothing of reads. */
	assert_true(begin(r, false));
	hold_end(r, true);
}

/* Code that uses the data when the request is done shows which word to watch in later requests of the kind. */
static void test_a_word_that_code_uses_is_watched(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);
	unsigned watched = 0;

	regs.gpr[X86_RDI] = RIG_DATA + 0x1148;
	assert_true(begin(r, false));
	hold_end(r, true);
	rig_plant(r, 0, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	rig_hold_end(r, 0, &regs);
	for (unsigned i = 0; i < 8; i++) {
		assert_true(begin(r, false));
		watched += slot_at(r, 0x1148) >= 0;
		hold_end(r, true);
	}
	assert_int_equal(watched, 8);
	/* Nothing was seen of disk writes. */
	assert_int_equal(r->d->hit.device_window.touched_count, 1);
}

/* The last byte of a request, and a byte behind it, which is not the device's. */
static void test_the_whole_memory_is_compared(void **state)
{
	struct rig *r = *state;

	assert_true(begin(r, true));
	rig_store(r, 0xfff, "x", 1);
	rig_store(r, 0x1200, "x", 1);
	rig_store(r, 0x181, "x", 1);
	end(r);
	assert_int_equal(rig_stats(r).device_unseen, 0);

	assert_true(begin(r, true));
	rig_store(r, 0x11ff, "y", 1);
	end(r);
	assert_int_equal(rig_stats(r).device_unseen, 1);
	assert_true(begin(r, true));
	rig_store(r, 0x180, "y", 1);
	end(r);
	assert_int_equal(rig_stats(r).device_unseen, 2);
}

/* A hostile request is longer than what is copied: what lies behind is not compared, and nothing is written behind the copy. */
static void test_a_long_request_is_compared_in_part(void **state)
{
	struct rig *r = *state;
	const struct target_client *client = detect_client(r->d);
	struct device_segment segments[24];

	for (unsigned i = 0; i < 24; i++)
		segments[i] = (struct device_segment){.gpa = RIG_DATA_GPA, .len = RIG_DATA_SIZE, .write = true};
	assert_true(24 * RIG_DATA_SIZE > DEVICE_COPY_MAX);
	assert_true(client->on_request(client->ctx, &disk_read, segments, 24));
	assert_int_equal(r->d->hit.device_window.copied, DEVICE_COPY_MAX);
	rig_store(r, 0x8000, "x", 1);
	end(r);
	assert_int_equal(rig_stats(r).device_unseen, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_requests_are_asked_for_at_the_rate),
		TEST(test_no_request_is_asked_for_while_one_is_held),
		TEST(test_without_a_rate_there_are_none),
		TEST(test_before_the_first_sample_point_there_are_none),
		TEST(test_the_cost_limit_counts_them),
		TEST(test_a_cost_limit_lowers_the_rate),
		TEST(test_a_request_without_memory_is_not_held),
		TEST(test_a_hold_is_as_long_as_a_window),
		TEST(test_a_hold_is_cut_when_no_cpu_runs),
		TEST(test_the_end_of_the_detector_lets_the_request_go),
		TEST(test_a_copy_of_the_machine_waits_for_no_window),
		TEST(test_words_lie_in_their_segment),
		TEST(test_words_of_the_data_are_watched),
		TEST(test_first_and_last_word_have_their_turn),
		TEST(test_without_an_address_nothing_is_watched),
		TEST(test_a_read_of_what_a_device_fills),
		TEST(test_a_write_of_what_a_device_reads),
		TEST(test_a_late_hit_is_no_conflict),
		TEST(test_a_changed_word_is_watched),
		TEST(test_a_word_that_code_uses_is_watched),
		TEST(test_the_whole_memory_is_compared),
		TEST(test_a_long_request_is_compared_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
