// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets the user's terminal to the mode in which each key goes to the guest, and restores it on every path to the process's end
 * (terminal.h).
 */
#include "hv/session/terminal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/base/signals.h"

/*
 * Data for the crash handlers, to which no argument can be passed: the mode to restore while `changed`, and the previous action
 * of each signal.
 */
static struct {
	atomic_bool changed, installed;
	struct termios mode;
	struct sigaction before[NSIG];
} crash;

/*
 * Restore the mode with async-signal-safe functions only, then restore the signal's previous action, which ends the process
 * unless a debugging tool has a handler. After a fault, the handler only returns: the thread executes the faulting instruction
 * again, and the CPU faults again. Any other signal is raised again here.
 */
static void on_crash(int number, siginfo_t *info, void *context)
{
	bool is_fault = info->si_code > 0 && number != SIGTRAP;

	(void)context;
	if (atomic_exchange(&crash.changed, false))
		tcsetattr(STDIN_FILENO, TCSANOW, &crash.mode);
	sigaction(number, &crash.before[number], NULL);
	if (!is_fault)
		raise(number);
}

/* Install the handlers. They run on the stack of the thread that crashed: a thread whose stack is used up dies without them. */
static void restore_at_crash(const struct termios *mode)
{
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};

	crash.mode = *mode;
	atomic_store(&crash.changed, true);
	if (atomic_exchange(&crash.installed, true))
		return;
	/* Block SIGTTOU in the handler: changing the terminal of another job would stop the process. */
	sigaddset(&action.sa_mask, SIGTTOU);
	for (size_t i = 0; i < CRASH_SIGNALS; i++)
		sigaction(crash_signals[i], &action, &crash.before[crash_signals[i]]);
}

bool terminal_readable(void)
{
	return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void terminal_guest_mode(struct terminal *t)
{
	struct termios mode;

	t->changed = false;
	/* Change the mode only in the foreground: from the background this would stop the process (SIGTTOU). */
	if (!isatty(STDIN_FILENO) || !terminal_readable() || tcgetattr(STDIN_FILENO, &t->saved) < 0)
		return;
	mode = t->saved;
	mode.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	mode.c_cc[VMIN] = 1;
	mode.c_cc[VTIME] = 0;
	mode.c_cc[VSUSP] = _POSIX_VDISABLE;
	mode.c_cc[VQUIT] = _POSIX_VDISABLE;
	restore_at_crash(&t->saved);
	t->changed = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
}

void terminal_restore(struct terminal *t)
{
	/* Use TCSANOW: TCSADRAIN would wait here if the terminal's output is stopped. */
	atomic_store(&crash.changed, false);
	if (t->changed)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->saved);
}

unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long said = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (said > 0 && said <= UINT16_MAX)
		return (unsigned)said;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 79;
}

/* Returns whether the file is a terminal that obeys control sequences. */
static bool obeys(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && term[0] && strcmp(term, "dumb") != 0;
}

bool terminal_wants_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR");

	return obeys(fd) && !(no_colour && no_colour[0]);
}

bool terminal_shows_status(void)
{
	struct stat out;

	return obeys(STDERR_FILENO) && fstat(STDOUT_FILENO, &out) == 0 && !S_ISFIFO(out.st_mode) && !S_ISSOCK(out.st_mode);
}

unsigned terminal_status_width(pid_t job)
{
	struct winsize size;

	if (tcgetpgrp(STDERR_FILENO) != job)
		return 0;
	/* A terminal of unknown width, such as a serial line, has the 80 columns of a VT100. */
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
