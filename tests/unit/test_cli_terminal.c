// SPDX-License-Identifier: GPL-2.0-or-later
/* The user's terminal is the guest's keyboard during a run and as it was afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_go_to_the_guest_but_ctrl_c),
		cmocka_unit_test(background_job_leaves_it_alone),
		cmocka_unit_test(no_terminal_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
