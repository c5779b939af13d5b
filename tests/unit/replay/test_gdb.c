// SPDX-License-Identifier: GPL-2.0-or-later
/* Debian's gdb debugs both orders of a race between two traced processes (traced_copy.h). */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/replay/gdb/gdb.h"
#include "tests/unit/replay/traced_copy.h"

#define COMMANDS_MAX 40
/* A command may name a file by its path. */
#define COMMAND_MAX (PATH_MAX + 64)

struct session {
	struct traced traced;
	char folder[64];
	char commands[COMMANDS_MAX][COMMAND_MAX];
	unsigned count;
	/* The output of gdb. */
	char *said;
};

static void command(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void command(struct session *s, const char *fmt, ...)
{
	va_list ap;

	assert_true(s->count < COMMANDS_MAX);
	va_start(ap, fmt);
	assert_true(vsnprintf(s->commands[s->count++], COMMAND_MAX, fmt, ap) < COMMAND_MAX);
	va_end(ap);
}

static struct session *begin(unsigned first)
{
	struct session *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	strcpy(s->folder, "/tmp/test_replay_gdb.XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	traced_start(&s->traced, first);
	command(s, "set pagination off");
	command(s, "set confirm off");
	command(s, "target remote %s/socket", s->folder);
	return s;
}

static void end(struct session *s)
{
	char path[96];

	traced_end(&s->traced);
	snprintf(path, sizeof(path), "%s/socket", s->folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/said", s->folder);
	unlink(path);
	rmdir(s->folder);
	free(s->said);
	free(s);
}

static _Noreturn void run_gdb(const struct session *s, const char *out)
{
	const char *argv[8 + 2 * COMMANDS_MAX] = {"gdb", "-nx", "-batch"};
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), n = 3;

	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	for (unsigned i = 0; i < s->count; i++) {
		argv[n++] = "-ex";
		argv[n++] = s->commands[i];
	}
	/* The test expects gdb's English messages, and gdb must not wait for a debuginfod server. */
	setenv("LC_ALL", "C", 1);
	unsetenv("DEBUGINFOD_URLS");
	execvp("gdb", (char *const *)argv);
	_exit(127);
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

/* Let gdb run its commands on the machine. */
static void debug(struct session *s)
{
	char address[96], out[96];
	struct gdb_machine machine = race_machine(&s->traced.race);
	struct gdb_config config;
	struct err err = {0};
	int status;
	pid_t gdb;

	snprintf(address, sizeof(address), "%s/socket", s->folder);
	snprintf(out, sizeof(out), "%s/said", s->folder);
	config.listener = gdb_listen_unix(address, &err);
	assert_true(config.listener >= 0);
	gdb = fork();
	assert_true(gdb >= 0);
	if (gdb == 0)
		run_gdb(s, out);
	/* A gdb that ends without a message to the server ends the server, too. */
	config.stop_fd = (int)syscall(SYS_pidfd_open, gdb, 0);
	assert_true(config.stop_fd >= 0);
	if (gdb_serve_client(&config, &machine, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(waitpid(gdb, &status, 0), gdb);
	close(config.listener);
	close(config.stop_fd);
	s->said = read_all(out);
	if (getenv("SAID"))
		fprintf(stderr, "%s\n", s->said);
}

/* Check that gdb's output has these pieces in this order. */
static void expect(const struct session *s, const char *const *pieces)
{
	const char *at = s->said;

	for (; *pieces; pieces++) {
		const char *found = strstr(at, *pieces);

		if (!found)
			fail_msg("gdb did not say \"%s\" after:\n%.*s\nbut:\n%s", *pieces, (int)(at - s->said), s->said, at);
		at = found + strlen(*pieces);
	}
}

#define EXPECT(s, ...) expect(s, (const char *const[]){__VA_ARGS__, NULL})

/* ---- tests ---- */

/* Print threads, registers and memory before both accesses and after them. The datum after them depends on the order. */
static void print_both(struct session *s)
{
	const struct traced_memory *m = s->traced.memory;

	command(s, "printf \"before: datum %%ld, seen %%ld\\n\", *(long *)%p, *(long *)%p", (void *)&m->datum,
		(void *)&m->seen);
	command(s, "monitor order");
	command(s, "info threads");
	command(s, "continue");
	command(s, "printf \"after: datum %%ld, seen %%ld\\n\", *(long *)%p, *(long *)%p", (void *)&m->datum, (void *)&m->seen);
	command(s, "monitor order");
	command(s, "monitor info");
	command(s, "monitor console");
	command(s, "monitor nonsense");
}

static void store_first_is_seen(void **state)
{
	struct session *s = begin(0);

	(void)state;
	print_both(s);
	debug(s);
	EXPECT(s, "before: datum 1, seen 0", "Order 1: the access of CPU 0 comes first", "is not made", "is not made",
	       "The next step is CPU 0's", "CPU 0, writer/1, side 1 of the race, its access comes first",
	       "CPU 1, reader/2, side 2 of the race, its access comes second", "Both regions are at their ends",
	       "has returned from its function", "after: datum 42, seen 42", "is made", "is made", "The order is over",
	       "a store and a load of the same datum", "nothing was said", "monitor order: which");
	end(s);
}

static void load_first_sees_the_old_value(void **state)
{
	struct session *s = begin(1);

	(void)state;
	print_both(s);
	debug(s);
	EXPECT(s, "before: datum 1, seen 0", "Order 2: the access of CPU 1 comes first", "The next step is CPU 1's",
	       "Both regions are at their ends", "after: datum 42, seen 1");
	end(s);
}

static void stepi_moves_one_cpu(void **state)
{
	struct session *s = begin(0);

	(void)state;
	command(s, "thread 2");
	command(s, "stepi");
	command(s, "printf \"moved %%ld\\n\", $rip - %ld", (long)traced_load);
	command(s, "printf \"loaded %%ld\\n\", $rax");
	command(s, "thread 1");
	command(s, "printf \"stayed %%ld\\n\", $rip - %ld", (long)traced_store);
	command(s, "stepi");
	command(s, "printf \"datum %%ld\\n\", *(long *)%p", (void *)&s->traced.memory->datum);
	debug(s);
	EXPECT(s, "moved 3", "loaded 1", "stayed 0", "datum 42");
	end(s);
}

/* A breakpoint stops the CPU that is not gdb's current thread, and a breakpoint stops a CPU after the order. */
static void breakpoints_stop_in_the_order_and_behind_it(void **state)
{
	struct session *s = begin(0);

	(void)state;
	command(s, "break *%p", (const void *)traced_load);
	command(s, "hbreak *%p", (const void *)traced_tick);
	command(s, "continue");
	command(s, "printf \"at load %%d, thread %%d\\n\", $rip == %ld, $_thread", (long)traced_load);
	command(s, "continue");
	command(s, "continue");
	command(s, "printf \"at tick %%d\\n\", $rip == %ld", (long)traced_tick);
	command(s, "continue");
	command(s, "continue");
	command(s, "printf \"at tick again %%d, gone round %%d\\n\", $rip == %ld, *(long *)%p + *(long *)%p > 0",
		(long)traced_tick, (void *)&s->traced.memory->ticks[0], (void *)&s->traced.memory->ticks[1]);
	debug(s);
	EXPECT(s, "Breakpoint 1,", "at load 1, thread 2", "Both regions are at their ends", "Breakpoint 2,", "at tick 1",
	       "Breakpoint 2,", "Breakpoint 2,", "at tick again 1, gone round 1");
	end(s);
}

static void watchpoints_stop_in_the_order_and_behind_it(void **state)
{
	struct session *s = begin(1);
	const struct traced_memory *m = s->traced.memory;

	(void)state;
	command(s, "watch *(long *)%p", (void *)&m->datum);
	command(s, "continue");
	command(s, "printf \"thread %%d\\n\", $_thread");
	command(s, "delete");
	command(s, "continue");
	command(s, "awatch *(long *)%p", (void *)&m->ticks[1]);
	command(s, "continue");
	command(s, "printf \"thread %%d\\n\", $_thread");
	debug(s);
	EXPECT(s, "Old value = 1", "New value = 42", "thread 1", "Both regions are at their ends",
	       "Hardware access (read/write)", "thread 2");
	end(s);
}

static void access_in_the_order_is_watched(void **state)
{
	struct session *s = begin(1);

	(void)state;
	command(s, "rwatch *(long *)%p", (void *)&s->traced.memory->datum);
	command(s, "continue");
	command(s, "printf \"thread %%d, behind %%ld\\n\", $_thread, $rip - %ld", (long)traced_load);
	debug(s);
	EXPECT(s, "Hardware read watchpoint 1", "Value = 1", "thread 2, behind 3");
	end(s);
}

static void more_than_the_debug_registers_hold_is_refused(void **state)
{
	struct session *s = begin(0);

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		command(s, "watch *(long *)%p", (void *)(s->traced.memory->stacks[0] + 8 * i));
	command(s, "continue");
	command(s, "delete 5");
	command(s, "continue");
	debug(s);
	EXPECT(s, "Could not insert hardware watchpoint 5", "Both regions are at their ends");
	end(s);
}

static void one_side_goes_on_alone(void **state)
{
	struct session *s = begin(0);

	(void)state;
	command(s, "set scheduler-locking on");
	command(s, "thread 2");
	command(s, "continue");
	command(s, "printf \"seen %%ld, datum %%ld\\n\", *(long *)%p, *(long *)%p", (void *)&s->traced.memory->seen,
		(void *)&s->traced.memory->datum);
	command(s, "set scheduler-locking off");
	command(s, "continue");
	command(s, "printf \"datum %%ld\\n\", *(long *)%p", (void *)&s->traced.memory->datum);
	debug(s);
	EXPECT(s, "The region of CPU 1 is at its end", "seen 1, datum 1", "Both regions are at their ends", "datum 42");
	end(s);
}

static void registers_and_memory_can_be_changed(void **state)
{
	struct session *s = begin(0);
	struct traced_memory *m = s->traced.memory;

	(void)state;
	command(s, "set var *(long *)%p = 7", (void *)&m->datum);
	command(s, "thread 2");
	command(s, "set var $rsi = %p", (void *)&m->ticks[0]);
	command(s, "set var $xmm3.v2_int64[1] = 5");
	command(s, "set var $st0 = 1.5");
	command(s, "printf \"xmm %%ld st %%g mxcsr %%x\\n\", $xmm3.v2_int64[1], (double)$st0, $mxcsr");
	command(s, "set var $cr3 = 1");
	command(s, "set scheduler-locking on");
	command(s, "stepi 2");
	command(s, "printf \"stored %%ld\\n\", *(long *)%p", (void *)&m->ticks[0]);
	command(s, "x/gx 16");
	debug(s);
	EXPECT(s, "xmm 5 st 1.5 mxcsr 1f", "Could not write register \"cr3\"", "stored 7",
	       "Cannot access memory at address 0x10");
	assert_int_equal(m->seen, 0);
	end(s);
}

static int take_slide(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = info->dlpi_addr;
	return 1; /* The first one is the program. */
}

static void names_are_those_of_a_file_that_is_shifted(void **state)
{
	struct session *s = begin(0);
	char program[PATH_MAX] = "";
	uint64_t slide = 0;
	ssize_t length;

	(void)state;
	dl_iterate_phdr(take_slide, &slide);
	length = readlink("/proc/self/exe", program, sizeof(program));
	assert_true(length > 0 && length < (ssize_t)sizeof(program));
	command(s, "symbol-file -o %#lx \"%s\"", (unsigned long)slide, program);
	command(s, "info symbol $rip");
	command(s, "break traced_tick");
	command(s, "continue");
	debug(s);
	EXPECT(s, "traced_store in section .text", "Breakpoint 1 at", "traced_tick ()");
	end(s);
}

static void end_of_the_machine_is_told_and_looked_at(void **state)
{
	struct session *s = begin(0);

	(void)state;
	command(s, "continue");
	command(s, "set var *(long *)%p = 1", (void *)&s->traced.memory->quit);
	command(s, "continue");
	command(s, "continue");
	command(s, "detach");
	debug(s);
	EXPECT(s, "Both regions are at their ends", "The machine has ended: a CPU has gone.", "SIGABRT",
	       "The machine has ended", "Inferior 1");
	end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_first_is_seen),
		cmocka_unit_test(load_first_sees_the_old_value),
		cmocka_unit_test(stepi_moves_one_cpu),
		cmocka_unit_test(breakpoints_stop_in_the_order_and_behind_it),
		cmocka_unit_test(watchpoints_stop_in_the_order_and_behind_it),
		cmocka_unit_test(access_in_the_order_is_watched),
		cmocka_unit_test(more_than_the_debug_registers_hold_is_refused),
		cmocka_unit_test(one_side_goes_on_alone),
		cmocka_unit_test(registers_and_memory_can_be_changed),
		cmocka_unit_test(names_are_those_of_a_file_that_is_shifted),
		cmocka_unit_test(end_of_the_machine_is_told_and_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
