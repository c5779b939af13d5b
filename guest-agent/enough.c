// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits until a program outside the guest writes "enough NAME" to the console. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"

#define NO_CHAR (-1)

/*
 * Read a single character, because bytes after the line must stay in the input for the next reader. Returns NO_CHAR if no
 * character came until `end`, in seconds of now()'s clock.
 */
static int next_char(double end)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	double left;

	while ((left = end - now()) > 0) {
		unsigned char c;
		ssize_t n;

		input.revents = 0;
		poll(&input, 1, (int)(left * 1000) + 1);
		if (!input.revents)
			continue;
		n = read(STDIN_FILENO, &c, 1);
		if (n == 1)
			return c;
		/* The input has ended. poll() ignores a negative descriptor and sleeps, so the loop still waits until `end`. */
		if (n == 0 || (errno != EINTR && errno != EAGAIN))
			input.fd = -1;
	}
	return NO_CHAR;
}

/* Read a line, and cut it off at size - 1 bytes. Returns false if no whole line came until `end`. */
static bool next_line(double end, char *line, size_t size)
{
	size_t len = 0;
	int c;

	while ((c = next_char(end)) != NO_CHAR && c != '\n')
		if (c != '\r' && len + 1 < size)
			line[len++] = (char)c;
	line[len] = '\0';
	return c == '\n';
}

bool wait_for_enough(const char *name, double limit)
{
	char wanted[64], line[64];
	double end = now() + limit;
	struct termios saved, silent;
	bool terminal = tcgetattr(STDIN_FILENO, &saved) == 0, told = false;

	snprintf(wanted, sizeof(wanted), "enough %s", name);
	if (terminal) {
		/* Turn the echo off: the terminal would print it in the middle of the lines that the guest prints. */
		silent = saved;
		silent.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSANOW, &silent);
	}
	while (!told && next_line(end, line, sizeof(line)))
		told = !strcmp(line, wanted);
	if (terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	if (!told)
		say("the console did not say \"%s\" within %g seconds", wanted, limit);
	return told;
}

bool let_pass(const char *name, const struct duration *d)
{
	bool told = d->limit <= 0 || wait_for_enough(name, d->limit);

	sleep_seconds(d->seconds);
	return told;
}
