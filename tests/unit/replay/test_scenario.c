// SPDX-License-Identifier: GPL-2.0-or-later
/* Scenarios are written and read back. Damaged scenarios and other files are refused. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "hv/base/x86.h"
#include "hv/replay/scenario/format.h"
#include "tests/unit/replay/scenario_made.h"

/* ---- files ---- */

static int file = -1;
static char path[64];

static int open_file(void **state)
{
	(void)state;
	file = memfd_create("scenario", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return file < 0;
}

static int close_file(void **state)
{
	(void)state;
	return close(file);
}

/* Write a scenario that `change` has altered. */
static void write_changed(void (*change)(struct scenario *s))
{
	struct scenario s;
	struct err err = {0};

	assert_int_equal(scenario_made(&s, &err), 0);
	if (change)
		change(&s);
	assert_int_equal(scenario_write(file, &s, &err), 0);
	scenario_close(&s);
}

static off_t size(void)
{
	struct stat st;

	assert_int_equal(fstat(file, &st), 0);
	return st.st_size;
}

static void assert_refused(const char *why)
{
	char wanted[600];
	struct scenario s;
	struct err err = {0};

	snprintf(wanted, sizeof(wanted), "scenario %s: %s", path, why);
	assert_int_equal(scenario_open(path, &s, &err), -1);
	assert_string_equal(err.text, wanted);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_null(s.ram.host);
	assert_null(s.state.data);
}

/* Let `change` edit the uncompressed bytes, and compress them again. `change` may make `*len` a little longer or shorter. */
static void rewrite_stream(void (*change)(uint8_t *bytes, size_t *len))
{
	static uint8_t stream[1u << 20], all[1u << 20];
	ZSTD_inBuffer in = {.src = all};
	ZSTD_outBuffer out = {stream, sizeof(stream), 0};
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	size_t len;

	write_changed(NULL);
	in.size = (size_t)pread(file, all, sizeof(all), sizeof(struct scenario_head));
	assert_int_equal(ZSTD_decompressStream(zstd, &out, &in), 0);
	ZSTD_freeDCtx(zstd);
	len = out.pos;
	change(stream, &len);
	len = ZSTD_compress(all, sizeof(all), stream, len, 1);
	assert_false(ZSTD_isError(len));
	assert_int_equal(ftruncate(file, sizeof(struct scenario_head)), 0);
	assert_int_equal(pwrite(file, all, len, sizeof(struct scenario_head)), (ssize_t)len);
}

/* ---- valid scenarios ---- */

static void assert_same_side(const struct rendezvous_side *a, const struct rendezvous_side *b)
{
	assert_int_equal(a->cpu, b->cpu);
	assert_memory_equal(&a->regs.gpr, &b->regs.gpr, sizeof(a->regs.gpr));
	assert_int_equal(a->regs.rip, b->regs.rip);
	assert_int_equal(a->regs.cr3, b->regs.cr3);
	assert_int_equal(a->regs.cs, b->regs.cs);
	assert_int_equal(a->context.pid, b->context.pid);
	assert_string_equal(a->context.comm, b->context.comm);
	assert_true(a->context.known && b->context.known && b->context.rcu_known);
	assert_int_equal(a->context.rcu_nesting, b->context.rcu_nesting);
	assert_string_equal(a->symbol.module, b->symbol.module);
	assert_string_equal(a->symbol.name, b->symbol.name);
	assert_int_equal(a->symbol.addr, b->symbol.addr);
	assert_int_equal(a->symbol.size, b->symbol.size);
	assert_int_equal(a->gva, b->gva);
	assert_int_equal(a->gpa, b->gpa);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->rw, b->rw);
	assert_int_equal(a->insn_len, b->insn_len);
	assert_int_equal(a->return_address, b->return_address);
	assert_int_equal(a->cfa, b->cfa);
}

static void assert_same_facts(const struct scenario_facts *a, const struct scenario_facts *b)
{
	assert_string_equal(a->version, b->version);
	assert_string_equal(a->date, b->date);
	assert_string_equal(a->banner, b->banner);
	assert_string_equal(a->build_id, b->build_id);
	assert_string_equal(a->race, b->race);
	assert_string_equal(a->site[0], b->site[0]);
	assert_string_equal(a->site[1], b->site[1]);
	assert_int_equal(a->slide, b->slide);
	assert_true(replay_identical(&a->instance, &b->instance));
	assert_string_equal(a->instance.orders[1].trouble, b->instance.orders[1].trouble);
	assert_string_equal(a->instance.differences[0].name, b->instance.differences[0].name);
}

static void what_is_written_is_read(void **state)
{
	struct scenario made, read;
	struct err err = {0};

	(void)state;
	write_changed(NULL);
	/* Pages of zeros take no space in the file. */
	assert_true(size() < 100000);
	assert_int_equal(scenario_made(&made, &err), 0);
	assert_int_equal(scenario_open(path, &read, &err), 0);
	assert_same_side(&made.rendezvous.sides[0], &read.rendezvous.sides[0]);
	assert_same_side(&made.rendezvous.sides[1], &read.rendezvous.sides[1]);
	assert_int_equal(read.rendezvous.number, 7);
	assert_int_equal(read.rendezvous.point_count, 0);
	assert_memory_equal(&made.config, &read.config, sizeof(made.config));
	assert_same_facts(&made.facts, &read.facts);
	assert_int_equal(made.state.len, read.state.len);
	assert_memory_equal(made.state.data, read.state.data, made.state.len);
	assert_int_equal(read.ram.low, made.ram.low);
	assert_int_equal(read.ram.high, made.ram.high);
	assert_memory_equal(made.ram.host, read.ram.host, SCENARIO_MADE_RAM);
	scenario_close(&made);
	scenario_close(&read);
}

/* The reader accepts every outcome that exists. */
static void make_failure(struct scenario *s)
{
	s->facts.instance = replay_made_failure(REPLAY_DEADLOCK);
}

static void a_failure_is_read(void **state)
{
	struct scenario s;
	struct err err = {0};

	(void)state;
	write_changed(make_failure);
	assert_int_equal(scenario_open(path, &s, &err), 0);
	assert_int_equal(s.facts.instance.why, REPLAY_DEADLOCK);
	scenario_close(&s);
}

static void hostile_texts(struct scenario *s)
{
	memcpy(s->facts.banner, "Linux\033[2J", 10);
	memset(s->facts.instance.differences[0].name, 0x07, REPLAY_NAME_MAX - 1);
}

/* In the section, the banner follows the header and two texts of 3 and 20 bytes. */
static void hostile_banner(uint8_t *bytes, size_t *len)
{
	(void)len;
	assert_memory_equal(bytes + 45, "Linux", 5);
	memcpy(bytes + 45, "\033[2JL", 5);
}

static void texts_become_printable(void **state)
{
	struct scenario s;
	struct err err = {0};

	(void)state;
	write_changed(hostile_texts);
	assert_int_equal(scenario_open(path, &s, &err), 0);
	assert_true(strncmp(s.facts.banner, "Linux\\x1b[2J", 12) == 0);
	assert_true(strncmp(s.facts.instance.differences[0].name, "\\x07\\x07", 8) == 0);
	scenario_close(&s);
	assert_int_equal(ftruncate(file, 0), 0);
	rewrite_stream(hostile_banner);
	assert_int_equal(scenario_open(path, &s, &err), 0);
	assert_true(strncmp(s.facts.banner, "\\x1b[2JL", 8) == 0);
	scenario_close(&s);
}

static void pause_side(struct scenario *s)
{
	s->config.paused = true;
	s->config.turn = 20000;
}

static void a_paused_side_is_read(void **state)
{
	struct scenario s;
	struct err err = {0};

	(void)state;
	write_changed(pause_side);
	assert_int_equal(scenario_open(path, &s, &err), 0);
	assert_true(s.config.paused);
	assert_int_equal(s.config.turn, 20000);
	scenario_close(&s);
}

/* Version 1 has neither the paused side nor the turn, which are the last five bytes of the facts. */
#define NEW_BYTES 5u
static void leave_paused_out(uint8_t *bytes, size_t *len)
{
	struct scenario_part part;
	size_t end;

	memcpy(&part, bytes, sizeof(part));
	end = sizeof(part) + part.len;
	part.len -= NEW_BYTES;
	memcpy(bytes, &part, sizeof(part));
	memmove(bytes + end - NEW_BYTES, bytes + end, *len - end);
	*len -= NEW_BYTES;
}

static void version_1_is_read(void **state)
{
	const uint32_t first = 1;
	struct scenario s;
	struct err err = {0};

	(void)state;
	rewrite_stream(leave_paused_out);
	assert_refused("it is damaged: its facts about the race have the wrong length");
	assert_int_equal(pwrite(file, &first, sizeof(first), SCENARIO_MAGIC_LEN), sizeof(first));
	assert_int_equal(scenario_open(path, &s, &err), 0);
	assert_false(s.config.paused);
	assert_int_equal(s.config.instructions, 20000);
	scenario_close(&s);
	write_changed(NULL);
	assert_int_equal(pwrite(file, &first, sizeof(first), SCENARIO_MAGIC_LEN), sizeof(first));
	assert_refused("it is damaged: its facts about the race have the wrong length");
}

/* ---- files that are no scenarios ---- */

static void what_is_foreign_is_refused(void **state)
{
	static const char elf[64] = "\177ELF", *const no_scenario =
						       "it is no scenario: `outrider run --replay --save DIR` makes them";

	(void)state;
	assert_refused(no_scenario);
	assert_int_equal(write(file, elf, sizeof(elf)), sizeof(elf));
	assert_refused(no_scenario);
}

static void what_is_no_file_is_refused(void **state)
{
	char folder[] = "/tmp/test_replay_scenario.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	strcpy(path, folder);
	assert_refused("it is not a regular file");
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_refused("No such file or directory");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused("it is not a regular file");
	unlink(path);
	rmdir(folder);
}

static void what_is_newer_is_refused(void **state)
{
	const uint32_t newer = SCENARIO_VERSION + 1, older = 0;

	(void)state;
	write_changed(NULL);
	assert_int_equal(pwrite(file, &newer, 4, SCENARIO_MAGIC_LEN), 4);
	assert_refused("it has version 3, and this outrider knows 2: use the newer one that made it");
	assert_int_equal(pwrite(file, &older, 4, SCENARIO_MAGIC_LEN), 4);
	assert_refused("it is damaged: its version is 0");
}

/* The reader refuses a scenario that is cut off at any place. */
static void what_is_cut_off_is_refused(void **state)
{
	off_t whole;

	(void)state;
	write_changed(NULL);
	whole = size();
	for (off_t len = whole - 1; len >= SCENARIO_MAGIC_LEN; len -= len < 200 || len > whole - 50 ? 1 : 97) {
		assert_int_equal(ftruncate(file, len), 0);
		assert_refused("it is not whole: it was cut off");
	}
}

static void what_follows_the_end_is_refused(void **state)
{
	(void)state;
	write_changed(NULL);
	assert_int_equal(pwrite(file, "x", 1, size()), 1);
	assert_refused("it is damaged: something follows its end");
}

/* Some changed bits of the compressed frame's header do not change its meaning. Returns whether the file is refused. */
static bool refused_or_same(const struct scenario *same)
{
	struct scenario s;
	struct err err = {0};

	if (scenario_open(path, &s, &err) < 0) {
		assert_int_equal(err.code, EXIT_INPUT);
		assert_int_equal(strncmp(err.text, "scenario /proc/self/fd/", 23), 0);
		assert_null(strchr(err.text, '\n'));
		return true;
	}
	assert_memory_equal(s.state.data, same->state.data, same->state.len);
	assert_memory_equal(s.ram.host, same->ram.host, SCENARIO_MADE_RAM);
	assert_true(replay_identical(&s.facts.instance, &same->facts.instance));
	scenario_close(&s);
	return false;
}

static void flip(off_t at)
{
	uint8_t byte;

	assert_int_equal(pread(file, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

/* Change each bit in turn: the checks of the form or the checksum find the change. */
static void what_is_corrupted_is_refused(void **state)
{
	struct scenario same;
	unsigned tried = 0, refused = 0;
	off_t whole;

	(void)state;
	assert_int_equal(scenario_made(&same, NULL), 0);
	write_changed(NULL);
	whole = size();
	for (off_t at = 0; at < whole; at += at < 64 || at > whole - 64 ? 1 : 41) {
		flip(at);
		refused += refused_or_same(&same);
		tried++;
		flip(at);
	}
	assert_true(refused + 4 > tried);
	scenario_close(&same);
}

static void the_checksum_is_looked_at(void **state)
{
	uint8_t byte;

	(void)state;
	write_changed(NULL);
	assert_int_equal(pread(file, &byte, 1, size() - 1), 1);
	byte ^= 1;
	assert_int_equal(pwrite(file, &byte, 1, size() - 1), 1);
	assert_refused("it is damaged: Restored data doesn't match checksum");
}

/* ---- sections that cannot be ---- */

static struct scenario_part part_at(const uint8_t *bytes)
{
	struct scenario_part part;

	memcpy(&part, bytes, sizeof(part));
	return part;
}

/* Return the beginning of the section of this type. */
static uint8_t *find_part(uint8_t *bytes, uint32_t type)
{
	while (part_at(bytes).type != type)
		bytes += sizeof(struct scenario_part) + part_at(bytes).len;
	return bytes;
}

static void foreign_section(uint8_t *bytes, size_t *len)
{
	(void)len;
	find_part(bytes, SCENARIO_STATE)[0] = 77;
}

static void huge_state(uint8_t *bytes, size_t *len)
{
	const uint64_t huge = UINT64_C(1) << 62;

	(void)len;
	memcpy(find_part(bytes, SCENARIO_STATE) + offsetof(struct scenario_part, len), &huge, sizeof(huge));
}

static void other_state(uint8_t *bytes, size_t *len)
{
	(void)len;
	find_part(bytes, SCENARIO_STATE)[sizeof(struct scenario_part)] ^= 1;
}

static void little_ram(uint8_t *bytes, size_t *len)
{
	const uint64_t made = SCENARIO_MADE_RAM, little = MIB(32);
	uint8_t *at = memmem(find_part(bytes, SCENARIO_STATE), 256, &made, sizeof(made));

	(void)len;
	assert_non_null(at);
	memcpy(at, &little, sizeof(little));
}

static void change_run(uint8_t *bytes, struct scenario_run run)
{
	memcpy(find_part(bytes, SCENARIO_RAM) + sizeof(struct scenario_part), &run, sizeof(run));
}

static void run_off_page(uint8_t *bytes, size_t *len)
{
	(void)len;
	change_run(bytes, (struct scenario_run){.offset = 8, .pages = 1});
}

static void run_behind_end(uint8_t *bytes, size_t *len)
{
	(void)len;
	change_run(bytes, (struct scenario_run){.offset = SCENARIO_MADE_RAM, .pages = 1});
}

static void run_too_long(uint8_t *bytes, size_t *len)
{
	(void)len;
	change_run(bytes, (struct scenario_run){.offset = 0x1000, .pages = UINT64_MAX / 2});
}

static void text_too_long(uint8_t *bytes, size_t *len)
{
	(void)len;
	memset(bytes + sizeof(struct scenario_part), 0xff, 2);
}

static void fields_too_short(uint8_t *bytes, size_t *len)
{
	uint64_t less = part_at(bytes).len - 1;

	(void)len;
	memcpy(bytes + offsetof(struct scenario_part, len), &less, sizeof(less));
}

static void one_more_byte(uint8_t *bytes, size_t *len)
{
	bytes[(*len)++] = 0;
}

static void no_end(uint8_t *bytes, size_t *len)
{
	(void)bytes;
	*len -= sizeof(struct scenario_part);
}

static void sections_that_cannot_be_are_refused(void **state)
{
	static const struct {
		void (*change)(uint8_t *bytes, size_t *len);
		const char *why;
	} cases[] = {
		{foreign_section, "it is damaged: its section 2 has the type 77"},
		{huge_state, "it is damaged: its section 2 has 4611686018427387904 bytes"},
		{other_state, "the state of the machine is not usable: it is something else"},
		{little_ram, "it is damaged: a machine cannot have 33554432 bytes of RAM"},
		{run_off_page, "it is damaged: 1 pages at offset 0x8 of its RAM are out of place"},
		{run_behind_end, "it is damaged: 1 pages at offset 0x4000000 of its RAM are out of place"},
		{run_too_long, "it is damaged: 9223372036854775807 pages at offset 0x1000 of its RAM are out of place"},
		{text_too_long, "it is damaged: its facts about the race have the wrong length"},
		{fields_too_short, "it is damaged: its facts about the race have the wrong length"},
		{one_more_byte, "it is damaged: something follows its end"},
		{no_end, "it is damaged: it ends too early"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rewrite_stream(cases[i].change);
		assert_refused(cases[i].why);
	}
}

/* ---- values that cannot be ---- */

#define CHANGE(name, what)                   \
	static void name(struct scenario *s) \
	{                                    \
		what;                        \
	}
CHANGE(no_such_cpu, s->rendezvous.sides[1].cpu = MADE_CPUS)
CHANGE(one_cpu, s->rendezvous.sides[1].cpu = 0)
CHANGE(no_ram_there, s->rendezvous.sides[0].gpa = SCENARIO_MADE_RAM - 2)
CHANGE(gpa_wraps, s->rendezvous.sides[0].gpa = UINT64_MAX - 1)
CHANGE(no_access, s->rendezvous.sides[0].rw = 0)
CHANGE(other_access, s->rendezvous.sides[0].rw = 4)
CHANGE(no_bytes, s->rendezvous.sides[0].size = 0)
CHANGE(long_insn, s->rendezvous.sides[0].insn_len = 16)
CHANGE(other_context, s->rendezvous.sides[0].context.kind = 9)
CHANGE(no_region, s->config.instructions = 0)
CHANGE(long_run, s->config.free_ns = UINT64_MAX)
CHANGE(no_outcome, s->facts.instance.outcome = (enum replay_outcome)77)
CHANGE(no_end_of_region, s->facts.instance.orders[0].regions[1].end = (enum replay_end) - 1)

static void values_that_cannot_be_are_refused(void **state)
{
	static const char where[] = "it is damaged: the places of its two sides are impossible",
			  how[] = "it is damaged: its settings for the orders are impossible";
	static const struct {
		void (*change)(struct scenario *s);
		const char *why;
	} cases[] = {
		{no_such_cpu, where},
		{one_cpu, where},
		{no_ram_there, where},
		{gpa_wraps, where},
		{no_access, where},
		{other_access, where},
		{no_bytes, where},
		{long_insn, where},
		{other_context, where},
		{no_region, how},
		{long_run, how},
		{no_outcome, "it is damaged: the outcome has an unknown value"},
		{no_end_of_region, "it is damaged: the end of a region has an unknown value"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ftruncate(file, 0), 0);
		write_changed(cases[i].change);
		assert_refused(cases[i].why);
	}
}

/* ---- memory ---- */

/* Return the size of the process's address space, in bytes. */
static rlim_t used_space(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return (rlim_t)pages * X86_PAGE_SIZE;
}

static void no_room_for_ram_is_told(void **state)
{
	const struct rlimit small = {.rlim_cur = used_space() + MIB(32), .rlim_max = RLIM_INFINITY};
	struct rlimit was;
	struct scenario s;
	struct err err = {0};
	int rc;

	(void)state;
	write_changed(NULL);
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
	rc = scenario_open(path, &s, &err);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, ": this host does not give the 64 MiB of its RAM; free some memory"));
}

/* ---- disks ---- */

static void a_full_disk_is_told(void **state)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct scenario s;
	struct err err = {0};

	(void)state;
	assert_true(full >= 0);
	assert_int_equal(scenario_made(&s, &err), 0);
	assert_int_equal(scenario_write(full, &s, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_string_equal(err.text, "cannot write the scenario: No space left on device; make room");
	scenario_close(&s);
	close(full);
}

/* A write fails after a part of the scenario was written. */
static void half_a_scenario_is_taken_back(void **state)
{
	const struct rlimit small = {.rlim_cur = 2048, .rlim_max = RLIM_INFINITY};
	struct rlimit was;
	struct scenario s;
	struct err err = {0};

	(void)state;
	/* RLIMIT_FSIZE applies to a memfd, too, and its signal would end the process. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(scenario_made(&s, &err), 0);
	for (size_t i = 0; i < 64 * X86_PAGE_SIZE; i++)
		s.ram.host[i] = (uint8_t)(i * i >> 7);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(scenario_write(file, &s, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_string_equal(err.text, "cannot write the scenario: File too large");
	assert_int_equal(size(), 0);
	scenario_close(&s);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_file, close_file)

/* Write a scenario from which no machine can be made, for tests of the command. */
static int write_made(const char *to)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	struct err err = {0};
	struct scenario s;

	if (fd < 0 || scenario_made(&s, &err) < 0 || scenario_write(fd, &s, &err) < 0)
		return 1;
	scenario_close(&s);
	return close(fd) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read),
		TEST(a_failure_is_read),
		TEST(a_paused_side_is_read),
		TEST(version_1_is_read),
		TEST(texts_become_printable),
		TEST(what_is_foreign_is_refused),
		TEST(what_is_no_file_is_refused),
		TEST(what_is_newer_is_refused),
		TEST(what_is_cut_off_is_refused),
		TEST(what_follows_the_end_is_refused),
		TEST(what_is_corrupted_is_refused),
		TEST(the_checksum_is_looked_at),
		TEST(sections_that_cannot_be_are_refused),
		TEST(values_that_cannot_be_are_refused),
		TEST(no_room_for_ram_is_told),
		TEST(a_full_disk_is_told),
		TEST(half_a_scenario_is_taken_back),
	};

	if (argc == 3 && strcmp(argv[1], "--write") == 0)
		return write_made(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
