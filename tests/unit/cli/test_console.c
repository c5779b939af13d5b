// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's console and the reports share the screen and never break each other's lines. The console detects a panic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/session/console.h"

#define PATIENCE_S 120 /* Limit of each wait. On an idle machine a wait takes less than 1 ms. */

struct fixture {
	struct screen *screen;
	int saved_stdout, read_end;
};

/* A byte in this pipe stands for a silence of the guest after which the console forwards an unfinished line. */
static int silence[2];

/* Not inlined: <poll.h> declares that poll() only writes to *fds, so gcc would warn because this function reads it. */
static __attribute__((noinline)) int wait_for_input_or_silence(struct pollfd *input, bool limited)
{
	struct pollfd both[] = {*input, {.fd = silence[0], .events = POLLIN}};
	int ready = ppoll(both, limited ? 2 : 1, NULL, NULL);
	char byte;

	input->revents = both[0].revents;
	if (ready < 0 || both[0].revents)
		return ready < 0 ? ready : 1;
	if (read(silence[0], &byte, 1) != 1)
		abort();
	return 0;
}

/*
 * The console's thread calls this poll() in place of the C library's. Its time limit expires when a test calls
 * guest_is_silent(), never by the clock, so the speed of the machine does not matter.
 */
int poll(struct pollfd *fds, nfds_t count, int limit_ms)
{
	if (count != 1)
		abort();
	return wait_for_input_or_silence(fds, limit_ms >= 0);
}

/* Replace standard output by a pipe that the test reads. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fds[2];

	if (!f || pipe(fds) < 0 || pipe(silence) < 0)
		return -1;
	f->saved_stdout = dup(STDOUT_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	f->read_end = fds[0];
	f->screen = screen_new(NULL);
	*state = f;
	return f->screen ? 0 : -1;
}

static void restore_stdout(struct fixture *f)
{
	if (f->saved_stdout >= 0) {
		dup2(f->saved_stdout, STDOUT_FILENO);
		close(f->saved_stdout);
	}
	f->saved_stdout = -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	restore_stdout(f);
	close(f->read_end);
	close(silence[0]);
	close(silence[1]);
	screen_free(f->screen);
	free(f);
	return 0;
}

static void guest_says(const struct console *c, const char *text)
{
	assert_int_equal(write(console_fd(c), text, strlen(text)), strlen(text));
}

/* Let the guest be silent for as long as the console keeps back an unfinished line. */
static void guest_is_silent(void)
{
	assert_int_equal(write(silence[1], "", 1), 1);
}

/* Check that standard output got `expected`, and give standard output back. */
static void shown(struct fixture *f, const char *expected)
{
	char text[1024];
	size_t len = 0;
	ssize_t n;

	restore_stdout(f);
	while ((n = read(f->read_end, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	assert_string_equal(text, expected);
}

static int bytes_shown(const struct fixture *f)
{
	int bytes = 0;

	assert_int_equal(ioctl(f->read_end, FIONREAD, &bytes), 0);
	return bytes;
}

static void wait_until_shown(const struct fixture *f, int bytes)
{
	alarm(PATIENCE_S);
	while (bytes_shown(f) < bytes)
		usleep(1000);
	alarm(0);
}

static void report_waits_for_no_half_line(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	struct console *c = console_open(NULL, UINT64_MAX, false, f->screen, &err);

	assert_non_null(c);
	guest_says(c, "whole line\nhalf");
	wait_until_shown(f, (int)strlen("whole line\n"));
	screen_report(f->screen, "RACE\n", 5);
	guest_says(c, " and half\n");
	assert_int_equal(console_finish(c, &err), 0);
	console_free(c);
	shown(f, "whole line\nRACE\nhalf and half\n");
}

static void report_after_a_prompt_has_its_own_line(void **state)
{
	struct fixture *f = *state;
	struct console *c = console_open(NULL, UINT64_MAX, false, f->screen, NULL);

	assert_non_null(c);
	guest_says(c, "login: ");
	guest_is_silent();
	wait_until_shown(f, (int)strlen("login: "));
	screen_report(f->screen, "RACE\n", 5);
	guest_says(c, "root\n");
	console_free(c);
	shown(f, "login: \nRACE\nroot\n");
}

static void panic_of(void **state, const char *console, const char *expected)
{
	struct fixture *f = *state;
	struct console *c = console_open("/dev/null", UINT64_MAX, false, f->screen, NULL);

	assert_non_null(c);
	guest_says(c, console);
	assert_int_equal(console_finish(c, NULL), 0);
	if (expected)
		assert_string_equal(console_panic(c), expected);
	else
		assert_null(console_panic(c));
	console_free(c);
}

static void panics_are_recognised(void **state)
{
	panic_of(state, "[    7.379289] Kernel panic - not syncing: VFS: no root\r\n[    7.4] CPU: 0\r\n", "VFS: no root");
	panic_of(state, "Kernel panic - not syncing: \x1b[31mred\nKernel panic - not syncing: second\n", "\\x1b[31mred");
	panic_of(state, "user says: Kernel panic - not syncing: never\n", NULL);
	panic_of(state, "[ 1.0] ---[ end Kernel panic - not syncing: x ]---\n", NULL);
	panic_of(state, "[no end of the time stamp Kernel panic - not syncing: x\n", NULL);
}

static void long_lines_do_not_stop_it(void **state)
{
	struct fixture *f = *state;
	struct console *c = console_open("/dev/null", UINT64_MAX, false, f->screen, NULL);
	char blob[20000];

	assert_non_null(c);
	memset(blob, 'x', sizeof(blob));
	assert_int_equal(write(console_fd(c), blob, sizeof(blob)), sizeof(blob));
	guest_says(c, "\nKernel panic - not syncing: after all\n");
	assert_int_equal(console_finish(c, NULL), 0);
	assert_string_equal(console_panic(c), "after all");
	console_free(c);
}

static void full_file_is_said_once_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	struct console *c = console_open("/dev/full", UINT64_MAX, false, f->screen, &err);

	assert_non_null(c);
	for (int i = 0; i < 100; i++)
		guest_says(c, "line\n");
	assert_int_equal(console_finish(c, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "/dev/full: No space left on device"));
	console_free(c);
}

/* The size in bytes of the file at `path`, which must end with `last`. */
static size_t ends_with(const char *path, const char *last)
{
	char text[4096];
	FILE *file = fopen(path, "r");
	size_t len;

	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	assert_true(len >= strlen(last));
	assert_string_equal(text + len - strlen(last), last);
	return len;
}

/* The guest writes a hundred times the limit of the file. The console also detects a panic after the limit. */
static void endless_console_is_cut(void **state)
{
	static const char cut[] = "\n[outrider: --console-limit is reached; the rest of the console is not written]\n";
	char path[] = "/tmp/outrider-test.XXXXXX";
	struct fixture *f = *state;
	struct console *c;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	c = console_open(path, 1000, false, f->screen, NULL);
	assert_non_null(c);
	for (int i = 0; i < 10000; i++)
		guest_says(c, "ten bytes\n");
	guest_says(c, "Kernel panic - not syncing: late\n");
	assert_int_equal(console_finish(c, NULL), 0);
	assert_int_equal(ends_with(path, cut), 1000 + strlen(cut));
	assert_string_equal(console_panic(c), "late");
	console_free(c);

	c = console_open(path, 1000, false, f->screen, NULL);
	assert_non_null(c);
	for (int i = 0; i < 100; i++)
		guest_says(c, "ten bytes\n");
	assert_int_equal(console_finish(c, NULL), 0);
	assert_int_equal(ends_with(path, "ten bytes\n"), 1000); /* exactly the limit */
	console_free(c);
	unlink(path);
}

static void file_that_cannot_be_made(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	assert_null(console_open("/nonexistent/console", UINT64_MAX, false, f->screen, &err));
	assert_int_equal(err.code, EXIT_INPUT);
}

static void fifo_without_a_reader_is_refused(void **state)
{
	char dir[] = "/tmp/outrider-test.XXXXXX", path[64];
	struct fixture *f = *state;
	struct err err = {0};

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(PATIENCE_S);
	assert_null(console_open(path, UINT64_MAX, false, f->screen, &err));
	alarm(0);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "nobody reads it"));
	unlink(path);
	rmdir(dir);
}

#define PIPE_AND_MORE (1 << 20)

static void *fill_standard_output(void *arg)
{
	static char blob[PIPE_AND_MORE];

	screen_console(arg, blob, sizeof(blob));
	return NULL;
}

/* If a message waited for the reader of standard output, Ctrl-C would not work while a pager waits for its user. */
static void note_does_not_wait_for_a_reader(void **state)
{
	struct fixture *f = *state;
	int null = open("/dev/null", O_WRONLY), saved = dup(STDERR_FILENO);
	char drain[4096];
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fill_standard_output, f->screen), 0);
	wait_until_shown(f, fcntl(f->read_end, F_GETPIPE_SZ));
	dup2(null, STDERR_FILENO);
	alarm(PATIENCE_S);
	screen_message(f->screen, "SIGINT: stopping the guest");
	alarm(0);
	dup2(saved, STDERR_FILENO);
	for (size_t got = 0; got < PIPE_AND_MORE;)
		got += (size_t)read(f->read_end, drain, sizeof(drain));
	pthread_join(thread, NULL);
	close(null);
	close(saved);
}

/* With `2>&1 | less`, standard error goes to the pager too, so the stopper's message must not wait for it either. */
static void note_of_the_stopper_waits_for_nobody(void **state)
{
	struct fixture *f = *state;
	int saved = dup(STDERR_FILENO), fds[2];
	char byte = 0;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	while (write(fds[1], &byte, 1) == 1)
		;
	assert_int_equal(errno, EAGAIN);
	fcntl(fds[1], F_SETFL, 0);
	dup2(fds[1], STDERR_FILENO);
	alarm(PATIENCE_S);
	screen_try_message(f->screen, "SIGINT: stopping the guest");
	alarm(0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[0]);
	close(fds[1]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The console remembers a carriage return at the end of a read. */
static void clean_console(void **state)
{
	struct fixture *f = *state;
	struct console *c = console_open(NULL, UINT64_MAX, true, f->screen, NULL);

	assert_non_null(c);
	guest_says(c, "[    1.0] boot\r\n\tC:\\x \x1b[2J\x1b]0;t\a\xc3\xa9 over\rwritten\r\n");
	guest_says(c, "half\r");
	guest_is_silent();
	guest_says(c, "\nlast\r");
	assert_int_equal(console_finish(c, NULL), 0);
	console_free(c);
	shown(f, "[    1.0] boot\n\tC:\\x \\x1b[2J\\x1b]0;t\\x07\\xc3\\xa9 over\\x0dwritten\nhalf\nlast");
}

/* A status line beside a console on the same terminal would split the console's lines. */
static void shown_on_a_terminal_or_not(void **state)
{
	struct fixture *f = *state;
	char file[] = "/tmp/outrider-console-XXXXXX", terminal[128];
	int fd = mkstemp(file), master, slave;
	const struct {
		const char *file;
		bool shown;
	} cases[] = {{NULL, true}, {file, false}, {terminal, true}};

	assert_true(fd >= 0);
	assert_int_equal(openpty(&master, &slave, terminal, NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct console *c = console_open(cases[i].file, UINT64_MAX, false, f->screen, NULL);

		assert_non_null(c);
		assert_int_equal(console_is_shown(c), cases[i].shown);
		console_free(c);
	}
	close(fd);
	close(slave);
	close(master);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(report_waits_for_no_half_line),
		TEST(report_after_a_prompt_has_its_own_line),
		TEST(panics_are_recognised),
		TEST(long_lines_do_not_stop_it),
		TEST(full_file_is_said_once_at_the_end),
		TEST(endless_console_is_cut),
		TEST(clean_console),
		TEST(file_that_cannot_be_made),
		TEST(fifo_without_a_reader_is_refused),
		TEST(note_does_not_wait_for_a_reader),
		TEST(note_of_the_stopper_waits_for_nobody),
		TEST(shown_on_a_terminal_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
