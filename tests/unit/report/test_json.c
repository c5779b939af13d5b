// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON file is a whole document at every moment: after each race, after kill -9, on a full disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/race/protection_table.h"
#include "hv/report/json/load.h"
#include "hv/report/report.h"
#include "tests/unit/replay/replay_made.h"
#include "tests/unit/report/lock_sample.h"
#include "tests/unit/report/sample.h"

struct fixture {
	char folder[64], file[80], next[90];
	struct report_config config;
	size_t printed; /* bytes */
};

static void print(void *ctx, const char *text, size_t len)
{
	struct fixture *f = ctx;

	(void)text;
	f->printed += len;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/test_report_json.XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->file, sizeof(f->file), "%s/races.json", f->folder);
	snprintf(f->next, sizeof(f->next), "%s.next", f->file);
	f->config = (struct report_config){
		.json = f->file, .print = print, .print_ctx = f, .run = {.tool_version = "0", .seed = 7, .cpus = 2}};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	unlink(f->next);
	rmdir(f->folder);
	free(f);
	return 0;
}

static struct report *start(struct fixture *f)
{
	struct err err = {0};
	const struct report_kernel kernel = sample_kernel();
	struct report *r = report_new(&f->config, &err);

	assert_string_equal(err.text, "");
	assert_non_null(r);
	assert_int_equal(report_set_kernel(r, &kernel, &err), 0);
	return r;
}

static json_t *load(const struct fixture *f)
{
	json_error_t error;
	json_t *document = json_load_file(f->file, JSON_REJECT_DUPLICATES, &error);

	if (!document)
		fail_msg("%s: %s at line %d", f->file, error.text, error.line);
	assert_string_equal(json_string_value(json_object_get(document, "schema")), "outrider-races/1");
	return document;
}

static size_t races_in(const json_t *document)
{
	assert_true(json_is_array(json_object_get(document, "races")));
	return json_array_size(json_object_get(document, "races"));
}

/* The `i`th of many different races, or another instance of it. */
static void observe(struct report *r, unsigned i, int expect, struct err *err)
{
	struct observation o;

	sample_observation(&o, 0);
	o.sides[0].pc += i;
	o.time_ns += i;
	assert_int_equal(report_observe(r, &o, err), expect);
}

static void valid_after_each_race(void **state)
{
	struct fixture *f = *state;
	struct report *r = start(f);
	struct err err = {0};
	json_t *document = load(f);

	assert_int_equal(races_in(document), 0);
	assert_true(json_is_false(json_object_get(document, "complete")));
	json_decref(document);
	for (unsigned i = 0; i < 20; i++) {
		observe(r, i, 0, &err);
		observe(r, i, 0, &err);
		document = load(f);
		assert_int_equal(races_in(document), i + 1);
		json_decref(document);
	}
	report_free(r);
	assert_int_equal(access(f->next, F_OK), -1);
}

static void complete_at_the_end(void **state)
{
	const struct detect_stats stats = {.hits = 5, .windows = 3, .sampling_ns = 2000000000, .target = {.kicks = 3}};
	struct fixture *f = *state;
	struct report *r = start(f);
	struct err err = {0};
	json_t *document, *race, *summary;
	size_t before = f->printed;

	for (unsigned i = 0; i < 12; i++)
		observe(r, i % 3, 0, &err);
	assert_int_equal(report_finish(r, &stats, "guest powered off", &err), 0);
	assert_true(f->printed > before);
	report_free(r);

	document = load(f);
	assert_int_equal(races_in(document), 3);
	race = json_array_get(json_object_get(document, "races"), 1);
	assert_int_equal(json_integer_value(json_object_get(race, "count")), 4);
	assert_int_equal(json_array_size(json_object_get(race, "instances")), 4);
	assert_string_equal(json_string_value(json_object_get(race, "value_after")), "0x2");
	assert_true(json_is_true(json_object_get(document, "complete")));
	summary = json_object_get(document, "summary");
	assert_string_equal(json_string_value(json_object_get(summary, "end")), "guest powered off");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(summary, "sampling"), "kicks")), 3);
	assert_string_equal(json_string_value(json_object_get(json_object_get(document, "kernel"), "slide")), "0x1000000");
	json_decref(document);
}

static void says(const json_t *object, const char *key, const char *value)
{
	assert_string_equal(json_string_value(json_object_get(object, key)), value);
}

static void stacks_in_full(void **state)
{
	struct fixture *f = *state;
	struct report *r = start(f);
	struct err err = {0};
	json_t *document, *stack, *frame;

	observe(r, 0, 0, &err);
	report_free(r);
	document = load(f);
	stack = json_array_get(json_object_get(json_array_get(json_object_get(document, "races"), 0), "sides"), 0);
	stack = json_object_get(stack, "stack");
	says(stack, "unwound_to", "syscall");
	assert_true(json_is_null(json_object_get(stack, "trouble")));
	assert_int_equal(json_array_size(json_object_get(stack, "interrupted")), 1);
	frame = json_array_get(json_object_get(stack, "interrupted"), 0);
	says(frame, "address", "0xffffc90000456f80");
	says(frame, "bytes", "dddddddddddddddddddddddddddddddd");
	assert_int_equal(json_array_size(json_object_get(stack, "frames")), 4);
	frame = json_array_get(json_object_get(stack, "frames"), 2);
	says(frame, "pc", "0xffffffff81000109");
	says(frame, "module", "ext4");
	says(frame, "function", "ext4_bar");
	says(frame, "kind", "interrupted");
	says(frame, "context", "task");
	assert_int_equal(json_integer_value(json_object_get(frame, "offset")), 9);
	assert_true(json_is_true(json_object_get(frame, "reliable")));
	json_decref(document);
}

static void hostile_names_stay_json(void **state)
{
	struct fixture *f = *state;
	struct report *r = start(f);
	struct err err = {0};
	struct observation o;
	json_t *document, *side;

	sample_observation(&o, 0);
	memset(o.sides[0].symbol.name, 0xff, sizeof(o.sides[0].symbol.name));
	memset(o.sides[0].symbol.module, '"', sizeof(o.sides[0].symbol.module));
	memcpy(o.sides[0].context.comm, "a\x1b[31m\\\"\xc3(\x80\0\0", 12);
	assert_int_equal(report_observe(r, &o, &err), 0);
	report_free(r);
	document = load(f);
	side = json_array_get(json_object_get(json_array_get(json_object_get(document, "races"), 0), "sides"), 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(side, "context"), "comm")),
			    "a\\x1b[31m\\x5c\"\\xc3(\\x80");
	json_decref(document);
}

/* A child adds races as fast as it can and says after each how many are printed; SIGKILL comes at some moment. */
static void child_adds(struct fixture *f, int fd)
{
	struct report *r = report_new(&f->config, NULL);
	struct err err = {0};

	for (uint32_t i = 0; r; i++) {
		struct observation o;
		uint32_t printed = i + 1;

		sample_observation(&o, 0);
		o.sides[0].pc += i;
		o.sides[0].stack_len = o.sides[1].stack_len = RACE_STACK_MAX / 4;
		if (report_observe(r, &o, &err) < 0 || write(fd, &printed, sizeof(printed)) != sizeof(printed))
			break;
	}
	_exit(1);
}

static void kill_9_loses_nothing_printed(void **state)
{
	struct fixture *f = *state;
	size_t most = 0;

	for (unsigned round = 0; round < 40; round++) {
		uint32_t said, printed = 0;
		json_t *document;
		int fds[2], status;
		pid_t child;

		assert_int_equal(pipe(fds), 0);
		child = fork();
		if (child == 0)
			child_adds(f, fds[1]);
		close(fds[1]);
		/* After some races, however slow the machine is, at a moment that moves through the next one. */
		for (unsigned wanted = 1 + round % 6; printed < wanted;)
			assert_int_equal(read(fds[0], &printed, sizeof(printed)), sizeof(printed));
		usleep(337 * round);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status));
		while (read(fds[0], &said, sizeof(said)) == sizeof(said))
			printed = said;
		close(fds[0]);
		document = load(f);
		assert_true(races_in(document) >= printed);
		most = printed > most ? printed : most;
		json_decref(document);
	}
	assert_true(most > 3);
}

/* What a killed outrider has left is not written into, since it may have another name by now: a new file takes its place. */
static void left_over_next_is_replaced(void **state)
{
	struct fixture *f = *state;
	char other[90];
	struct report *r;
	struct stat st;
	FILE *file = fopen(f->next, "w");

	snprintf(other, sizeof(other), "%s/other", f->folder);
	assert_non_null(file);
	assert_true(fputs("left over", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(link(f->next, other), 0);
	r = start(f);
	json_decref(load(f));
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_size, strlen("left over"));
	report_free(r);
	assert_int_equal(unlink(other), 0);
}

static void refuse_next(struct fixture *f)
{
	struct err err = {0};
	struct stat st;

	assert_null(report_new(&f->config, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, "races.json.next is in the way"))
		fail_msg("%s", err.text);
	assert_int_equal(lstat(f->next, &st), 0);
	assert_int_equal(access(f->file, F_OK), -1);
	assert_int_equal(unlink(f->next), 0);
}

static void foreign_next_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(symlink("/dev/null", f->next), 0);
	refuse_next(f);
	assert_int_equal(mkfifo(f->next, 0600), 0);
	refuse_next(f);
	if (geteuid() == 0) {
		FILE *file = fopen(f->next, "w");

		assert_non_null(file);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(chown(f->next, 65534, 65534), 0);
		refuse_next(f);
	}
}

/* Adds races until the file cannot grow, checks that it stays valid, makes room by `more`, and checks that nothing is missing.
 */
static void fill_up(struct fixture *f, void (*more)(struct fixture *f))
{
	struct report *r = start(f);
	struct err err = {0};
	unsigned i = 0;
	json_t *document;
	size_t before, printed;

	while (err.code == EXIT_OK && i < 1000) {
		struct observation o;

		sample_observation(&o, 0);
		o.sides[0].pc += i++;
		report_observe(r, &o, &err);
	}
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, f->file));
	document = load(f);
	before = races_in(document);
	assert_int_equal(before, i - 1);
	json_decref(document);

	/* The run goes on printing, and says nothing twice. */
	printed = f->printed;
	err = (struct err){0};
	observe(r, i++, 0, &err);
	assert_true(f->printed > printed);
	document = load(f);
	assert_int_equal(races_in(document), before);
	json_decref(document);
	assert_int_equal(report_finish(r, NULL, "duration over", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	document = load(f);
	assert_int_equal(races_in(document), before);
	json_decref(document);

	more(f);
	observe(r, i++, 0, &err);
	document = load(f);
	assert_int_equal(races_in(document), i);
	json_decref(document);
	report_free(r);
}

static void no_limit(struct fixture *f)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	(void)f;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void file_that_may_not_grow(void **state)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 100000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill_up(*state, no_limit);
}

static void more_room(struct fixture *f)
{
	assert_int_equal(mount("none", f->folder, "tmpfs", MS_REMOUNT, "size=64m"), 0);
}

/* A tmpfs of its own, in a mount namespace of its own; that takes root or a user namespace. */
static void full_disk(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWNS | CLONE_NEWUSER) < 0)
			_exit(77);
		if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", f->folder, "tmpfs", 0, "size=256k") < 0)
			_exit(77);
		fill_up(f, more_room);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		fail_msg("cannot mount a small tmpfs to fill: be root, or allow user namespaces");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void refused(struct fixture *f, const char *path, const char *why)
{
	struct err err = {0};

	f->config.json = path;
	assert_null(report_new(&f->config, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, why));
	assert_null(strchr(err.text, '\n'));
}

static void refuses_a_device(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	refused(f, "/dev/full", "not a regular file");
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void refuses_a_folder(void **state)
{
	struct fixture *f = *state;

	refused(f, f->folder, "not a regular file");
}

static void refuses_a_file_in_no_folder(void **state)
{
	struct fixture *f = *state;

	refused(f, "/nonexistent/races.json", "No such file");
}

static void old_file_is_replaced_links_are_followed(void **state)
{
	struct fixture *f = *state;
	char link[96];
	struct stat st;
	FILE *old = fopen(f->file, "w");

	assert_non_null(old);
	for (int i = 0; i < 100000; i++)
		fputs("not JSON ", old);
	fclose(old);
	snprintf(link, sizeof(link), "%s/link", f->folder);
	assert_int_equal(symlink("races.json", link), 0);
	f->config.json = link;
	report_free(start(f));
	json_decref(load(f));
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(link);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* As if debug files had been there: one side's chain and both names. */
static int name_sample(struct race *race, struct err *err)
{
	struct race_names *names = race->names = calloc(1, sizeof(*names));

	for (int i = 0; names && i < 2; i++) {
		struct source_line *line = race_names_add(names, err);

		if (!line)
			return -1;
		*line = (struct source_line){
			.inlined = i == 0, .line = 450u + (unsigned)i, .function = "f", .file = "fs/ext4/file.c"};
	}
	names->datum[0] = (struct datum_name){.by = DATUM_BY_REGISTER, .path = "inode->i_nlink", .member = "i_nlink"};
	names->datum[1] = (struct datum_name){
		.by = DATUM_BY_VARIABLE, .guess = true, .path = "flags.on", .bit_size = 1, .before = "1", .after = "0"};
	return 0;
}

/* As if races had been run in both orders: one with trouble in one order, and one that failed. */
static int replay_sample(struct report_load *l)
{
	const struct replay_instance failure = replay_made_failure(REPLAY_DEADLOCK);
	struct replay_instance oops = replay_made_oops(1);

	if (race_have_replay(l->races[0]) < 0 || race_have_replay(l->races[1]) < 0)
		return -1;
	oops.last_moment = true;
	replay_count(l->races[0]->replay, &oops);
	replay_count(l->races[1]->replay, &failure);
	return 0;
}

static int rewrite_named(const char *file, struct err *err)
{
	struct report_load l;
	FILE *out = NULL;
	int rc = -1;

	if (report_load(&l, file, err) < 0)
		return -1;
	if (name_sample(l.races[0], err) == 0 && replay_sample(&l) == 0)
		out = fopen(file, "w");
	if (out) {
		rc = report_load_write(&l, out, NULL, NULL, err);
		rc |= fclose(out);
	}
	report_load_free(&l);
	return rc;
}

static void write_locks(struct report *r, struct err *err)
{
	const struct section_pair sections = {
		.first = 0xffffffffc0100010, .second = 0xffffffffc0100040, .count = 9, .between = {{0xffffffffc0100080, 2}}};
	const struct prot_use use = {.taken_at = sections.first, .count = 1};
	const struct section_fate fate = {.pc = sections.first + 8,
					  .first = sections.first,
					  .seen = 3,
					  .own = 1,
					  .reached = {1, 2},
					  .missed = {3, 0},
					  .own_bits = 4};
	struct suspicion list[3] = {
		[2] = {.kind = SUSPICION_ATOMICITY, .id = "0123456789ab", .side = {0, 1}, .replay = 1, .text = "two steps"}};
	const struct suspicions suspicions = {
		.list = list, .count = 3, .told = {[ATOMICITY_BATCH] = 1}, .told_text = {[ATOMICITY_BATCH] = "a loop"}};
	struct protection *p = sample_protection();
	struct section_replay *replay =
		p ? protection_section_replay(p, sections.first, sections.second, sections.between[0].taken_at) : NULL;
	struct section_replay_instance copy = {.outcome = SECTION_OUTCOME_CONFIRMED, .difference_count = 3, .kept = 2};

	copy.differences[0] = (struct section_difference){.serial = {.gpa = 0x7000, .len = 2}, .between = {1, 2}};
	copy.differences[1] = (struct section_difference){.serial = {.is_register = true, .side = 1, .len = 8, .name = "rax"}};
	sample_suspicions(list);
	if (replay)
		section_replay_count(replay, &copy);
	if (replay && protection_set_sections(p, &sections, 1, err) == 0 && protection_set_fates(p, &fate, 1, err) == 0 &&
	    protection_use(p, &use) == 0)
		report_locks(r, p, &suspicions, err);
	protection_free(p);
}

/* An oops at the instruction of the first race's first side. */
static void write_complaint(struct report *r, struct err *err)
{
	struct complaint c = {.kind = COMPLAINT_OOPS,
			      .text = "BUG: unable to handle page fault for address: ffff888000000010",
			      .log_ns = 12345678000,
			      .time_ns = 2000000000,
			      .cpu = 1,
			      .pid = 77,
			      .comm = "a worker",
			      .address_known = true,
			      .address = 0xffff888000000010,
			      .fatal = true,
			      .frame_count = 1,
			      .code = "90 <8b> 40 08"};
	struct observation o;

	sample_observation(&o, 0);
	snprintf(c.where.function, sizeof(c.where.function), "%s", o.sides[0].symbol.name);
	snprintf(c.where.module, sizeof(c.where.module), "%s", o.sides[0].symbol.module);
	c.where.offset = o.sides[0].pc - o.sides[0].symbol.addr;
	snprintf(c.where.text, sizeof(c.where.text), "%s+0x%lx/0x100 [%s]", c.where.function, (unsigned long)c.where.offset,
		 c.where.module);
	c.frames[0] = c.where;
	report_reads_log(r);
	report_complaint(r, &c, err);
}

/* With --write FILE: a complete document with one race of each kind, for the schema's test. */
static int write_sample(const char *file)
{
	const struct detect_stats stats = {.hits = 5, .windows = 3, .sampling_ns = 2000000000};
	struct fixture f = {.config = {.json = file, .print = print, .print_ctx = &f, .run = sample_run()}};
	const struct report_kernel kernel = sample_kernel();
	const struct report_module module = sample_module();
	struct err err = {0};
	struct observation o;
	struct report *r = report_new(&f.config, &err);

	if (!r || report_set_kernel(r, &kernel, &err) < 0 || report_set_modules(r, &module, 1, &err) < 0)
		return 1;
	sample_observation(&o, 0);
	o.memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .cpu = 1, .cache = "dentry", .object = 0xffff888012345640};
	snprintf(o.memory.symbol.name, sizeof(o.memory.symbol.name), "x");
	report_observe(r, &o, &err);
	report_observe(r, &o, &err);
	o.how = RACE_BY_REREAD;
	o.data_len = 24;
	o.sides[1].kind = RACE_SIDE_UNSEEN;
	report_observe(r, &o, &err);
	sample_observation(&o, 0);
	sample_device(&o);
	report_observe(r, &o, &err);
	sample_observation(&o, 0);
	o.how = RACE_BY_POINT;
	o.data_len = 0;
	o.sides[1].pc = 0;
	o.sides[1].rw = 0;
	o.sides[1].symbol = (struct guest_symbol){0};
	o.sides[1].calls.frames[0].symbol = (struct guest_symbol){0};
	o.sides[1].calls.origin = GUEST_ORIGIN_UNKNOWN;
	o.sides[1].calls.why = UNWIND_STUCK;
	o.sides[1].context = (struct guest_context){.pid = -1};
	report_observe(r, &o, &err);
	write_locks(r, &err);
	write_complaint(r, &err);
	report_finish(r, &stats, "guest powered off", &err);
	report_free(r);
	return err.code ? (int)err.code : rewrite_named(file, &err);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(valid_after_each_race),
		TEST(complete_at_the_end),
		TEST(hostile_names_stay_json),
		TEST(stacks_in_full),
		TEST(kill_9_loses_nothing_printed),
		TEST(full_disk),
		TEST(file_that_may_not_grow),
		TEST(refuses_a_device),
		TEST(refuses_a_folder),
		TEST(left_over_next_is_replaced),
		TEST(foreign_next_is_refused),
		TEST(refuses_a_file_in_no_folder),
		TEST(old_file_is_replaced_links_are_followed),
	};

	if (argc == 3 && strcmp(argv[1], "--write") == 0)
		return write_sample(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
