// SPDX-License-Identifier: GPL-2.0-or-later
/* A scenario's file: what is written is read, and what cannot be a scenario is refused by one line. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/replay/scenario/format.h"
#include "tests/unit/snapshot_made.h"

#define PAGE 4096u

static char path[] = "/tmp/test-scenario-XXXXXX";

static struct meeting_side made_side(unsigned cpu, const char *comm)
{
	struct meeting_side side = {
		.cpu = cpu, .gva = 0xffffffffc0001000, .gpa = 0x5008, .size = 8, .rw = 2, .insn_len = 4, .cfa = 0x7008};

	side.regs.rip = 0xffffffffc0002000 + cpu;
	side.regs.gpr[X86_R15] = 0x1515 + cpu;
	side.regs.cs = 0x10;
	side.context = (struct guest_context){.pid = 77 + (int)cpu, .known = true, .kind = GUEST_TASK, .rcu_nesting = 3};
	snprintf(side.context.comm, sizeof(side.context.comm), "%s", comm);
	snprintf(side.symbol.module, sizeof(side.symbol.module), "outrider_gt");
	snprintf(side.symbol.name, sizeof(side.symbol.name), "gt_nlink");
	side.symbol.size = 0x30;
	return side;
}

static struct replay_instance made_instance(void)
{
	struct replay_instance i = {.outcome = REPLAY_STATE_CHANGE, .difference_count = 1, .kept = 1};

	for (unsigned order = 0; order < 2; order++) {
		for (unsigned side = 0; side < 2; side++)
			i.orders[order].regions[side] = (struct replay_region){REPLAY_END_RETURN, 12 + side};
		i.orders[order].machine = REPLAY_MACHINE_RUNS;
	}
	i.differences[0] = (struct replay_difference){.len = 4, .gpa = 0x5008, .bytes = {{1}, {2}}};
	return i;
}

/* A scenario whose RAM has something on pages 0, 5, 6 and the last one. */
static struct scenario made(void)
{
	struct block_writer w = {0};
	struct scenario s = {.config = {.instructions = 20000, .free_ns = 2000000000, .sleep = 0xffffffff81000000}};
	struct err err = {0};
	struct block block;

	made_machine(&w);
	made_devices(&w);
	assert_int_equal(block_end(&w, &s.state, &err), 0);
	assert_int_equal(block_open(&s.state, &block, &err), 0);
	assert_int_equal(ram_map(&s.ram, block.machine.memory, &err), 0);
	memset(s.ram.host, 0x11, 8);
	memset(s.ram.host + 5 * PAGE, 0x55, 2 * PAGE);
	s.ram.host[s.ram.low + s.ram.high - 1] = 0xff;
	s.meeting.number = 9;
	s.meeting.sides[0] = made_side(0, "one");
	s.meeting.sides[1] = made_side(1, "other");
	snprintf(s.facts.race, sizeof(s.facts.race), "0123456789ab");
	snprintf(s.facts.banner, sizeof(s.facts.banner), "Linux version 6.1");
	snprintf(s.facts.site[1], sizeof(s.facts.site[1]), "outrider_gt:gt_nlink+0x4");
	s.facts.slide = 0x1000000;
	s.facts.instance = made_instance();
	return s;
}

static void write_made(const struct scenario *s)
{
	FILE *out = fopen(path, "w");
	struct err err = {0};

	assert_non_null(out);
	assert_int_equal(scenario_write(fileno(out), s, &err), 0);
	fclose(out);
}

static void assert_refused(const char *words)
{
	struct scenario s;
	struct err err = {0};

	assert_int_equal(scenario_open(path, &s, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_null(strchr(err.text, '\n'));
	if (!strstr(err.text, words) || !strstr(err.text, path))
		fail_msg("wanted: %s\nsaid: %s", words, err.text);
}

static void test_what_is_written_is_read(void **state)
{
	struct scenario s = made(), back;
	struct err err = {0};
	struct stat st;

	(void)state;
	write_made(&s);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < 64 * 1024);
	if (scenario_open(path, &back, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(back.state.len, s.state.len);
	assert_memory_equal(back.state.data, s.state.data, s.state.len);
	assert_int_equal(back.ram.low + back.ram.high, s.ram.low + s.ram.high);
	assert_memory_equal(back.ram.host, s.ram.host, s.ram.low + s.ram.high);
	assert_int_equal(back.meeting.number, 9);
	assert_int_equal(back.meeting.point_count, 0);
	for (unsigned i = 0; i < 2; i++) {
		const struct meeting_side *a = &back.meeting.sides[i], *b = &s.meeting.sides[i];

		assert_int_equal(a->cpu, b->cpu);
		assert_memory_equal(&a->regs, &b->regs, sizeof(a->regs));
		assert_string_equal(a->context.comm, b->context.comm);
		assert_int_equal(a->context.pid, b->context.pid);
		assert_int_equal(a->context.rcu_nesting, 3);
		assert_string_equal(a->symbol.name, "gt_nlink");
		assert_int_equal(a->gpa, b->gpa);
		assert_int_equal(a->cfa, b->cfa);
	}
	assert_int_equal(back.config.free_ns, 2000000000);
	assert_int_equal(back.config.sleep, 0xffffffff81000000);
	assert_string_equal(back.facts.race, "0123456789ab");
	assert_string_equal(back.facts.site[1], "outrider_gt:gt_nlink+0x4");
	assert_int_equal(back.facts.slide, 0x1000000);
	assert_true(replay_identical(&back.facts.instance, &s.facts.instance));
	scenario_close(&back);
	scenario_close(&s);
}

/* Wherever the file ends too early, it is refused. */
static void test_cut_off(void **state)
{
	struct scenario s = made();
	struct stat st;

	(void)state;
	write_made(&s);
	assert_int_equal(stat(path, &st), 0);
	for (off_t len = st.st_size - 1; len > 16; len -= len > 64 && len < st.st_size - 64 ? 37 : 1) {
		assert_int_equal(truncate(path, len), 0);
		assert_refused("it is not whole: it was cut off");
	}
	assert_int_equal(truncate(path, 12), 0);
	assert_refused("it is not whole: it was cut off");
	assert_int_equal(truncate(path, 0), 0);
	assert_refused("it is no scenario: `outrider run --replay --save DIR` makes them");
	scenario_close(&s);
}

static void change_byte(long at, uint8_t by)
{
	FILE *f = fopen(path, "r+");
	int byte;

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	byte = fgetc(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	fputc(byte ^ by, f);
	fclose(f);
}

/* A bit of the frame's header may say the same thing in another way. */
static void assert_refused_or_same(const struct scenario *s)
{
	struct scenario back;
	struct err err = {0};

	if (scenario_open(path, &back, &err) < 0) {
		assert_int_equal(err.code, EXIT_INPUT);
		return;
	}
	assert_memory_equal(back.ram.host, s->ram.host, s->ram.low + s->ram.high);
	assert_memory_equal(back.state.data, s->state.data, s->state.len);
	assert_true(replay_identical(&back.facts.instance, &s->facts.instance));
	scenario_close(&back);
}

/* Whatever bit is wrong, it is refused, by what it means or by the checksum, or says nothing else. */
static void test_wrong_bytes(void **state)
{
	struct scenario s = made();
	struct stat st;

	(void)state;
	write_made(&s);
	assert_int_equal(stat(path, &st), 0);
	for (long at = 0; at < st.st_size; at += at < 64 || at > st.st_size - 64 ? 1 : 41) {
		change_byte(at, 0x10);
		assert_refused_or_same(&s);
		change_byte(at, 0x10);
	}
	change_byte(8, 3);
	assert_refused("it has version 2, and this outrider knows 1: a newer one has made it");
	scenario_close(&s);
}

static void test_more_than_a_scenario(void **state)
{
	struct scenario s = made();

	(void)state;
	s.meeting.sides[1].cpu = 0;
	write_made(&s);
	assert_refused("it is damaged: where the two sides stand cannot be");
	s.meeting.sides[1].cpu = 2;
	write_made(&s);
	assert_refused("it is damaged: where the two sides stand cannot be");
	s.meeting.sides[1].cpu = 1;
	s.meeting.sides[0].gpa = s.ram.low + s.ram.high - 4;
	write_made(&s);
	assert_refused("it is damaged: where the two sides stand cannot be");
	s.meeting.sides[0].gpa = 0x5008;
	s.config.instructions = 0;
	write_made(&s);
	assert_refused("it is damaged: how the orders are run cannot be");
	s.config.instructions = 1;
	s.facts.instance.outcome = REPLAY_OUTCOMES;
	write_made(&s);
	assert_refused("it is damaged: ");
	scenario_close(&s);
}

static void test_no_file(void **state)
{
	(void)state;
	unlink(path);
	assert_refused("No such file or directory");
}

/* A file that has no room for all of it is left empty. */
static void test_no_room(void **state)
{
	struct scenario s = made();
	const struct rlimit small = {.rlim_cur = 2048, .rlim_max = RLIM_INFINITY};
	struct rlimit was;
	struct err err = {0};
	struct stat st;
	FILE *out = fopen(path, "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < 64 * PAGE; i++)
		s.ram.host[i] = (uint8_t)(i * i >> 7);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(scenario_write(fileno(out), &s, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_string_equal(err.text, "the scenario cannot be written: File too large");
	assert_int_equal(fstat(fileno(out), &st), 0);
	assert_int_equal(st.st_size, 0);
	fclose(out);
	scenario_close(&s);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_written_is_read, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_cut_off, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_wrong_bytes, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_more_than_a_scenario, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_no_file, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_no_room, make_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
