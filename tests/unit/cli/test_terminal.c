// SPDX-License-Identifier: GPL-2.0-or-later
/* The user's terminal is the guest's keyboard during a run and as it was afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include "hv/base/signals.h"
#include "hv/session/terminal.h"

/* Bits of a child's exit status: what did not hold in it. */
enum wrong { NOT_READABLE = 1, NOT_CHANGED = 2, ECHOES = 4, NO_CTRL_C = 8, NOT_RESTORED = 16, TOUCHED = 32 };

static int same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
	       memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

static int in_foreground(void)
{
	struct termios before, during, after;
	struct terminal t;
	int wrong = 0;

	tcgetattr(STDIN_FILENO, &before);
	if (!terminal_readable())
		wrong |= NOT_READABLE;
	terminal_guest_mode(&t);
	tcgetattr(STDIN_FILENO, &during);
	if (!t.changed || (during.c_lflag & ICANON))
		wrong |= NOT_CHANGED;
	if (during.c_lflag & ECHO)
		wrong |= ECHOES;
	if (!(during.c_lflag & ISIG) || during.c_cc[VINTR] != before.c_cc[VINTR] || during.c_cc[VSUSP] != _POSIX_VDISABLE)
		wrong |= NO_CTRL_C;
	terminal_restore(&t);
	terminal_restore(&t);
	tcgetattr(STDIN_FILENO, &after);
	return wrong | (same(&before, &after) ? 0 : NOT_RESTORED);
}

/* As `outrider run ... &` from a shell: the terminal is another job's. */
static int in_background(void)
{
	struct termios before, after;
	struct terminal t;
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		setpgid(0, 0);
		tcgetattr(STDIN_FILENO, &before);
		if (terminal_readable())
			_exit(NOT_READABLE);
		terminal_guest_mode(&t);
		tcgetattr(STDIN_FILENO, &after);
		_exit(t.changed || !same(&before, &after) ? TOUCHED : 0);
	}
	if (waitpid(child, &status, WUNTRACED) < 0 || !WIFEXITED(status))
		return TOUCHED;
	return WEXITSTATUS(status);
}

/* `body`'s result in a session of its own, whose terminal is standard input. */
static int on_a_terminal(int (*body)(void))
{
	int status, master;
	pid_t child = forkpty(&master, NULL, NULL, NULL);

	assert_true(child >= 0);
	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	close(master);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void keys_go_to_the_guest_but_ctrl_c(void **state)
{
	(void)state;
	assert_int_equal(on_a_terminal(in_foreground), 0);
}

static void background_job_leaves_it_alone(void **state)
{
	(void)state;
	assert_int_equal(on_a_terminal(in_background), 0);
}

static void no_terminal_at_all(void **state)
{
	struct terminal t;
	int saved = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);

	(void)state;
	dup2(null, STDIN_FILENO);
	close(null);
	terminal_guest_mode(&t);
	assert_false(t.changed);
	assert_true(terminal_readable());
	terminal_restore(&t);
	dup2(saved, STDIN_FILENO);
	close(saved);
}

/* ---- crashes ---- */

static void write_nowhere(void)
{
	*(volatile int *)(uintptr_t)getpagesize() = 1;
}

/* In assembly, since a compiler divides 7 by zero as it likes. */
static void divide(void)
{
	__asm__ volatile("xorl %%eax, %%eax\n\tcltd\n\tidivl %%eax" ::: "eax", "edx", "cc");
}

static void be_killed(void)
{
	kill(getpid(), SIGSEGV);
}

static void be_illegal(void)
{
	__asm__ volatile("ud2");
}

static void trap(void)
{
	__asm__ volatile("int3");
}

static void *call(void *arg)
{
	sigset_t set;

	signals_but_crashes(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	(*(void (*const *)(void))arg)();
	return NULL;
}

/* Runs in a session whose terminal is standard input, in the terminal's foreground. Dies of a signal. */
static void die_in_guest_mode(void (*crash)(void), bool on_thread)
{
	struct terminal t;
	pthread_t thread;

	terminal_guest_mode(&t);
	if (!t.changed)
		_exit(NOT_CHANGED);
	if (on_thread && pthread_create(&thread, NULL, call, &crash) == 0)
		pthread_join(thread, NULL);
	crash();
	_exit(TOUCHED);
}

/* The mode of the terminal is as it was before, and the process has died of `number`. */
static void assert_restored(void (*crash)(void), int number, bool on_thread)
{
	struct termios before, after;
	int master, slave, status;
	pid_t child;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	tcgetattr(slave, &before);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		for (size_t i = 0; i < CRASH_SIGNALS; i++)
			signal(crash_signals[i], SIG_DFL);
		login_tty(slave);
		die_in_guest_mode(crash, on_thread);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
	tcgetattr(slave, &after);
	assert_true(same(&before, &after));
	close(slave);
	close(master);
}

static void crash_brings_it_back(void **state)
{
	static const struct {
		void (*crash)(void);
		int number;
	} crashes[] = {
		{write_nowhere, SIGSEGV}, {be_killed, SIGSEGV}, {divide, SIGFPE},
		{abort, SIGABRT},	  {be_illegal, SIGILL}, {trap, SIGTRAP},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
		assert_restored(crashes[i].crash, crashes[i].number, false);
		assert_restored(crashes[i].crash, crashes[i].number, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_go_to_the_guest_but_ctrl_c),
		cmocka_unit_test(background_job_leaves_it_alone),
		cmocka_unit_test(no_terminal_at_all),
		cmocka_unit_test(crash_brings_it_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
