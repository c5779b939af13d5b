/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Target sites of known races: they and no others are armed, both CPUs come to stand before their accesses, and a message names
 * each site that the guest does not have. The test is the sampler's thread and the guest, and sets the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/pool.h"
#include "hv/detect/steer/rate.h"
#include "hv/detect/steer/target_sites.h"
#include "tests/unit/detect/detect_rig.h"

#define READER 0x0u
#define WRITER 0x100u
#define OTHER 0x200u
#define LOCKER 0x300u
#define MODULE 0x4000u
#define SIZE 0x100u
#define SITE_LEN 3u
#define SITES 20u
#define TICK_NS 10000000u
#define TURN_TICKS 20u
#define TURNS 64u
#define PATIENCE_NS 60000000000u

struct fixture {
	struct rig *r;
	struct known_races *known_races;
	struct symtab *module;
	struct rate_control control;
	uint64_t now;
	char messages[2048];
	atomic_uint failures;
	struct err failure;
};

static void on_message(void *ctx, const char *line)
{
	struct fixture *f = ctx;
	size_t len = strlen(f->messages);

	snprintf(f->messages + len, sizeof(f->messages) - len, "%s\n", line);
}

static void on_race(void *ctx, const struct observation *o)
{
	(void)ctx;
	(void)o;
}

static void on_failed(void *ctx, const struct err *err)
{
	struct fixture *f = ctx;

	f->failure = *err;
	atomic_fetch_add(&f->failures, 1);
}

static void write_text(struct fixture *f)
{
	static const struct symbol module = {.name = "mod_fn", .addr = RIG_TEXT + MODULE, .size = SIZE, .type = 't'};
	static const struct symbol kernel[] = {
		{.name = "_stext", .addr = RIG_TEXT, .type = 'T'},
		{.name = "reader", .addr = RIG_TEXT + READER, .size = SIZE, .type = 't'},
		{.name = "writer", .addr = RIG_TEXT + WRITER, .size = SIZE, .type = 't'},
		{.name = "other", .addr = RIG_TEXT + OTHER, .size = SIZE, .type = 't'},
		{.name = "locker", .addr = RIG_TEXT + LOCKER, .size = SIZE, .type = 't'},
		{.name = "_etext", .addr = RIG_TEXT + MODULE, .type = 'T'},
	};

	for (unsigned i = 0; i < SITES; i++) {
		rig_code(f->r, READER + i * SITE_LEN, READ_8);
		rig_code(f->r, WRITER + i * SITE_LEN, WRITE_8);
		rig_code(f->r, OTHER + i * SITE_LEN, WRITE_8);
		rig_code(f->r, MODULE + i * SITE_LEN, WRITE_8);
	}
	rig_code(f->r, LOCKER, INSN("\xf0\x48\x01\x07")); /* lock add %rax, (%rdi) */
	rig_functions(f->r, kernel, sizeof(kernel) / sizeof(*kernel));
	f->module = symtab_from_array(&module, 1, NULL);
	assert_non_null(f->module);
	f->r->guest.module =
		(struct guest_module){.name = "mod", .base = module.addr, .size = module.size, .symbols = f->module};
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	f->r = rig_new(2, 4);
	f->known_races = known_races_new();
	if (!f->r || !f->known_races)
		return -1;
	f->r->guest.ready = 1;
	f->r->config.known_races = f->known_races;
	f->r->sink = (struct detect_sink){.race = on_race, .message = on_message, .failed = on_failed, .ctx = f};
	write_text(f);
	f->now = monotonic_ns();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_free(f->r);
	known_races_free(f->known_races);
	symtab_free(f->module);
	free(f);
	return 0;
}

/* A side of a race as a report has it, by an instruction in `function`. */
static struct race_side side_at(const char *module, const char *function, uint32_t offset, uint8_t *code, size_t len)
{
	struct race_side side = {.kind = RACE_SIDE_CPU, .pc = 0x1000 + offset, .code_gva = 0x1000 + offset, .code = code};

	side.code_len = (uint32_t)len;
	side.symbol.addr = 0x1000;
	snprintf(side.symbol.module, sizeof(side.symbol.module), "%s", module);
	snprintf(side.symbol.name, sizeof(side.symbol.name), "%s", function);
	return side;
}

static uint8_t read_8[] = {0x48, 0x8b, 0x07}, write_8[] = {0x48, 0x89, 0x07}, lock_add[] = {0xf0, 0x48, 0x01, 0x07};

static const struct known_race *add_race(struct fixture *f, struct race_side one, struct race_side other)
{
	struct race race = {.id = "0123456789ab"};

	race.first.sides[0] = one;
	race.first.sides[1] = other;
	site_name(&one, 0, race.site[0]);
	site_name(&other, 0, race.site[1]);
	return known_races_add(f->known_races, &race);
}

static void target_reader_and_writer(struct fixture *f)
{
	assert_int_equal(add_race(f, side_at("", "reader", 6, read_8, sizeof(read_8)),
				  side_at("", "writer", 9, write_8, sizeof(write_8)))
				 ->count,
			 2);
}

/* The kernel's text comes, and rate control begins. */
static void begin(struct fixture *f)
{
	struct detect *d;

	rig_remake(f->r);
	d = f->r->d;
	assert_true(pool_add(d->sampler.pool, NULL, f->r->guest.symtab, RIG_TEXT, RIG_TEXT + MODULE, NULL) > 0);
	assert_int_equal(target_sites_text_came(d->sampler.target_sites, NULL, "", f->r->guest.symtab, RIG_TEXT,
						RIG_TEXT + MODULE, NULL),
			 0);
	rate_init(d, &f->control);
}

static void tick(struct fixture *f)
{
	f->now += TICK_NS;
	rate_step(f->r->d, &f->control, f->now);
}

static unsigned armed(const struct fixture *f)
{
	return rig_int3s(f->r, 0, RIG_TEXT_SIZE);
}

/* Over many turns both sites are armed together, or each of them alone, and never any other. */
static void its_sites_are_armed(void **state)
{
	struct fixture *f = *state;
	unsigned both = 0, first = 0, second = 0;

	target_reader_and_writer(f);
	begin(f);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		bool reader, writer;

		for (unsigned i = 0; i < TURN_TICKS; i++)
			tick(f);
		reader = rig_has_point(f->r, READER + 6);
		writer = rig_has_point(f->r, WRITER + 9);
		assert_int_equal(armed(f), reader + writer);
		both += reader && writer;
		first += reader && !writer;
		second += writer && !reader;
	}
	print_message("# of %u turns %u had both, %u the first and %u the second site\n", TURNS, both, first, second);
	assert_int_equal(both + first + second, TURNS);
	assert_in_range(both, TURNS / 4, 3 * TURNS / 4);
	assert_true(first && second);
	assert_non_null(strstr(f->messages, "sampling 2 target sites of 1 race\n"));
}

/* Where one side leads, the other is armed as soon as a CPU is held at the leading one, and again after it was passed. */
static void partner_follows(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs, other;

	target_reader_and_writer(f);
	begin(f);
	do
		tick(f);
	while (rig_has_point(f->r, WRITER + 9) || !rig_has_point(f->r, READER + 6));
	regs = rig_regs(f->r, 0, READER + 6);
	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_HOLD);
	tick(f);
	assert_true(rig_has_point(f->r, WRITER + 9));
	other = rig_regs(f->r, 1, WRITER + 9);
	other.gpr[X86_RDI] += 0x80; /* other memory, so it passes: the last CPU is not held */
	assert_int_equal(rig_hit(f->r, 1, &other).kind, TARGET_RESUME);
	assert_false(rig_has_point(f->r, WRITER + 9));
	assert_true(f->r->d->sampler.used_up); /* the sampler does not wait for its next tick */
	tick(f);
	assert_true(rig_has_point(f->r, WRITER + 9));
	other.gpr[X86_RDI] = regs.gpr[X86_RDI];
	assert_int_equal(rig_hit(f->r, 1, &other).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(f->r)->how, RACE_BY_POINT);
	assert_int_equal(f->r->ft->releases[0], 1);
}

/* Each CPU of the guest runs its side only: all conflicts are by point, and either side is held at times. */
static void both_stand_before_their_accesses(void **state)
{
	struct fixture *f = *state;
	unsigned held[2] = {0};

	target_reader_and_writer(f);
	begin(f);
	for (unsigned i = 0; i < TURNS * TURN_TICKS / 2; i++) {
		struct x86_regs regs[2] = {rig_regs(f->r, 0, READER + 6), rig_regs(f->r, 1, WRITER + 9)};
		const struct observation *o;

		tick(f);
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			unsigned at = (cpu + i) % 2; /* either may come first */

			if (rig_has_point(f->r, regs[at].rip - RIG_TEXT) && !rig_window_is_open(f->r, at))
				rig_hit(f->r, at, &regs[at]);
		}
		if (!rig_stats(f->r).conflicts)
			continue;
		o = rig_observation(f->r);
		if (!o)
			continue;
		assert_int_equal(o->how, RACE_BY_POINT);
		held[o->sides[0].pc == RIG_TEXT + WRITER + 9]++;
		if (held[0] > 40 && held[1] > 40)
			break;
	}
	print_message("# the reader was held in %u conflicts, the writer in %u\n", held[0], held[1]);
	assert_true(held[0] > 10 && held[1] > 10);
}

/* The rate limits the hits of target sites as it does any others. */
static void rate_is_kept(void **state)
{
	const unsigned rate = 50, seconds = 20;
	struct fixture *f = *state;
	unsigned hits = 0;

	f->r->config.rate = rate;
	target_reader_and_writer(f);
	begin(f);
	for (unsigned i = 0; i < seconds * 100; i++) {
		struct x86_regs regs = rig_regs(f->r, 0, READER + 6);

		regs.gpr[X86_RDI] = regs.gpr[X86_RSP] + 0x40; /* its stack: no window */
		tick(f);
		if (!rig_has_point(f->r, READER + 6))
			continue;
		rig_hit(f->r, 0, &regs);
		hits++;
	}
	print_message("# %u hits in %u s at a rate of %u\n", hits, seconds, rate);
	assert_in_range(hits, rate * seconds / 2, rate * seconds + rate);
}

/* A held CPU waits its whole delay, even if no other one runs now, and with preemption off all of what is then the most. */
static void waits_its_whole_delay(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs;
	struct target_action action;

	f->r->guest.context.preempt_off = true;
	target_reader_and_writer(f);
	begin(f);
	while (!rig_has_point(f->r, READER + 6))
		tick(f);
	regs = rig_regs(f->r, 0, READER + 6);
	action = rig_hit(f->r, 0, &regs);
	assert_int_equal(action.kind, TARGET_HOLD);
	assert_int_equal(action.hold_ns, 1000000);
	assert_int_equal(rig_stats(f->r).cut_idle, 0);
}

/* Nothing is planted on what is not the race's own instruction, nor between two instructions. */
static void another_build(void **state)
{
	struct fixture *f = *state;

	add_race(f, side_at("", "reader", 7, NULL, 0), side_at("", "reader", 6, write_8, sizeof(write_8)));
	add_race(f, side_at("", "nowhere", 0, NULL, 0), side_at("", "locker", 0, NULL, 0));
	add_race(f, side_at("", "reader", 0x1000, NULL, 0), side_at("", "writer", 0, write_8, sizeof(write_8)));
	begin(f);
	for (unsigned i = 0; i < 4 * TURN_TICKS; i++) {
		tick(f);
		assert_int_equal(armed(f), rig_has_point(f->r, WRITER));
	}
	assert_true(rig_has_point(f->r, WRITER));
	assert_non_null(
		strstr(f->messages, "not sampled: reader+0x7 of race 0123456789ab: the running kernel has no access there"));
	assert_non_null(
		strstr(f->messages, "reader+0x6 of race 0123456789ab: the running kernel has another instruction there"));
	assert_non_null(strstr(f->messages, "nowhere+0x0 of race 0123456789ab: the running kernel has no such function"));
	assert_non_null(strstr(f->messages, "locker+0x0 of race 0123456789ab: the running kernel has no access there"));
	assert_non_null(strstr(f->messages, "reader+0x1000 of race 0123456789ab"));
	assert_int_equal(target_sites_check(f->r->d->sampler.target_sites, NULL), 0);
}

/* A side that no breakpoint can stand before leaves the other one. */
static void one_side_only(void **state)
{
	struct fixture *f = *state;
	struct race_side locked = side_at("", "locker", 0, lock_add, sizeof(lock_add)), device = {.kind = RACE_SIDE_DEVICE},
			 unseen = {0};
	struct race_side reader = side_at("", "reader", 0, read_8, sizeof(read_8));
	const struct known_race *race;

	snprintf(device.device.request.type, sizeof(device.device.request.type), "virtio-blk");
	assert_int_equal(add_race(f, locked, reader)->count, 2);
	locked.locked = true;
	race = add_race(f, locked, device);
	assert_int_equal(race->count, 0);
	assert_string_equal(race->why_not[0], "is a LOCKed instruction, at which outrider holds no CPU");
	assert_string_equal(race->why_not[1], "is a device");
	race = add_race(f, unseen, reader);
	assert_int_equal(race->count, 1);
	assert_string_equal(race->why_not[0], "was not seen");
	assert_string_equal(race->sites[0].function, "reader");
	assert_memory_equal(race->sites[0].code, read_8, sizeof(read_8));
	reader.pc = 0;
	assert_int_equal(add_race(f, reader, reader)->count, 0);
	begin(f);
	tick(f);
	assert_int_equal(armed(f), 1);
	assert_true(rig_has_point(f->r, READER));
	assert_non_null(
		strstr(f->messages, "locker+0x0 of race 0123456789ab: outrider cannot hold a CPU at this kind of instruction"));
	assert_non_null(strstr(f->messages, "this side is a device"));
	assert_non_null(strstr(f->messages, "sampling 2 target sites of 2 races\n"));
}

/* A CPU can be held before a get, if the other side is the last put, but not before the put. */
static void get_and_last_put(void **state)
{
	/* lock incl (%rdi), lock decl (%rdi) */
	static uint8_t get[] = {0xf0, 0xff, 0x07}, put[] = {0xf0, 0xff, 0x0f}, xadd[] = {0xf0, 0x0f, 0xc1, 0x07};
	struct fixture *f = *state;
	struct race_side one = side_at("", "getter", 4, get, sizeof(get)), other = side_at("", "putter", 8, put, sizeof(put));
	const struct known_race *race;

	one.locked = other.locked = true;
	one.regs.rip = one.pc;
	other.regs.rip = other.pc + sizeof(put);
	race = add_race(f, one, other);
	assert_int_equal(race->count, 1);
	assert_string_equal(race->sites[0].function, "getter");
	assert_null(race->why_not[0]);
	assert_string_equal(race->why_not[1], "is a LOCKed instruction, at which outrider holds no CPU");
	other.locked = false;
	race = add_race(f, one, other);
	assert_int_equal(race->count, 1);
	assert_string_equal(race->sites[0].function, "putter");
	/* Both are xadds, as of a refcount_t: lock xadd %eax,(%rdi). */
	one.code = other.code = xadd;
	one.code_len = other.code_len = sizeof(xadd);
	other.locked = true;
	other.regs.rip = other.pc + sizeof(xadd);
	race = add_race(f, other, one);
	assert_int_equal(race->count, 1);
	assert_string_equal(race->sites[0].function, "getter");
	one.code_len = 2;
	assert_int_equal(add_race(f, one, other)->count, 0);
}

/* Where few points may be planted, races take turns, with both of their sites. */
static void races_take_turns(void **state)
{
	struct fixture *f = *state;
	unsigned seen[4] = {0};

	f->r->ft->target.caps.points = 2;
	for (uint32_t i = 0; i < 4; i++)
		add_race(f, side_at("", "reader", i * SITE_LEN, NULL, 0), side_at("", "writer", i * SITE_LEN, NULL, 0));
	begin(f);
	for (unsigned i = 0; i < 40 * TURN_TICKS; i++) {
		tick(f);
		assert_in_range(armed(f), 1, 2);
		for (unsigned r = 0; r < 4; r++)
			seen[r] += rig_has_point(f->r, READER + r * SITE_LEN) && rig_has_point(f->r, WRITER + r * SITE_LEN);
	}
	for (unsigned r = 0; r < 4; r++)
		assert_true(seen[r] > TURN_TICKS);
}

/* Who leads follows from the seed. */
static uint64_t leads(struct fixture *f, uint64_t seed)
{
	uint64_t hash = 0;

	f->r->config.seed = seed;
	begin(f);
	for (unsigned i = 0; i < 32 * TURN_TICKS; i++) {
		tick(f);
		hash = hash * 5 + rig_has_point(f->r, READER + 6) + 2 * rig_has_point(f->r, WRITER + 9);
	}
	f->r->d->life.closing = true; /* take the points out, for the next detector */
	while (f->r->d->points.count)
		points_remove(&f->r->d->points, &f->r->d->points.slots[f->r->d->points.armed[0]]);
	return hash;
}

static void repeatable_by_seed(void **state)
{
	struct fixture *f = *state;
	uint64_t first;

	target_reader_and_writer(f);
	first = leads(f, 5);
	assert_int_equal(leads(f, 5), first);
	assert_int_not_equal(leads(f, 6), first);
}

static void pause_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Wait until something is armed in the module, or nothing is. */
static void wait_armed(struct fixture *f, bool wanted)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while ((rig_int3s(f->r, MODULE, SIZE) != 0) != wanted) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
}

/* The sampler's own thread: sites of a module are armed when it comes, and waited for when it has gone. */
static void module_comes_and_goes(void **state)
{
	struct fixture *f = *state;

	add_race(f, side_at("mod", "mod_fn", 3, write_8, sizeof(write_8)), (struct race_side){0});
	rig_remake(f->r);
	assert_int_equal(detect_start(f->r->d, NULL), 0);
	pause_ms(30);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(armed(f), 0);
		atomic_store(&f->r->guest.module_here, true);
		wait_armed(f, true);
		assert_int_equal(rig_text_byte(f->r, MODULE + 3), X86_INT3);
		assert_int_equal(armed(f), 1);
		atomic_store(&f->r->guest.module_here, false);
		wait_armed(f, false);
	}
	detect_stop(f->r->d);
	assert_int_equal(atomic_load(&f->failures), 0);
	assert_non_null(
		strstr(f->messages,
		       "sampling 0 target sites of 0 races; the other target sites are in modules that are not loaded yet\n"));
	assert_non_null(strstr(f->messages, "sampling 1 target site of 1 race\n"));
}

/* With no target site in the guest the run ends, and the user is told. */
static void nothing_is_there(void **state)
{
	struct fixture *f = *state;
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	add_race(f, side_at("", "gone", 3, NULL, 0), side_at("", "reader", 1, NULL, 0));
	rig_remake(f->r);
	assert_int_equal(detect_start(f->r->d, NULL), 0);
	while (!atomic_load(&f->failures)) {
		assert_true(monotonic_ns() < until);
		pause_ms(2);
	}
	detect_stop(f->r->d);
	assert_int_equal(f->failure.code, EXIT_INPUT);
	assert_int_equal(armed(f), 0);
	assert_non_null(strstr(f->failure.text, "has none of the sites of these races"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_sites_are_armed, setup, teardown),
		cmocka_unit_test_setup_teardown(partner_follows, setup, teardown),
		cmocka_unit_test_setup_teardown(both_stand_before_their_accesses, setup, teardown),
		cmocka_unit_test_setup_teardown(rate_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_its_whole_delay, setup, teardown),
		cmocka_unit_test_setup_teardown(another_build, setup, teardown),
		cmocka_unit_test_setup_teardown(one_side_only, setup, teardown),
		cmocka_unit_test_setup_teardown(get_and_last_put, setup, teardown),
		cmocka_unit_test_setup_teardown(races_take_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(repeatable_by_seed, setup, teardown),
		cmocka_unit_test_setup_teardown(module_comes_and_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_there, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
