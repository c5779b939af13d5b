// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/session/screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clean.h"

#define NOTE_WAIT_NS 200000000L

struct screen {
	pthread_mutex_t lock;
	bool same;     /* Standard output and standard error are one file, so a line begun on one is in the way of the other. */
	bool quiet;    /* Notes are not shown. */
	bool mid_line; /* The console has left an unfinished line on standard output. */
	int failure;   /* errno of the first write to standard output that failed, or 0. */
};

struct screen *screen_new(struct err *err)
{
	struct stat out, error;
	struct screen *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->same = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0 && out.st_dev == error.st_dev &&
		  out.st_ino == error.st_ino;
	return s;
}

void screen_free(struct screen *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static void put_out(struct screen *s, const char *bytes, size_t len)
{
	if (s->failure == 0)
		s->failure = write_all(STDOUT_FILENO, bytes, len);
}

static void finish_line(struct screen *s)
{
	if (s->mid_line)
		put_out(s, "\n", 1);
	s->mid_line = false;
}

void screen_report(struct screen *s, const char *text, size_t len)
{
	pthread_mutex_lock(&s->lock);
	finish_line(s);
	put_out(s, text, len);
	pthread_mutex_unlock(&s->lock);
}

/*
 * The thread that holds the lock may be waiting for a reader of standard output that never comes. A note must not wait with it,
 * since a note may be the answer to Ctrl-C. A torn line is the smaller harm.
 */
static bool lock_for_note(struct screen *s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += NOTE_WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_mutex_timedlock(&s->lock, &until) == 0;
}

void screen_set_quiet(struct screen *s)
{
	s->quiet = true;
}

void screen_note(struct screen *s, const char *line)
{
	if (!s->quiet)
		screen_error(s, line);
}

void screen_try_note(struct screen *s, const char *line)
{
	struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
	const struct timespec patience = {.tv_nsec = NOTE_WAIT_NS};

	/* A pipe that is ready takes 4 KiB, which is more than a note. */
	if (ppoll(&error, 1, &patience, NULL) > 0)
		screen_note(s, line);
}

void screen_error(struct screen *s, const char *line)
{
	char text[700];
	size_t len;
	bool locked;

	snprintf(text, sizeof(text) - 1, "outrider: %s", line);
	clean_line(text, sizeof(text) - 1);
	len = strlen(text);
	text[len++] = '\n';
	locked = lock_for_note(s);
	if (locked && s->same)
		finish_line(s);
	/* There is nowhere to say that standard error cannot be written. */
	(void)!write_all(STDERR_FILENO, text, len);
	if (locked)
		pthread_mutex_unlock(&s->lock);
}

void screen_console(struct screen *s, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	pthread_mutex_lock(&s->lock);
	put_out(s, bytes, len);
	s->mid_line = ((const char *)bytes)[len - 1] != '\n';
	pthread_mutex_unlock(&s->lock);
}

int screen_check(struct screen *s, struct err *err)
{
	int failure;

	pthread_mutex_lock(&s->lock);
	failure = s->failure;
	pthread_mutex_unlock(&s->lock);
	if (failure)
		return err_set(err, EXIT_INPUT, "cannot write to standard output: %s; what was found since is not shown",
			       strerror(failure));
	return 0;
}
