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
/* Time for readers after the run was asked to end: 1 s. The report is due within another two seconds. */
#define READER_NS UINT64_C(1000000000)

struct screen {
	pthread_mutex_t lock;
	bool same;     /* Standard output and standard error are the same file, so an unfinished line on one disturbs the
			* other. */
	bool quiet;    /* Show no messages. */
	bool mid_line; /* The last line of the console on standard output is unfinished. */
	int failure;   /* errno of the first write to standard output that failed, or 0. */
	struct patience patience;
	char *kept; /* `kept_len` bytes: the output that was unread when patience ended, and all later output */
	size_t kept_len;
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
	free(s->kept);
	free(s);
}

/* Keep output that was not read in time, for screen_check(). */
static void keep(struct screen *s, const char *bytes, size_t len)
{
	char *kept = realloc(s->kept, s->kept_len + len);

	if (!kept) {
		s->failure = ENOMEM;
		return;
	}
	memcpy(kept + s->kept_len, bytes, len);
	s->kept = kept;
	s->kept_len += len;
}

static void put_out(struct screen *s, const char *bytes, size_t len)
{
	size_t done = 0;

	if (s->failure)
		return;
	if (!s->kept_len)
		done = patience_write(&s->patience, STDOUT_FILENO, bytes, len, &s->failure);
	if (!s->failure && done < len)
		keep(s, bytes + done, len - done);
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
 * Lock with a timeout. The lock's holder may be waiting for a reader of standard output that never comes. A message must not
 * wait for that reader: it may be the reply to Ctrl-C. A split line does less harm.
 */
static bool lock_for_message(struct screen *s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += NOTE_WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_mutex_timedlock(&s->lock, &until) == 0;
}

const struct patience *screen_patience(const struct screen *s)
{
	return &s->patience;
}

void screen_hurry(struct screen *s)
{
	patience_ends_in(&s->patience, READER_NS);
}

void screen_set_quiet(struct screen *s)
{
	s->quiet = true;
}

void screen_message(struct screen *s, const char *line)
{
	if (!s->quiet)
		screen_error(s, line);
}

void screen_try_message(struct screen *s, const char *line)
{
	struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
	const struct timespec patience = {.tv_nsec = NOTE_WAIT_NS};

	/* Write only if standard error is ready: a ready pipe takes 4 KiB, which is more than a message. */
	if (ppoll(&error, 1, &patience, NULL) > 0)
		screen_message(s, line);
}

void screen_error(struct screen *s, const char *line)
{
	char text[700];
	size_t len;
	bool locked;
	int failure = 0;

	snprintf(text, sizeof(text) - 1, "outrider: %s", line);
	clean_line(text, sizeof(text) - 1);
	len = strlen(text);
	text[len++] = '\n';
	locked = lock_for_message(s);
	if (locked && s->same)
		finish_line(s);
	/* Ignore a failure: there is nowhere else to report it. */
	patience_write(&s->patience, STDERR_FILENO, text, len, &failure);
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
	if (!s->failure)
		patience_write(NULL, STDOUT_FILENO, s->kept, s->kept_len, &s->failure);
	s->kept_len = 0;
	failure = s->failure;
	pthread_mutex_unlock(&s->lock);
	if (failure)
		return err_set(err, EXIT_INPUT, "cannot write to standard output: %s; what was found since is not shown",
			       strerror(failure));
	return 0;
}
