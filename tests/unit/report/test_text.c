// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports as text: the title line, both sides, and no characters that could steer a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "hv/report/words.h"
#include "tests/unit/report/report_text_of.h"

static void title_says_it_all(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	text = text_of_race(&o, &plain);
	first_line(text, "RACE 24fe57074e90  write in ext4_foo+0x1c [ext4]  <->  read in generic_bar+0x33   4 bytes at "
			 "0xffff888012345678, "
			 "0x1 -> 0x2");
	free(text);
}

static void add_line(struct race_names *names, uint8_t frame, bool inlined, const char *function, const char *file,
		     unsigned line)
{
	struct source_line *l = race_names_add(names, NULL);

	assert_non_null(l);
	*l = (struct source_line){.frame = frame, .inlined = inlined, .line = line};
	strcpy(l->function, function);
	strcpy(l->file, file);
}

static struct race_names *sample_names(void)
{
	struct race_names *names = calloc(1, sizeof(*names));

	assert_non_null(names);
	add_line(names, 0, true, "set_state", "include/linux/ext4.h", 12);
	add_line(names, 0, false, "ext4_foo", "fs/ext4/file.c", 451);
	add_line(names, 3, false, "entry_SYSCALL_64", "arch/x86/entry/entry\x1b.S", 0);
	names->datum[0] = (struct datum_name){.by = DATUM_BY_REGISTER,
					      .guess = true,
					      .path = "inode->i_state",
					      .owner = "struct inode",
					      .member = "i_state",
					      .type = "long unsigned int",
					      .offset = 152,
					      .before = "I_NEW",
					      .after = "I_NEW|I_SYNC"};
	names->datum[1] = (struct datum_name){.by = DATUM_BY_VARIABLE, .path = "whole", .owner = "int", .type = "int"};
	return names;
}

static void names_of_debug_files(void **state)
{
	struct race_store *s = race_store_new(NULL);
	struct observation *o = malloc(sizeof(*o));
	char *text = NULL;
	struct race *race;
	bool is_new;
	size_t len;
	FILE *out;

	(void)state;
	sample_observation(o, 0);
	race = race_store_add(s, o, &is_new, NULL);
	assert_non_null(race);
	race->names = sample_names();
	out = open_memstream(&text, &len);
	text_race(out, race, &plain);
	fclose(out);
	first_line(text,
		   "RACE 24fe57074e90  write in ext4_foo+0x1c [ext4]  <->  read in generic_bar+0x33   inode->i_state, 4 bytes "
		   "at 0xffff888012345678, I_NEW -> I_NEW|I_SYNC");
	has(text, "at fs/ext4/file.c:451 in inlined set_state at include/linux/ext4.h:12\n");
	has(text, "of (it seems) inode->i_state, long unsigned int at +152 in struct inode\n");
	has(text, "of whole, int\n");
	has(text, "calls  hardirq  set_state                                        include/linux/ext4.h:12\n");
	has(text, "ext4_foo+0x1c [ext4]                             fs/ext4/file.c:451\n");
	has(text, "entry_SYSCALL_64_after_hwframe+0x64              arch/x86/entry/entry\\x1b.S\n");
	has(text, "  flags    set bit 1  cleared bit 0\n");
	free(text);
	free(o);
	race_store_free(s);
}

static void memory_without_debug_files(void **state)
{
	const struct {
		struct guest_memory memory;
		const char *path, *line;
	} cases[] = {
		{{.kind = GUEST_MEMORY_KERNEL,
		  .cpu = -1,
		  .symbol.name = "jiffies_64",
		  .object = 0xffffffff82a05000,
		  .object_size = 8},
		 "   jiffies_64, 4 bytes",
		 "  memory   kernel data jiffies_64, +0 in 8 bytes at 0xffffffff82a05000\n"},
		{{.kind = GUEST_MEMORY_PER_CPU,
		  .cpu = 1,
		  .symbol.name = "runqueues",
		  .object = 0xffff88801f031380,
		  .object_size = 3200,
		  .offset = 8},
		 "   runqueues+0x8 of CPU 1, 4 bytes",
		 "  memory   per-CPU runqueues of CPU 1, +8 in 3200 bytes at 0xffff88801f031380\n"},
		{{.kind = GUEST_MEMORY_SLAB,
		  .cpu = -1,
		  .cache = "kmalloc-64",
		  .object = 0xffff888012345640,
		  .object_size = 64,
		  .offset = 56},
		 "   kmalloc-64+0x38, 4 bytes",
		 "  memory   slab kmalloc-64, +56 in 64 bytes at 0xffff888012345640\n"},
		{{.kind = GUEST_MEMORY_SLAB,
		  .cpu = -1,
		  .cache = "dentry",
		  .object = 0xffff888012345640,
		  .object_size = 192,
		  .type = "dentry",
		  .member = "d_flags\x1b"},
		 "   dentry.d_flags\\x1b, 4 bytes",
		 "  memory   slab dentry, +0 in 192 bytes"},
		{{.kind = GUEST_MEMORY_SLAB,
		  .cpu = -1,
		  .cache = "pool_workqueue",
		  .merged = GUEST_MERGED_YES,
		  .object = 0xffff888012345600,
		  .object_size = 256,
		  .offset = 16},
		 "   kmalloc-or-alias-256+0x10, 4 bytes",
		 "  memory   slab kmalloc-or-alias of 256 bytes, merged (first user pool_workqueue), +16 in 256 bytes"},
		{{.kind = GUEST_MEMORY_SLAB,
		  .cpu = -1,
		  .cache = "pool_workqueue",
		  .merged = GUEST_MERGED_NO,
		  .object = 0xffff888012345600,
		  .object_size = 256},
		 "   pool_workqueue, 4 bytes",
		 "  memory   slab pool_workqueue, +0 in 256 bytes"},
		{{.kind = GUEST_MEMORY_SLAB,
		  .cpu = -1,
		  .cache = "pool_workqueue",
		  .object = 0xffff888012345600,
		  .object_size = 256,
		  .offset = 16},
		 "   pool_workqueue?+0x10, 4 bytes",
		 "  memory   slab pool_workqueue (may be merged), +16 in 256 bytes"},
		{{.kind = GUEST_MEMORY_SLAB, .cpu = -1, .cache = "pool_workqueue", .merged = GUEST_MERGED_YES},
		 "generic_bar+0x33   4 bytes",
		 "  memory   slab kmalloc-or-alias, merged (first user pool_workqueue)\n"},
		{{.kind = GUEST_MEMORY_PAGE, .cpu = -1}, "generic_bar+0x33   4 bytes", "  memory   page\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct observation o;
		char *text;

		sample_observation(&o, 0);
		o.memory = cases[i].memory;
		text = text_of_race(&o, &plain);
		has(text, cases[i].path);
		has(text, cases[i].line);
		free(text);
	}
}

static void both_sides_in_full(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	o.sides[1].context.kind = GUEST_SOFTIRQ;
	o.sides[1].context.rcu_nesting = 0;
	text = text_of_race(&o, &plain);
	has(text, "CPU 0, held: worker (pid 42), task, interrupts off, preemption on, in an RCU section\n");
	has(text, "CPU 1, meanwhile: worker (pid 42), softirq, interrupts off, preemption on\n");
	has(text, "             holds sb_sem (as a reader), perhaps kmalloc-64+0x8\n");
	has(text, "rip ffffffffc010001c");
	has(text, "rbx 3333333333333333");
	has(text, "r15 ffffffffffffffff");
	has(text, " 90 <89> 90");
	has(text, "stack+00  eeeeeeeeeeeeeeee  ffffffffc010001c");
	has(text, "seen by watchpoint, 3.200 ms into the window, 1.500 s into the run; physical 0x12345678");
	free(text);
}

static void the_course_of_the_window(void **state)
{
	static const struct {
		struct race_window window;
		bool device;
		const char *line; /* NULL: there is none */
	} cases[] = {
		{{.known = false}, false, NULL},
		{{.known = true, .hold_ns = 20000000}, false, "\n  window   of at most 20.000 ms\n"},
		{{.known = true, .hold_ns = 20000000, .watched_ns = 41000, .returns = 1},
		 false,
		 "\n  window   of at most 20.000 ms, watchpoints in force after 0.041 ms, 1 return from an interrupt "
		 "meanwhile\n"},
		{{.known = true, .hold_ns = 900000, .returns = 12},
		 true,
		 "\n  window   of at most 0.900 ms, 12 returns from interrupts meanwhile\n"},
		{{.known = true},
		 true,
		 "\n  window   none: a device was serving a request with this memory when the CPU stopped\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct observation o;
		char *text;

		sample_observation(&o, 0);
		if (cases[i].device)
			sample_device(&o);
		o.window = cases[i].window;
		text = text_of_race(&o, &plain);
		if (cases[i].line)
			has(text, cases[i].line);
		else
			assert_null(strstr(text, "\n  window "));
		free(text);
	}
}

static void locked_side_before_its_instruction(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	o.sides[1].locked = true;
	o.sides[1].pc = 0;
	text = text_of_race(&o, &plain);
	has(text, "<->  locked read just before generic_bar+0x36");
	free(text);
}

static void writer_nobody_saw(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	o.how = RACE_BY_REREAD;
	o.sides[1] = (struct race_side){.kind = RACE_SIDE_UNSEEN};
	text = text_of_race(&o, &plain);
	first_line(text, "RACE c47fa652175c  write in ext4_foo+0x1c [ext4]  <->  changed by an unseen writer   4 bytes at "
			 "0xffff888012345678, 0x1 -> 0x2");
	has(text, "seen by re-read");
	free(text);
}

static void device_that_reads(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	sample_device(&o);
	text = text_of_race(&o, &plain);
	first_line(text,
		   "RACE 98ef02e8e53b  write in ext4_foo+0x1c [ext4]  <->  read by virtio-blk (write request)   4 bytes at "
		   "0xffff888012345678, 0x1 unchanged");
	has(text, "\n  read       virtio-blk 1, queue 2: write of sector 8192, descriptor 3, segment 1   4 bytes at GPA "
		  "0x12345678\n             by thread blk1/q2 (tid 4711) of outrider\n  identity c5573e7085b1 in every build\n "
		  " seen by device, ");
	free(text);
}

/* Only requests for sectors have a sector in the text. */
static void device_without_a_sector(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	sample_device(&o);
	o.sides[1].rw = INSN_WRITE;
	o.sides[1].device.request =
		(struct device_request){.type = "virtio-rng", .op = DEVICE_RNG_FILL, .tid = 5, .thread = "\x1b[2J"};
	o.sides[1].device.descriptor = 0;
	o.sides[1].device.len = 1;
	text = text_of_race(&o, &plain);
	has(text, "<->  write by virtio-rng (fill request)   ");
	has(text, "\n  write      virtio-rng 0, queue 0: fill, descriptor 0, segment 0   1 byte at GPA 0x12345678\n"
		  "             by thread \\x1b[2J (tid 5) of outrider\n");
	free(text);
}

static void value_that_did_not_change(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	memcpy(o.after, o.before, sizeof(o.after));
	text = text_of_race(&o, &plain);
	has(text, "4 bytes at 0xffff888012345678, 0x1 unchanged\n");
	free(text);
}

static void long_values_have_their_own_lines(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	o.data_len = 16;
	text = text_of_race(&o, &plain);
	has(text, "16 bytes at 0xffff888012345678\n");
	has(text, "  before   01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n");
	has(text, "  after    02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n");
	free(text);
}

static void terminal_is_not_steered(void **state)
{
	const char *hostile = "\x1b]0;owned\a\r\n\x9b";
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	for (int i = 0; i < 2; i++) {
		strcpy(o.sides[i].symbol.name, hostile);
		strcpy(o.sides[i].symbol.module, hostile);
		memcpy(o.sides[i].context.comm, hostile, strlen(hostile));
		strcpy(o.sides[i].calls.frames[1].symbol.name, hostile);
		strcpy(o.sides[i].calls.frames[1].symbol.module, hostile);
	}
	text = text_of_race(&o, &plain);
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
	has(text, "\\x1b]0;owned\\x07");
	free(text);
}

static void colours_when_asked(void **state)
{
	const struct text_style coloured = {.colour = true};
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	text = text_of_race(&o, &coloured);
	has(text, "\x1b[1;31mRACE 24fe57074e90\x1b[0m");
	free(text);
}

static void no_colours_unless_asked(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	text = text_of_race(&o, &plain);
	assert_null(strchr(text, '\x1b'));
	free(text);
}

static void values_are_little_endian(void **state)
{
	const uint8_t bytes[8] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
	char text[VALUE_TEXT_MAX];

	(void)state;
	value_text(bytes, 1, text);
	assert_string_equal(text, "0x1");
	value_text(bytes, 2, text);
	assert_string_equal(text, "0x201");
	value_text(bytes, 3, text);
	assert_string_equal(text, "01 02 03");
	value_text(bytes, 8, text);
	assert_string_equal(text, "0x807060504030201");
	value_text(bytes, 0, text);
	assert_string_equal(text, "");
}

static char *summary_without_races(uint64_t sampling_ns)
{
	const struct detect_stats stats = {.sampling_ns = sampling_ns};
	struct race_store *s = race_store_new(NULL);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	text_summary(out, s, &stats, NULL, &plain);
	fclose(out);
	race_store_free(s);
	return text;
}

/* Nothing was sampled, so "no races" would judge a kernel that the run did not examine. */
static void summary_of_nothing(void **state)
{
	char *text = summary_without_races(0);

	(void)state;
	has(text, "SUMMARY  nothing was sampled");
	assert_null(strstr(text, "no races"));
	free(text);
}

static void summary_of_no_races(void **state)
{
	char *text = summary_without_races(1000000);

	(void)state;
	has(text, "SUMMARY  no races\n");
	free(text);
}

static void summary_is_sorted_by_count(void **state)
{
	const struct detect_stats stats = {
		.hits = 50, .windows = 20, .sampling_ns = 10000000000, .target = {.exits = 90, .ioctls = 30, .kicks = 20}};
	struct race_store *s = race_store_new(NULL);
	struct observation o;
	char *text = NULL;
	size_t len;
	bool is_new;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	sample_observation(&o, 0);
	race_store_add(s, &o, &is_new, NULL);
	o.sides[0].pc++;
	for (int i = 0; i < 3; i++)
		race_store_add(s, &o, &is_new, NULL);
	text_summary(out, s, &stats, NULL, &plain);
	fclose(out);
	has(text, "SUMMARY  2 races\n");
	has(text, "50 hits (5.0/s), 20 windows (2.0/s)");
	has(text, "per window    4.50 exits, 1.50 ioctls, 1.00 kicks");
	assert_true(strstr(text, "ext4_foo+0x1d") < strstr(text, "ext4_foo+0x1c"));
	free(text);
	race_store_free(s);
}

static char *summary_of(const struct detect_stats *stats)
{
	struct race_store *s = race_store_new(NULL);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	text_summary(out, s, stats, NULL, &plain);
	fclose(out);
	race_store_free(s);
	return text;
}

/* The summary gives advice for each reason, and does not mention a rate that was reached. */
static void summary_says_why_the_rate_was_not_reached(void **state)
{
	const struct detect_stats idle = {.sampling_ns = 10000000000,
					  .asked_rate = 1000,
					  .hits = 190,
					  .sites = 430000,
					  .armed_most = 65520,
					  .planted = 9000,
					  .executed = 180,
					  .arming_ns = 1200000000,
					  .target = {.debug_exits = 200, .stopped_ns = 50000000}};
	struct detect_stats all = idle, slow = idle, held = idle, reached = idle;
	char *text = summary_of(&idle);

	(void)state;
	has(text,
	    "\n  rate          19 of 1000 hits/s asked: at most 65520 points armed at a time, 900 armed/s, 98% of them never "
	    "hit, 12% of a CPU to arm them, 0.25 ms a stop; the guest executes few of the sites: give it more to do, "
	    "or name what it runs (--sample, --module)\n");
	free(text);
	all.sites = 70000;
	text = summary_of(&all);
	has(text, "all sites were armed, but the guest executes too few of them: give the guest more work, or sample more "
		  "functions\n");
	free(text);
	slow.arming_ns = 4200000000;
	text = summary_of(&slow);
	has(text, "42% of a CPU to arm them, 0.25 ms a stop; finding and arming points is the limit: name what the guest runs");
	free(text);
	held.executed = 6000;
	text = summary_of(&held);
	has(text, "33% of them never hit, 12% of a CPU to arm them, 0.25 ms a stop; with more hits, the guest would be held "
		  "too much: "
		  "use a shorter --delay or a faster host\n");
	free(text);
	reached.hits = 8000;
	text = summary_of(&reached);
	assert_null(strstr(text, "  rate "));
	free(text);
}

/* A run whose points were not all chosen at random says so. */
static void summary_says_what_was_steered(void **state)
{
	struct detect_stats with = {.sampling_ns = 10000000000,
				    .planted = 900,
				    .steered = 300,
				    .hits = 200,
				    .steered_hits = 90,
				    .steered_windows = 40,
				    .steered_conflicts = 7,
				    .talking_sites = 12,
				    .retired_sites = 3};
	char *text = summary_of(&with);

	(void)state;
	has(text,
	    "\n  steered       300 of 900 points were not chosen at random, but where code began to run or CPUs share memory: "
	    "90 of the hits, 40 of the windows, 7 of the conflicts; 12 sites touched what another CPU touched, 3 got no more "
	    "points after several conflicts\n");
	free(text);
	with.steered = 0;
	text = summary_of(&with);
	assert_null(strstr(text, "steered"));
	free(text);
}

/* The line is there only in a run with --sample-with-callees that found callees. */
static void summary_says_what_callees_were_added(void **state)
{
	struct detect_stats with = {
		.sampling_ns = 10000000000, .hits = 300, .callees = 12, .callee_hits = 90, .skipped_caller = 30};
	char *text = summary_of(&with);

	(void)state;
	has(text,
	    "\n  callees       12 functions added that the selected functions call; of 90 hits in them 30 had another caller, "
	    "and got no window\n");
	free(text);
	with.callees = 0;
	text = summary_of(&with);
	assert_null(strstr(text, "callees"));
	free(text);
}

/* The summary shows the asked and the actual cost. It explains a cost below that, but no rate that the cost limited. */
static void summary_says_what_it_cost(void **state)
{
	const struct detect_stats paid = {.sampling_ns = 10000000000,
					  .asked_rate = 1000000,
					  .asked_percent = 5,
					  .cpus = 4,
					  .hits = 300,
					  .skipped_cost = 70,
					  .target = {.lost_ns = 1960000000}};
	struct detect_stats less = paid, attached = paid, unasked = paid;
	char *text = summary_of(&paid);

	(void)state;
	has(text,
	    "\n  cost          4.9 % of the CPUs' time, 5 % asked for; no window for 70 hits that would have cost more\n");
	assert_null(strstr(text, "  rate "));
	free(text);
	less.target.lost_ns = 400000000;
	text = summary_of(&less);
	has(text, "\n  rate          30 hits/s, which cost less than --overhead allows: at most 0 points armed at a time");
	has(text, "\n  cost          1.0 % of the CPUs' time, 5 % asked for");
	free(text);
	attached.asked_rate = 100;
	attached.skipped_cost = 0;
	attached.target.lost_ns = 8000000000;
	attached.target.still_ns = 500000000;
	text = summary_of(&attached);
	has(text, "\n  rate          30 of 100 hits/s asked");
	has(text, "\n  cost          20.0 % of the CPUs' time; the guest stood still for 5.0 % of the time, 5 % asked for\n");
	free(text);
	unasked.asked_percent = 0;
	unasked.skipped_cost = 0;
	text = summary_of(&unasked);
	has(text, "\n  cost          4.9 % of the CPUs' time\n");
	free(text);
}

static char *head_of(const struct run_facts *run)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	text_run(out, run, "night.json", &plain);
	fclose(out);
	return text;
}

static void run_says_what_it_was(void **state)
{
	struct run_facts run = sample_run();
	char *text;

	(void)state;
	run.kernel = (struct run_kernel){
		.banner = (char *)"Linux version 6.1.0 \x1b[2J", .build_id = {0xab, 0x01}, .build_id_len = 2};
	run.finished = true;
	run.end = "guest powered off";
	run.sampled_ns = 12300000000;
	text = head_of(&run);
	has(text, "RUN       night.json\n"
		  "  kernel        Linux version 6.1.0 \\x1b[2J\n"
		  "  build id      ab01\n"
		  "  started       2026-11-22 07:36:55 UTC\n"
		  "  host          lab3, Linux 6.12.57, 4 CPUs, A CPU @ 2.1GHz\n"
		  "  outrider      0, seed 18446744073709551615, rate 100 hits/s, delay 10000 us\n"
		  "  command       outrider run --kernel 'vm linuz' --duration 30s\n"
		  "  sandbox       none: outrider was not confined while it ran this guest\n"
		  "  finished      12.3 s sampled of 30.0 s asked for; guest powered off\n");
	free(text);
}

static char *doubt_of(const struct run_facts *run)
{
	const struct text_style style = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	text_doubt(out, run, "night.json", &style);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Each way in which a run says nothing about the kernel is told in words of its own, and none of a run that has sampled. */
static void run_that_says_nothing(void **state)
{
	static const struct {
		struct run_facts run;
		enum run_doubt doubt;
		const char *text;
	} runs[] = {
		{{.finished = true, .sampled_ns = 1, .hits = 1, .windows = 1}, RUN_SOUND, ""},
		{{.sampled_ns = 1, .hits = 1, .windows = 1},
		 RUN_UNFINISHED,
		 "UNFINISHED  night.json: the run is not finished: it goes on or was killed, and only what was found so far is "
		 "here\n"},
		{{.finished = true},
		 RUN_NOT_ARMED,
		 "UNSAMPLED  night.json: nothing was sampled: no sample point was armed, so this run says nothing about the "
		 "kernel\n"},
		{{.finished = true, .sampled_ns = 12300000000},
		 RUN_NO_HIT,
		 "UNSAMPLED  night.json: nothing was sampled: no armed instruction was executed in 12.3 s, so this run says "
		 "nothing "
		 "about the kernel\n"},
		{{.finished = true, .sampled_ns = 12300000000, .hits = 44},
		 RUN_NO_WINDOW,
		 "UNSAMPLED  night.json: nothing was sampled: no window was opened at any of 44 hits, so this run says nothing "
		 "about "
		 "races\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		char *text = doubt_of(&runs[i].run);

		assert_int_equal(run_doubt(&runs[i].run), runs[i].doubt);
		assert_int_equal(run_is_unsampled(&runs[i].run), i > 1);
		assert_string_equal(text, runs[i].text);
		free(text);
	}
}

/* A file may contain any words, and users copy the printed command into a shell. */
static void command_stays_words_in_a_shell(void **state)
{
	const char *const options[] = {"run", "it's", "'; reboot; '", ""};
	struct run_facts run = sample_run();
	char *text;

	(void)state;
	run.options = options;
	run.option_count = sizeof(options) / sizeof(options[0]);
	text = head_of(&run);
	has(text, "  command       outrider run 'it'\\''s' ''\\''; reboot; '\\''' ''\n");
	free(text);
}

static void run_that_is_not_finished(void **state)
{
	struct run_facts run = sample_run();
	char *text = head_of(&run);

	(void)state;
	has(text, "  NOT FINISHED  ");
	has(text, "; 30.0 s were asked for\n");
	assert_null(strstr(text, "  finished"));
	free(text);
}

/* A file of an older version, which wrote fewer facts. */
static void run_of_which_little_is_known(void **state)
{
	const struct run_facts run = {.seed = 7, .finished = true};
	char *text = head_of(&run);

	(void)state;
	has(text, "kernel        not found\n  outrider      of an unknown version, seed 7");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(title_says_it_all),
		cmocka_unit_test(names_of_debug_files),
		cmocka_unit_test(memory_without_debug_files),
		cmocka_unit_test(both_sides_in_full),
		cmocka_unit_test(the_course_of_the_window),
		cmocka_unit_test(value_that_did_not_change),
		cmocka_unit_test(locked_side_before_its_instruction),
		cmocka_unit_test(writer_nobody_saw),
		cmocka_unit_test(device_that_reads),
		cmocka_unit_test(device_without_a_sector),
		cmocka_unit_test(long_values_have_their_own_lines),
		cmocka_unit_test(terminal_is_not_steered),
		cmocka_unit_test(colours_when_asked),
		cmocka_unit_test(no_colours_unless_asked),
		cmocka_unit_test(values_are_little_endian),
		cmocka_unit_test(summary_of_nothing),
		cmocka_unit_test(summary_of_no_races),
		cmocka_unit_test(summary_says_why_the_rate_was_not_reached),
		cmocka_unit_test(summary_says_what_was_steered),
		cmocka_unit_test(summary_says_what_callees_were_added),
		cmocka_unit_test(summary_says_what_it_cost),
		cmocka_unit_test(summary_is_sorted_by_count),
		cmocka_unit_test(run_that_says_nothing),
		cmocka_unit_test(run_says_what_it_was),
		cmocka_unit_test(command_stays_words_in_a_shell),
		cmocka_unit_test(run_that_is_not_finished),
		cmocka_unit_test(run_of_which_little_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
