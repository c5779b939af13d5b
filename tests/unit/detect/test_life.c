/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From detect_start() to detect_stop(): the sampler arms, follows modules, and leaves the guest's text as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/linux_image.h"
#include "hv/detect/core/state.h"
#include "tests/unit/detect/detect_rig.h"

#define KERNEL_SITES 300u
#define MODULE 0x4000u /* offset in the text */
#define MODULE_SIZE 0x100u
#define SITE_LEN 3u
#define PATIENCE_NS 60000000000u /* the cap on waiting for what takes milliseconds on an idle machine */

struct life {
	struct rig *r;
	bool running;
	uint8_t *text; /* as the guest wrote it */
	struct symtab *module;
	atomic_uint failures, races, messages, complaints, logs_read;
	struct err failure;
	struct complaint complaint;
	/* The function of the second side of the last race. */
	char second[64];
};

static void on_race(void *ctx, const struct observation *o)
{
	struct life *l = ctx;

	snprintf(l->second, sizeof(l->second), "%.63s", o->sides[1].symbol.name);
	atomic_fetch_add(&l->races, 1);
}

static void on_message(void *ctx, const char *line)
{
	struct life *l = ctx;

	(void)line;
	atomic_fetch_add(&l->messages, 1);
}

static void on_failed(void *ctx, const struct err *err)
{
	struct life *l = ctx;

	l->failure = *err;
	atomic_fetch_add(&l->failures, 1);
}

static void on_complaint(void *ctx, const struct complaint *c)
{
	struct life *l = ctx;

	l->complaint = *c;
	atomic_fetch_add(&l->complaints, 1);
}

static void on_log_read(void *ctx)
{
	struct life *l = ctx;

	atomic_fetch_add(&l->logs_read, 1);
}

static void write_text(struct life *l)
{
	static const struct symbol module = {.name = "mod_fn", .addr = RIG_TEXT + MODULE, .size = MODULE_SIZE, .type = 't'};
	const struct symbol kernel[] = {
		{.name = "_stext", .addr = RIG_TEXT, .type = 'T'},
		{.name = "kernel_fn", .addr = RIG_TEXT, .size = KERNEL_SITES * SITE_LEN, .type = 't'},
		{.name = "_etext", .addr = RIG_TEXT + KERNEL_SITES * SITE_LEN, .type = 'T'},
	};
	struct guest_module *m = &l->r->guest.module;

	for (unsigned i = 0; i < KERNEL_SITES; i++)
		rig_code(l->r, i * SITE_LEN, READ_8);
	for (unsigned i = 0; i < MODULE_SIZE / SITE_LEN; i++)
		rig_code(l->r, MODULE + i * SITE_LEN, WRITE_8);
	memcpy(l->text, l->r->ft->ram + RIG_TEXT_GPA, RIG_TEXT_SIZE);
	rig_functions(l->r, kernel, sizeof(kernel) / sizeof(*kernel));
	l->module = symtab_from_array(&module, 1, NULL);
	assert_non_null(l->module);
	*m = (struct guest_module){.name = "mod", .base = module.addr, .size = module.size, .symbols = l->module};
}

static int setup(void **state)
{
	struct life *l = calloc(1, sizeof(*l));

	*state = l;
	if (!l)
		return -1;
	l->r = rig_new(2, 4);
	l->text = malloc(RIG_TEXT_SIZE);
	if (!l->r || !l->text)
		return -1;
	write_text(l);
	l->r->guest.ready = 1;
	l->r->config.rate = 100000;
	l->r->sink = (struct detect_sink){.race = on_race,
					  .message = on_message,
					  .failed = on_failed,
					  .log_read = on_log_read,
					  .complaint = on_complaint,
					  .ctx = l};
	rig_remake(l->r);
	return 0;
}

static int teardown(void **state)
{
	struct life *l = *state;

	if (l->running) /* the test failed */
		detect_stop(l->r->d);
	assert_int_equal(l->r->ft->misuses, 0);
	rig_free(l->r);
	symtab_free(l->module);
	free(l->text);
	free(l);
	return 0;
}

static void pause_ms(unsigned ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Wait until the number of INT3s in the text there is in these bounds. */
static void wait_int3s(struct life *l, uint64_t offset, uint64_t size, unsigned at_least, unsigned at_most)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	for (;;) {
		unsigned n = rig_int3s(l->r, offset, size);

		if (n >= at_least && n <= at_most)
			return;
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
}

static void wait_count(atomic_uint *count)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (!atomic_load(count)) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
}

static void start(struct life *l)
{
	assert_int_equal(detect_start(l->r->d, NULL), 0);
	l->running = true;
}

static void stop_and_compare(struct life *l)
{
	detect_stop(l->r->d);
	l->running = false;
	assert_memory_equal(l->r->ft->ram + RIG_TEXT_GPA, l->text, RIG_TEXT_SIZE);
	assert_int_equal(fake_watch_count(l->r->ft), 0);
	assert_int_equal(rig_stats(l->r).armed, 0);
	assert_int_equal(rig_open_windows(l->r), 0);
	assert_int_equal(atomic_load(&l->r->ft->inside), 0);
}

static void test_arms_and_disarms(void **state)
{
	struct life *l = *state;
	struct detect_stats stats;

	start(l);
	wait_int3s(l, 0, RIG_TEXT_SIZE, 200, KERNEL_SITES);
	assert_int_equal(rig_int3s(l->r, KERNEL_SITES * SITE_LEN, RIG_TEXT_SIZE - KERNEL_SITES * SITE_LEN), 0);
	detect_stats(l->r->d, &stats);
	assert_true(stats.armed >= 200 && stats.sampling_ns > 0);
	assert_int_equal(stats.refused, 0);
	stop_and_compare(l);
	assert_true(l->r->ft->intercepts > 0);
	assert_int_equal(atomic_load(&l->failures), 0);
	assert_true(atomic_load(&l->messages) > 0);
}

/* The stopper's thread asks for the counts while the target may keep the detector waiting. */
static void test_counts_without_waiting(void **state)
{
	struct life *l = *state;
	struct detect_stats stats = {.armed = 7};
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	start(l);
	wait_int3s(l, 0, RIG_TEXT_SIZE, 200, KERNEL_SITES);
	detect_enter(l->r->d);
	assert_false(detect_try_stats(l->r->d, &stats));
	assert_int_equal(stats.armed, 7);
	detect_leave(l->r->d);
	while (!detect_try_stats(l->r->d, &stats))
		pause_ms(2);
	assert_true(stats.armed >= 200 && stats.sampling_ns > 0);
	/* What sampling has cost by now is among them. */
	l->r->ft->lost_ns += 70;
	l->r->ft->still_ns += 30;
	do {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
		detect_try_stats(l->r->d, &stats);
	} while (stats.target.lost_ns != 70 || stats.target.still_ns != 30);
	stop_and_compare(l);
}

/* A guest can make reading its modules take long. The user who ends the run does not wait for that. */
static void test_poll_is_cancelled(void **state)
{
	struct life *l = *state;
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	atomic_store(&l->r->guest.poll_hangs, true);
	start(l);
	while (!atomic_load(&l->r->guest.hanging)) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
	stop_and_compare(l);
	assert_false(atomic_load(&l->r->guest.hung_too_long));
	assert_int_equal(atomic_load(&l->failures), 0);
}

/* On a target with few points, points that no CPU hits make room for others. */
static void test_few_points(void **state)
{
	const unsigned points = 20;
	struct life *l = *state;
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	uint8_t seen[KERNEL_SITES] = {0};
	unsigned sites = 0;

	l->r->ft->target.caps.points = points;
	start(l);
	wait_int3s(l, 0, RIG_TEXT_SIZE, points, points);
	while (sites <= 2 * points) {
		assert_true(monotonic_ns() < until);
		assert_true(rig_int3s(l->r, 0, RIG_TEXT_SIZE) <= 2 * points); /* looked at while they change */
		for (unsigned i = 0; i < KERNEL_SITES; i++) {
			if (rig_text_byte(l->r, i * SITE_LEN) == X86_INT3 && !seen[i]) {
				seen[i] = 1;
				sites++;
			}
		}
		pause_ms(2);
	}
	stop_and_compare(l);
}

/* Wait for armed sites, and return the offset of one. */
static uint64_t armed_site(struct life *l)
{
	wait_int3s(l, 0, RIG_TEXT_SIZE, 10, UINT32_MAX);
	for (uint64_t at = 0;; at += SITE_LEN) {
		if (rig_text_byte(l->r, at) == X86_INT3)
			return at;
	}
}

static void check_stop_with_open_window(struct life *l)
{
	struct x86_regs regs;

	start(l);
	regs = rig_regs(l->r, 0, armed_site(l));
	assert_int_equal(rig_hit(l->r, 0, &regs).kind, TARGET_HOLD);
	stop_and_compare(l);
	assert_int_equal(l->r->ft->releases[0], 1);
	assert_int_equal(rig_hold_end(l->r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_hit(l->r, 0, &regs).kind, TARGET_RESUME); /* it was executed before it went */
	assert_int_equal(atomic_load(&l->races), 0);
}

static void test_stop_with_open_window(void **state)
{
	check_stop_with_open_window(*state);
}

static void test_stop_when_over(void **state)
{
	struct life *l = *state;

	atomic_store(&l->r->ft->target.over, true);
	check_stop_with_open_window(l);
}

/* What was caught before the stop is reported before it returns. */
static void test_reports_before_stop(void **state)
{
	struct life *l = *state;
	struct x86_regs regs, other;

	start(l);
	regs = rig_regs(l->r, 0, armed_site(l));
	other = rig_regs(l->r, 1, 0x2000);
	assert_int_equal(rig_hit(l->r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_watch_hit(l->r, 1, &other, rig_cookie(l->r, 0)).kind, TARGET_RESUME);
	stop_and_compare(l);
	assert_int_equal(atomic_load(&l->races), 1);
}

/* A race in a module that was loaded a moment ago is reported with names, although the sampler has not seen the module yet. */
static void test_a_module_is_named_from_its_first_moment(void **state)
{
	static const struct symbol function = {.name = "late_fn", .addr = LINUX_MODULES_START, .size = 0x100, .type = 't'};
	struct life *l = *state;
	struct symtab *symbols = symtab_from_array(&function, 1, NULL);
	struct x86_regs regs, other;

	assert_non_null(symbols);
	l->r->guest.module =
		(struct guest_module){.name = "late", .base = function.addr, .size = function.size, .symbols = symbols};
	start(l);
	regs = rig_regs(l->r, 0, armed_site(l));
	other = rig_regs(l->r, 1, 0);
	other.rip = function.addr + 3;
	assert_int_equal(rig_hit(l->r, 0, &regs).kind, TARGET_HOLD);
	/* The module is loaded just after a poll, and the race comes before the next one. */
	atomic_store(&l->r->guest.module_polls, 0);
	wait_count(&l->r->guest.module_polls);
	atomic_store(&l->r->guest.module_here, true);
	assert_int_equal(rig_watch_hit(l->r, 1, &other, rig_cookie(l->r, 0)).kind, TARGET_RESUME);
	wait_count(&l->races);
	assert_string_equal(l->second, "late_fn");
	stop_and_compare(l);
	l->r->guest.module.symbols = NULL;
	symtab_free(symbols);
}

/* Code without a name is reported as such if the modules cannot be read, and the end of the run waits for no names. */
static void test_a_race_without_a_name_is_reported(void **state)
{
	struct life *l = *state;
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	struct x86_regs regs, other;

	start(l);
	regs = rig_regs(l->r, 0, armed_site(l));
	other = rig_regs(l->r, 1, 0);
	other.rip = LINUX_MODULES_START;
	atomic_store(&l->r->guest.poll_hangs, true);
	while (!atomic_load(&l->r->guest.hanging)) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
	assert_int_equal(rig_hit(l->r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_watch_hit(l->r, 1, &other, rig_cookie(l->r, 0)).kind, TARGET_RESUME);
	stop_and_compare(l);
	assert_int_equal(atomic_load(&l->races), 1);
	assert_string_equal(l->second, "");
}

/* What a target tells late is believed only of an instruction that does access those bytes. */
static void test_unexplained(void **state)
{
	struct life *l = *state;
	struct x86_regs regs, other;
	struct detect_stats stats;

	l->r->ft->target.caps.late_watch = true;
	start(l);
	regs = rig_regs(l->r, 0, armed_site(l));
	other = rig_regs(l->r, 1, 0x2000); /* there is no code */
	assert_int_equal(rig_hit(l->r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_watch_hit(l->r, 1, &other, rig_cookie(l->r, 0)).kind, TARGET_RESUME);
	stop_and_compare(l);
	assert_int_equal(atomic_load(&l->races), 0);
	detect_stats(l->r->d, &stats);
	assert_int_equal(stats.unexplained, 1);
}

static void test_wrong_symbols(void **state)
{
	struct life *l = *state;

	l->r->guest.ready = -1;
	start(l);
	wait_count(&l->failures);
	stop_and_compare(l);
	assert_int_equal(atomic_load(&l->failures), 1);
	assert_int_equal(l->r->ft->stops, 1);
	assert_int_equal(l->failure.code, EXIT_INPUT);
	assert_false(l->r->ft->intercepting);
}

/*
 * From the moment that breakpoints are intercepted the guest's debug registers may be copies. So the machine does not run from
 * then until the hooks stand and the copies have been made anew, or a debugger in the guest would miss traps.
 */
static void test_starts_while_the_machine_stands(void **state)
{
	struct life *l = *state;

	start(l);
	wait_int3s(l, 0, RIG_TEXT_SIZE, 1, KERNEL_SITES);
	stop_and_compare(l);
	assert_true(l->r->ft->intercepted_in > 0);
	assert_int_equal(l->r->ft->debug_changed_in, l->r->ft->intercepted_in);
	assert_int_equal(atomic_load(&l->r->ft->stands), 0);
}

static void test_cannot_intercept(void **state)
{
	struct life *l = *state;

	l->r->ft->refuse_intercept = true;
	start(l);
	wait_count(&l->failures);
	stop_and_compare(l);
	assert_int_equal(l->r->ft->stops, 1);
	assert_int_equal(l->failure.code, EXIT_INTERNAL);
}

static void test_no_text_bounds(void **state)
{
	static const struct symbol only = {.name = "_stext", .addr = RIG_TEXT, .size = 1, .type = 'T'};
	struct life *l = *state;

	rig_functions(l->r, &only, 1);
	start(l);
	wait_count(&l->failures);
	stop_and_compare(l);
	assert_int_equal(l->failure.code, EXIT_INPUT);
}

/* The detector is stopped while the guest still boots, which is no failure. */
static void test_stop_while_waiting(void **state)
{
	struct life *l = *state;
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	l->r->guest.ready = 0;
	start(l);
	while (atomic_load(&l->r->guest.polls) < 2) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
	stop_and_compare(l);
	assert_int_equal(atomic_load(&l->failures), 0);
	assert_int_equal(l->r->ft->stops, 0);
	assert_int_equal(l->r->ft->intercepts, 0);
}

/* With --module the module is waited for, however long, and followed when it goes and comes again. */
static void test_module(void **state)
{
	struct life *l = *state;

	l->r->config.module = "mod";
	rig_remake(l->r);
	start(l);
	pause_ms(700); /* longer than the sampler takes to draw conclusions from an empty pool */
	assert_int_equal(rig_int3s(l->r, 0, RIG_TEXT_SIZE), 0);
	for (unsigned times = 0; times < 2; times++) {
		atomic_store(&l->r->guest.module_here, true);
		wait_int3s(l, MODULE, MODULE_SIZE, 40, UINT32_MAX);
		atomic_store(&l->r->guest.module_here, false);
		wait_int3s(l, MODULE, MODULE_SIZE, 0, 0);
		pause_ms(300);
		assert_int_equal(rig_int3s(l->r, 0, RIG_TEXT_SIZE), 0);
	}
	stop_and_compare(l);
}

static void wait_module_polls(struct life *l, unsigned polls)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (atomic_load(&l->r->guest.module_polls) < polls) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
}

/* A sampler without a site to sample wakes up to look for the module and for nothing else: the guest may need the CPU. */
static void test_rests_without_sites(void **state)
{
	const unsigned rounds = 8;
	struct life *l = *state;
	unsigned enters, polls;

	l->r->config.module = "mod";
	rig_remake(l->r);
	start(l);
	wait_module_polls(l, 2);
	/* Polls are read before and after the time in which what is entered is counted, however long this thread has to wait.
	 */
	polls = atomic_load(&l->r->guest.module_polls);
	enters = atomic_load(&l->r->ft->enters);
	wait_module_polls(l, atomic_load(&l->r->guest.module_polls) + rounds);
	enters = atomic_load(&l->r->ft->enters) - enters;
	polls = atomic_load(&l->r->guest.module_polls) - polls;
	/* Each round enters the machine once, and once more in every second or third to look at the rate. */
	assert_in_range(enters, rounds - 1, 3 * (polls + 1));
	stop_and_compare(l);
}

static void test_other_module(void **state)
{
	struct life *l = *state;

	l->r->config.module = "another";
	atomic_store(&l->r->guest.module_here, true);
	rig_remake(l->r);
	start(l);
	wait_count(&l->messages);
	pause_ms(300);
	assert_int_equal(rig_int3s(l->r, 0, RIG_TEXT_SIZE), 0);
	stop_and_compare(l);
}

/* Where nothing else is asked for, sites are in the kernel and in all modules. */
static void test_kernel_and_module(void **state)
{
	struct life *l = *state;

	atomic_store(&l->r->guest.module_here, true);
	start(l);
	wait_int3s(l, MODULE, MODULE_SIZE, 5, UINT32_MAX);
	wait_int3s(l, 0, KERNEL_SITES * SITE_LEN, 5, UINT32_MAX);
	stop_and_compare(l);
}

/* Text that goes is not armed, even before the module list says so. */
static void test_going_text(void **state)
{
	struct life *l = *state;

	l->r->config.module = "mod";
	rig_remake(l->r);
	atomic_store(&l->r->guest.gone_base, RIG_TEXT + MODULE);
	atomic_store(&l->r->guest.gone_size, MODULE_SIZE / 2);
	atomic_store(&l->r->guest.module_here, true);
	start(l);
	wait_int3s(l, MODULE, MODULE_SIZE, 20, UINT32_MAX);
	assert_int_equal(rig_int3s(l->r, MODULE, MODULE_SIZE / 2), 0);
	stop_and_compare(l);
}

#define ORDER 64

/* The points that are armed first, in the order of arming. */
static void first_armed(struct life *l, uint64_t seed, uint64_t order[ORDER])
{

	l->r->config.seed = seed;
	rig_remake(l->r);
	start(l);
	wait_int3s(l, 0, RIG_TEXT_SIZE, ORDER, UINT32_MAX);
	rig_armed(l->r, order, ORDER);
	stop_and_compare(l);
}

/*
 * Make the guest complain at the sixth byte of kernel_fn(). Its code line has the bytes from the third one on, but `value` for
 * the byte at `changed`.
 */
static void complain(struct life *l, unsigned changed, uint8_t value)
{
	static struct complaint c;
	uint8_t code[8];

	c = (struct complaint){.kind = COMPLAINT_OOPS, .where = {.function = "kernel_fn", .offset = 5}};
	memcpy(code, l->text + 2, sizeof(code));
	code[changed] = value;
	snprintf(c.code, sizeof(c.code), "%02x %02x %02x <%02x> %02x %02x %02x %02x", code[0], code[1], code[2], code[3],
		 code[4], code[5], code[6], code[7]);
	atomic_store(&l->complaints, 0);
	atomic_store(&l->r->guest.complaint, &c);
	wait_count(&l->complaints);
}

/* An oops prints the INT3 of a sample point. The report has the guest's own byte, but any other difference stays. */
static void test_complaint(void **state)
{
	struct life *l = *state;
	char own[COMPLAINT_TEXT_MAX];

	start(l);
	wait_int3s(l, 0, RIG_TEXT_SIZE, 200, KERNEL_SITES);
	complain(l, 0, l->text[2]);
	strcpy(own, l->complaint.code);
	assert_true(l->complaint.time_ns > 0);
	complain(l, 4, 0xcc);
	assert_string_equal(l->complaint.code, own);
	complain(l, 3, 0xcc);
	assert_string_equal(l->complaint.code, own);
	complain(l, 4, 0x0f);
	assert_string_not_equal(l->complaint.code, own);
	assert_int_equal(atomic_load(&l->logs_read), 1);
	stop_and_compare(l);
}

static void test_same_seed_same_order(void **state)
{
	uint64_t first[ORDER], second[ORDER], other[ORDER];

	first_armed(*state, 12345, first);
	first_armed(*state, 12345, second);
	first_armed(*state, 12346, other);
	assert_memory_equal(first, second, sizeof(first));
	assert_memory_not_equal(first, other, sizeof(first));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_arms_and_disarms),
		T(test_counts_without_waiting),
		T(test_few_points),
		T(test_unexplained),
		T(test_stop_with_open_window),
		T(test_stop_when_over),
		T(test_reports_before_stop),
		T(test_a_module_is_named_from_its_first_moment),
		T(test_a_race_without_a_name_is_reported),
		T(test_wrong_symbols),
		T(test_starts_while_the_machine_stands),
		T(test_cannot_intercept),
		T(test_no_text_bounds),
		T(test_stop_while_waiting),
		T(test_module),
		T(test_rests_without_sites),
		T(test_other_module),
		T(test_kernel_and_module),
		T(test_going_text),
		T(test_complaint),
		T(test_same_seed_same_order),
		T(test_poll_is_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
