// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

#define PREFIX "outrider-agent: "
#define MAX_SECONDS 86400.0

static void say_line(const char *fmt, va_list ap, const char *reason)
{
	char line[1024] = PREFIX;
	size_t at = strlen(line);
	int len = vsnprintf(line + at, sizeof(line) - at - 1, fmt, ap);

	at = len < 0 ? at : at + (size_t)len;
	if (at > sizeof(line) - 2)
		at = sizeof(line) - 2;
	if (reason) {
		len = snprintf(line + at, sizeof(line) - at - 1, ": %s", reason);
		at = at + (size_t)len > sizeof(line) - 2 ? sizeof(line) - 2 : at + (size_t)len;
	}
	line[at++] = '\n';
	for (size_t done = 0; done < at;) {
		ssize_t n = write(STDOUT_FILENO, line + done, at - done);

		if (n < 0 && errno != EINTR)
			return;
		done += n > 0 ? (size_t)n : 0;
	}
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(fmt, ap, NULL);
	va_end(ap);
}

int say_failed(const char *fmt, ...)
{
	const char *reason = strerror(errno);
	va_list ap;

	va_start(ap, fmt);
	say_line(fmt, ap, reason);
	va_end(ap);
	return AGENT_FAIL;
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void sleep_seconds(double seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds};

	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && !*end && *seconds > 0 && *seconds <= MAX_SECONDS)
		return true;
	say("'%s' is not a number of seconds above 0", text);
	return false;
}

bool parse_duration(const char *text, struct duration *d)
{
	char seconds[32];
	size_t len = strcspn(text, ":");

	d->limit = 0;
	if (!text[len])
		return parse_seconds(text, &d->seconds);
	if (len >= sizeof(seconds))
		len = sizeof(seconds) - 1;
	memcpy(seconds, text, len);
	seconds[len] = '\0';
	return parse_seconds(seconds, &d->seconds) && parse_seconds(text + len + 1, &d->limit);
}

long read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	buf[len] = '\0';
	return n < 0 ? -1 : (long)len;
}

int wait_status(int pid)
{
	int status, got;

	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	if (got != pid)
		return AGENT_FAIL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static atomic_ulong *rounds;

void count_rounds_in(atomic_ulong *counter)
{
	rounds = counter;
}

void count_round(void)
{
	if (rounds)
		atomic_fetch_add(rounds, 1);
}
