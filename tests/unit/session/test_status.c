// SPDX-License-Identifier: GPL-2.0-or-later
/* The status line: its text, and how the screen of a run draws and removes it. A pseudoterminal is the user's terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hv/sandbox/kinds.h"
#include "hv/session/screen.h"
#include "hv/session/session.h"
#include "hv/session/status_line.h"
#include "tests/unit/target/fake_target.h"

#define SECOND UINT64_C(1000000000)
#define ROWS 24
#define COLUMNS 80

/* ---- the text ---- */

static struct status_now at(uint64_t seconds, uint64_t hits, uint64_t lost_ns)
{
	return (struct status_now){.elapsed_ns = seconds * SECOND,
				   .stats = {.sampling_ns = seconds * SECOND,
					     .hits = hits,
					     .windows = hits / 2,
					     .cpus = 2,
					     .target = {.lost_ns = lost_ns}}};
}

static void line_is(struct status_line *p, const struct status_now *now, const char *expected)
{
	char line[STATUS_LINE_MAX];

	status_line_make(p, now, now->elapsed_ns + 1, line);
	assert_string_equal(line, expected);
}

static void text_says_what_is_and_what_was_asked(void **state)
{
	struct status_now now = at(10, 1000, SECOND);
	struct status_line p = {0};

	(void)state;
	line_is(&p, &now, "0:10  100.0 hits/s  500 windows  0 races  cost 5.0 %");
	now = at(3605, 1000, 0);
	now.duration_ns = 7200 * SECOND;
	now.races = 1;
	now.stats.asked_percent = 5;
	line_is(&p, &now, "1:00:05 of 2:00:00  0.0 hits/s  500 windows  1 race  cost 0.0 %, 5 % asked for");
	/* The machine stops after its time is over. */
	now = at(62, 1002, 0);
	now.duration_ns = 60 * SECOND;
	p = (struct status_line){0};
	line_is(&p, &now, "1:00 of 1:00  16.2 hits/s  501 windows  0 races  cost 0.0 %");
}

/* --overhead of attach is the share of the time in which the guest stands still. */
static void cost_is_what_overhead_bounds(void **state)
{
	struct status_now now = at(10, 10, 9 * SECOND);
	struct status_line p = {0};

	(void)state;
	now.stats.target.still_ns = SECOND / 2;
	now.stats.asked_percent = 5;
	line_is(&p, &now, "0:10  1.0 hits/s  5 windows  0 races  cost 5.0 %, 5 % asked for");
}

static void text_says_what_the_run_waits_for(void **state)
{
	struct status_now now = {.waits = "waiting for the kernel", .elapsed_ns = 61 * SECOND, .duration_ns = 9 * SECOND};
	struct status_line p = {0};

	(void)state;
	line_is(&p, &now, "1:01  waiting for the kernel");
}

static void rate_is_that_of_the_last_five_lines(void **state)
{
	struct status_line p = {0};
	struct status_now now;
	char line[STATUS_LINE_MAX];

	(void)state;
	for (uint64_t s = 1; s <= 20; s++) {
		now = at(s, s <= 10 ? s * 100 : 1000, 0);
		status_line_make(&p, &now, s * SECOND, line);
	}
	assert_non_null(strstr(line, "  0.0 hits/s"));
	now = at(21, 1050, 0);
	status_line_make(&p, &now, 21 * SECOND, line);
	assert_non_null(strstr(line, "  10.0 hits/s"));
	assert_false(status_line_is_due(&p, 22 * SECOND - 1));
	assert_true(status_line_is_due(&p, 22 * SECOND));
}

/* Nothing was sampled, and the target reports no lost time. */
static void nothing_is_divided_by_nothing(void **state)
{
	struct status_now now = {.races = 0};
	struct status_line p = {0};

	(void)state;
	line_is(&p, &now, "0:00  0.0 hits/s  0 windows  0 races  cost 0.0 %");
}

/* ---- a terminal ---- */

struct terminal_shown {
	int master;
	pid_t child;
	char bytes[1 << 16]; /* All bytes so far, with a NUL. */
	size_t len;
	char row[ROWS][COLUMNS + 1];
	unsigned y, x;
};

/* Show a byte as a terminal does that knows \r, \n, ESC [ K and colours. Returns the number of bytes used. */
static size_t show(struct terminal_shown *t, const char *bytes)
{
	size_t len = 1;

	if (bytes[0] == '\r') {
		t->x = 0;
	} else if (bytes[0] == '\n') {
		assert_true(++t->y < ROWS);
	} else if (bytes[0] == '\033') {
		assert_int_equal(bytes[1], '[');
		len = 2 + strspn(bytes + 2, "0123456789;") + 1;
		if (bytes[len - 1] == 'K')
			memset(t->row[t->y] + t->x, 0, COLUMNS - t->x);
		else
			assert_int_equal(bytes[len - 1], 'm');
	} else {
		if (t->x == COLUMNS) { /* A terminal begins another row. */
			assert_true(++t->y < ROWS);
			t->x = 0;
		}
		t->row[t->y][t->x++] = bytes[0];
	}
	return len;
}

/* Run `body` in a child that has the terminal, with this TERM and NO_COLOR. NULL: not set. */
static struct terminal_shown *start(void (*body)(void), const char *term, const char *no_colour)
{
	struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
	struct terminal_shown *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->child = forkpty(&t->master, NULL, NULL, &size);
	assert_true(t->child >= 0);
	if (t->child == 0) {
		unsetenv("TERM");
		unsetenv("NO_COLOR");
		if (term)
			setenv("TERM", term, 1);
		if (no_colour)
			setenv("NO_COLOR", no_colour, 1);
		body();
		_exit(0);
	}
	return t;
}

/* Read until `text` has come; NULL: until the terminal is closed. */
static void read_until(struct terminal_shown *t, const char *text)
{
	ssize_t n = 1;

	while (n > 0 && !(text && strstr(t->bytes, text))) {
		n = read(t->master, t->bytes + t->len, sizeof(t->bytes) - t->len - 1);
		t->len += n > 0 ? (size_t)n : 0;
		assert_true(t->len < sizeof(t->bytes) - 1);
	}
	assert_true(!text || strstr(t->bytes, text));
}

/* Read to the end, and show everything. The child must exit with this status. */
static void finish(struct terminal_shown *t, int expected)
{
	int status;

	read_until(t, NULL);
	assert_int_equal(waitpid(t->child, &status, 0), t->child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
	for (size_t i = 0; i < t->len;)
		i += show(t, t->bytes + i);
	close(t->master);
}

static void everything(void)
{
	struct screen *s = screen_new(NULL);

	screen_status(s, "first status");
	screen_status(s, "2nd");
	screen_message(s, "a message");
	screen_status(s, "third");
	screen_report(s, "a race\n", 7);
	screen_status(s, "fourth");
	screen_console(s, "console\n", 8);
	screen_status(s, "fifth");
	screen_error(s, "an error");
	screen_status(s, "sixth");
	screen_end_status(s);
	screen_status(s, "never seen");
	screen_free(s);
}

static void rows_of_everything(const struct terminal_shown *t)
{
	assert_string_equal(t->row[0], "outrider: a message");
	assert_string_equal(t->row[1], "a race");
	assert_string_equal(t->row[2], "console");
	assert_string_equal(t->row[3], "outrider: an error");
	assert_string_equal(t->row[4], "");
	assert_int_equal(t->y, 4);
}

static void terminal_shows_it_until_something_else_comes(void **state)
{
	static const char *const drawn[] = {"first status", "2nd", "third", "fourth", "fifth", "sixth"};
	struct terminal_shown *t = start(everything, "xterm", NULL);

	(void)state;
	finish(t, 0);
	rows_of_everything(t);
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
		assert_non_null(strstr(t->bytes, drawn[i]));
	assert_null(strstr(t->bytes, "never"));
	/* Each line is drawn in place of the one before. */
	assert_non_null(
		strstr(t->bytes, "\r\033[K\033[2mfirst status\033[0m\r\033[K\033[2m2nd\033[0m\r\033[Koutrider: a message"));
	free(t);
}

static void no_colour(void **state)
{
	struct terminal_shown *t = start(everything, "xterm", "1");

	(void)state;
	finish(t, 0);
	rows_of_everything(t);
	assert_non_null(strstr(t->bytes, "\r\033[Kfirst status\r\033[K2nd\r\033[K"));
	assert_null(strstr(t->bytes, "m2nd"));
	free(t);
}

static void nothing_drawn(void (*body)(void), const char *term)
{
	struct terminal_shown *t = start(body, term, NULL);

	finish(t, 0);
	assert_null(strchr(t->bytes, '\033'));
	assert_null(strstr(t->bytes, "status"));
	free(t);
}

/* Run `everything` with a pipe as this file. Exits with 1 if the pipe got a control sequence. */
static void with_pipe(int fd)
{
	char bytes[4096];
	int ends[2];
	ssize_t n;

	if (pipe(ends) < 0)
		_exit(2);
	dup2(ends[1], fd);
	close(ends[1]);
	everything();
	close(fd);
	n = read(ends[0], bytes, sizeof(bytes));
	_exit(n <= 0 || memchr(bytes, '\033', (size_t)n) ? 1 : 0);
}

static void errors_to_a_pipe(void)
{
	with_pipe(STDERR_FILENO);
}

/* The reader of standard output may write to the terminal. */
static void output_to_a_pipe(void)
{
	with_pipe(STDOUT_FILENO);
}

static void quietly(void)
{
	struct screen *s = screen_new(NULL);

	screen_set_quiet(s);
	screen_status(s, "status");
	screen_free(s);
}

/* Another job has the terminal. */
static void in_background(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		setpgid(0, 0);
		everything();
		_exit(0);
	}
	if (waitpid(child, &status, WUNTRACED) < 0 || !WIFEXITED(status))
		_exit(1);
}

static void nowhere_else(void **state)
{
	(void)state;
	nothing_drawn(everything, "dumb");
	nothing_drawn(everything, NULL);
	nothing_drawn(errors_to_a_pipe, "xterm");
	nothing_drawn(output_to_a_pipe, "xterm");
	nothing_drawn(quietly, "xterm");
	nothing_drawn(in_background, "xterm");
}

static void long_line(void)
{
	struct screen *s = screen_new(NULL);
	char line[2 * COLUMNS + 1];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	screen_status(s, line);
	/* As when a second signal ends the process. */
	screen_abandon_status(s);
}

static void line_is_cut_at_the_last_column_but_one(void **state)
{
	struct terminal_shown *t = start(long_line, "xterm", NULL);

	(void)state;
	finish(t, 0);
	assert_int_equal(t->y, 0);
	assert_string_equal(t->row[0], "");
	assert_int_equal(strspn(strchr(t->bytes, 'x'), "x"), COLUMNS - 1);
	free(t);
}

/* An unfinished line of the console, such as a prompt, must stay. */
static void prompt(void)
{
	struct screen *s = screen_new(NULL);

	screen_console(s, "login: ", 7);
	screen_status(s, "status");
	screen_free(s);
}

static void prompt_is_not_erased(void **state)
{
	struct terminal_shown *t = start(prompt, "xterm", NULL);

	(void)state;
	finish(t, 0);
	assert_string_equal(t->row[0], "login: ");
	free(t);
}

/* ---- a whole session ---- */

/* A machine without a kernel, which runs until it is stopped. */
struct machine {
	struct engine engine;
	struct fake_target *ft;
	atomic_bool stopped;
	/* Number of calls of look(). The stopper draws the status line before each of them. */
	atomic_uint looks;
};

static int open_machine(struct engine *e, struct screen *screen, struct err *err)
{
	struct machine *m = (struct machine *)e;

	(void)screen;
	m->ft = fake_target_new(2, 4);
	if (!m->ft)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	e->target = &m->ft->target;
	return 0;
}

static int run_machine(struct engine *e, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	(void)err;
	while (!((struct machine *)e)->stopped)
		nanosleep(&pause, NULL);
	return 0;
}

/* Stop the machine with its console on the screen when the stopper has looked twice. */
static const char *look(const struct engine *e)
{
	struct machine *m = (struct machine *)(uintptr_t)e;

	if (++m->looks == 2 && e->console_on_screen)
		m->stopped = true;
	return NULL;
}

static void stop_machine(struct engine *e)
{
	((struct machine *)e)->stopped = true;
}

static void over_or_closed(struct engine *e)
{
	(void)e;
}

static void finish_machine(struct engine *e, struct err *err)
{
	(void)e;
	(void)err;
}

static const char *end_of_machine(struct engine *e, enum stop_reason stopped, struct err *err)
{
	(void)e;
	(void)stopped;
	(void)err;
	return "ended";
}

static void run_session(bool console_on_screen, bool confined)
{
	static const struct engine_ops ops = {.open = open_machine,
					      .run = run_machine,
					      .stop = stop_machine,
					      .over = over_or_closed,
					      .finish = finish_machine,
					      .panic = look,
					      .end_word = end_of_machine,
					      .close = over_or_closed};
	const struct session_config config = {.detect = {.seed = 1, .rate = 100, .delay_ns = 1000000}, .no_sandbox = !confined};
	struct machine m = {.engine = {.ops = &ops,
				       .beginning = "booting",
				       .stopping = "stopping the guest",
				       .since = "the start",
				       .sandbox_kinds = confined ? 1u << SANDBOX_VCPU : 0,
				       .console_on_screen = console_on_screen}};
	struct err err = {0};

	_exit(session_run(&m.engine, &config, &err));
}

static void session(void)
{
	run_session(false, false);
}

static void confined_session(void)
{
	run_session(false, true);
}

static void session_with_console(void)
{
	run_session(true, false);
}

static void session_says_that_it_waits_for_the_kernel(void **state)
{
	struct terminal_shown *t = start(session, "xterm", NULL);

	(void)state;
	read_until(t, "0:00  waiting for the kernel");
	/* It is drawn again after a second. */
	read_until(t, "0:01  waiting for the kernel");
	kill(t->child, SIGTERM);
	finish(t, 0);
	assert_string_equal(t->row[0], "outrider: booting; seed 1");
	assert_string_equal(t->row[1], "outrider: SIGTERM: stopping the guest; a second signal ends outrider at once");
	for (unsigned y = 0; y < ROWS; y++)
		assert_null(strstr(t->row[y], "waiting"));
	free(t);
}

/* Drawing makes no system call that the stopper of a confined run must not make. */
static void confined_session_draws_it_too(void **state)
{
	struct terminal_shown *t = start(confined_session, "xterm", NULL);

	(void)state;
	read_until(t, "0:01  waiting for the kernel");
	kill(t->child, SIGTERM);
	finish(t, 0);
	assert_null(strstr(t->bytes, "sandbox stopped"));
	free(t);
}

/* The status line would split the guest's console. */
static void session_leaves_the_console_alone(void **state)
{
	struct terminal_shown *t = start(session_with_console, "xterm", NULL);

	(void)state;
	finish(t, 0);
	assert_null(strstr(t->bytes, "waiting"));
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_says_what_is_and_what_was_asked),
		cmocka_unit_test(cost_is_what_overhead_bounds),
		cmocka_unit_test(text_says_what_the_run_waits_for),
		cmocka_unit_test(rate_is_that_of_the_last_five_lines),
		cmocka_unit_test(nothing_is_divided_by_nothing),
		cmocka_unit_test(terminal_shows_it_until_something_else_comes),
		cmocka_unit_test(no_colour),
		cmocka_unit_test(nowhere_else),
		cmocka_unit_test(line_is_cut_at_the_last_column_but_one),
		cmocka_unit_test(prompt_is_not_erased),
		cmocka_unit_test(session_says_that_it_waits_for_the_kernel),
		cmocka_unit_test(confined_session_draws_it_too),
		cmocka_unit_test(session_leaves_the_console_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
