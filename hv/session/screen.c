// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the guest's console, reports, messages and the status line to standard output and standard error (screen.h). */
#include "hv/session/screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/session/terminal.h"

#define NOTE_WAIT_NS 200000000L
/* Set the cursor to the beginning of the line, and erase the line. */
#define ERASE "\r\033[K"
/* Faint, so that the status line is not taken for a message. */
#define FAINT "\033[2m"
#define PLAIN "\033[0m"
/* Bytes of a status line. A terminal that is ready takes at least 256 bytes (WAKEUP_CHARS in Linux' drivers/tty/n_tty.c). */
#define STATUS_MAX 200
/*
 * Time for which output waits for its readers after the run was asked to end: 1 s, a third of the 3 s within which a stopped
 * run has its report.
 */
#define READER_NS UINT64_C(1000000000)

struct screen {
	pthread_mutex_t lock;
	/* Standard output and standard error are the same file, so an unfinished line of the console disturbs messages. */
	bool same;
	bool quiet; /* Show no messages. */
	/* The last line of the console on standard output is unfinished. */
	bool mid_line;
	atomic_bool status; /* Status lines may be drawn. */
	bool colour;	    /* Draw status lines in colour. */
	/* Standard output is a terminal: remove the status line before writing to standard output. */
	bool beside;
	/*
	 * Process group of this process. It is kept here, because the stopper's thread draws the status line, and the seccomp
	 * filter of that thread does not allow getpgrp().
	 */
	pid_t job;
	/* A status line is on the terminal. Read without the lock by screen_abandon_status() only. */
	atomic_bool status_shown;
	/* errno of the first write to standard output that failed, or 0. */
	int failure;
	struct patience patience;
	/*
	 * `kept_len` bytes of output, which screen_check() will write. When patience ends, the screen stops waiting for the
	 * reader of standard output. The first output that it then cannot write is kept here, and all later output after it.
	 */
	char *kept;
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
	atomic_init(&s->status, terminal_shows_status());
	s->colour = terminal_wants_colour(STDERR_FILENO);
	s->beside = isatty(STDOUT_FILENO);
	s->job = getpgrp();
	return s;
}

void screen_free(struct screen *s)
{
	if (!s)
		return;
	screen_end_status(s);
	pthread_mutex_destroy(&s->lock);
	free(s->kept);
	free(s);
}

/* Add output to s->kept, because the reader of standard output did not take it, or earlier output, before patience ended. */
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

/* Remove the status line. Waits for the terminal as writing a message does. Called with the lock held. */
static void erase_status(struct screen *s)
{
	int failure = 0;

	if (atomic_exchange(&s->status_shown, false))
		patience_write(&s->patience, STDERR_FILENO, ERASE, sizeof(ERASE) - 1, &failure);
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
	if (s->beside)
		erase_status(s);
	finish_line(s);
	put_out(s, text, len);
	pthread_mutex_unlock(&s->lock);
}

/*
 * Take the lock, but wait for it only for 200 ms. The lock's holder may be waiting for a reader of standard output that never
 * reads. A message must not wait for that reader, because the message may be the reply to Ctrl-C. If this function returns
 * false, the caller writes its message without the lock: a message in the middle of another line does less harm than none.
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
	if (locked)
		erase_status(s);
	if (locked && s->same)
		finish_line(s);
	/* Ignore a failure: there is nowhere else to report it. */
	patience_write(&s->patience, STDERR_FILENO, text, len, &failure);
	if (locked)
		pthread_mutex_unlock(&s->lock);
}

static bool terminal_is_ready(void)
{
	struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&terminal, 1, 0) > 0 && (terminal.revents & POLLOUT);
}

/* Write the status line. Called with the lock held. */
static void draw_status(struct screen *s, const char *line)
{
	char text[STATUS_MAX], drawn[STATUS_MAX + sizeof(ERASE FAINT PLAIN)];
	unsigned width = terminal_status_width(s->job);
	int failure = 0, len;

	if (!width || !terminal_is_ready())
		return;
	/*
	 * Leave the last column free. After a line that fills the last column, the terminal may put the cursor on the next
	 * line, and ERASE would not erase the full line.
	 */
	snprintf(text, width < sizeof(text) ? width : sizeof(text), "%s", line);
	clean_line(text, sizeof(text));
	len = snprintf(drawn, sizeof(drawn), ERASE "%s%s%s", s->colour ? FAINT : "", text, s->colour ? PLAIN : "");
	atomic_store(&s->status_shown, true);
	patience_write(&s->patience, STDERR_FILENO, drawn, (size_t)len, &failure);
	if (failure)
		atomic_store(&s->status, false);
}

void screen_status(struct screen *s, const char *line)
{
	if (pthread_mutex_trylock(&s->lock))
		return;
	if (atomic_load(&s->status) && !s->quiet && !(s->same && s->mid_line))
		draw_status(s, line);
	pthread_mutex_unlock(&s->lock);
}

void screen_end_status(struct screen *s)
{
	bool locked;

	atomic_store(&s->status, false);
	/*
	 * Wait for the lock only for 200 ms, as screen_message() does: its holder may be waiting for a reader of standard
	 * output.
	 */
	locked = lock_for_message(s);
	if (locked) {
		erase_status(s);
		pthread_mutex_unlock(&s->lock);
	}
}

void screen_abandon_status(struct screen *s)
{
	if (atomic_exchange(&s->status_shown, false) && terminal_is_ready() &&
	    write(STDERR_FILENO, ERASE, sizeof(ERASE) - 1) < 0)
		return; /* the terminal is gone, and the status line with it */
}

void screen_console(struct screen *s, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	pthread_mutex_lock(&s->lock);
	if (s->beside)
		erase_status(s);
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
