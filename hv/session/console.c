// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's serial console (console.h). The guest writes into a pipe; the console's thread reads the pipe, and writes to the
 * screen or to a file.
 */
#include "hv/session/console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/sandbox/sandbox.h"

#define PARTIAL_LINE_MS 100
/* Bytes of a line that are kept: enough for printk's time stamp and the message of a panic. */
#define LINE_MAX_KEPT 200

struct console {
	struct screen *screen;
	const char *file;
	int out; /* The file's descriptor, or -1. */
	/* Bytes that may still be written to the file. Used by the thread only. */
	uint64_t room;
	int pipe[2];
	/* errno of the first failed write to the file. Owned by the thread until it is joined. */
	int failure;
	/* The file is a pipe, and its reader did not read before the run's end. Owned like `failure`. */
	bool unread;
	/* The file has as many bytes as --console-limit allows. Used by the thread only. */
	bool full;
	bool started;
	pthread_t thread;
	size_t pending_len;
	bool clean; /* Make control characters visible. */
	/* The last byte was a carriage return, which is not forwarded yet. */
	bool carriage;
	char cleaned[CLEAN_MAX(4096 + 1)];
	/*
	 * Bytes that were read and are not forwarded yet. put_lines() leaves room for the next read: it forwards at least a
	 * part of a full buffer.
	 */
	char pending[4096];
	size_t line_len;
	char line[LINE_MAX_KEPT + 1];
	char panic[CLEAN_MAX(LINE_MAX_KEPT)]; /* Written once, before `panicked` is set. */
	atomic_bool panicked;
};

/*
 * Returns the text after "Kernel panic - not syncing: " in a line with or without printk's "[ 1.234567] ", or NULL for any
 * other line.
 */
static const char *panic_text(const char *line)
{
	static const char words[] = "Kernel panic - not syncing: ";
	const char *text = line;

	if (*text == '[') {
		text = strchr(text, ']');
		if (!text)
			return NULL;
		text++;
		while (*text == ' ')
			text++;
	}
	return strncmp(text, words, sizeof(words) - 1) == 0 ? text + sizeof(words) - 1 : NULL;
}

static void end_line(struct console *c)
{
	const char *text;

	c->line[c->line_len] = '\0';
	c->line_len = 0;
	text = panic_text(c->line);
	if (!text || atomic_load(&c->panicked))
		return;
	clean_text(text, LINE_MAX_KEPT, c->panic, sizeof(c->panic));
	atomic_store(&c->panicked, true);
}

static void watch_for_panic(struct console *c, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r')
			end_line(c);
		else if (c->line_len < LINE_MAX_KEPT)
			c->line[c->line_len++] = bytes[i];
	}
}

static void put_file(struct console *c, const char *bytes, size_t len)
{
	if (!c->failure && !c->unread)
		c->unread = patience_write(screen_patience(c->screen), c->out, bytes, len, &c->failure) < len && !c->failure;
}

/* Write as many bytes as the limit allows. If the limit is reached, end the file with a line that says so. */
static void put_limited(struct console *c, const char *bytes, size_t len)
{
	static const char last[] = "\n[outrider: --console-limit is reached; the rest of the console is not written]\n";

	if (len <= c->room) {
		put_file(c, bytes, len);
		c->room -= len;
		return;
	}
	put_file(c, bytes, (size_t)c->room);
	put_file(c, last, sizeof(last) - 1);
	c->room = 0;
	c->full = true;
	screen_message(c->screen, "the console's file has reached --console-limit: the rest is not written");
}

static void put_raw(struct console *c, const char *bytes, size_t len)
{
	if (c->out >= 0 && !c->full)
		put_limited(c, bytes, len);
	else if (c->out < 0)
		screen_console(c->screen, bytes, len);
}

static void add_clean(struct console *c, size_t *used, char byte)
{
	if (byte == '\n' || byte == '\t' || (byte >= ' ' && byte <= '~'))
		c->cleaned[(*used)++] = byte;
	else
		*used += (size_t)snprintf(c->cleaned + *used, sizeof(c->cleaned) - *used, "\\x%02x", (unsigned char)byte);
}

/*
 * Forward bytes without terminal control sequences. The kernel ends lines by carriage return and newline: forward only the
 * newline. Make a lone carriage return visible, since it would let the guest overwrite a line on the screen.
 */
static void put_clean(struct console *c, const char *bytes, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (c->carriage && bytes[i] != '\n')
			add_clean(c, &used, '\r');
		c->carriage = bytes[i] == '\r';
		if (!c->carriage)
			add_clean(c, &used, bytes[i]);
	}
	put_raw(c, c->cleaned, used);
}

static void put(struct console *c, const char *bytes, size_t len)
{
	if (c->clean)
		put_clean(c, bytes, len);
	else
		put_raw(c, bytes, len);
}

/*
 * Forward whole lines if possible, so that a report does not split a line. Forward an unfinished line, such as a prompt, after
 * the guest was silent for PARTIAL_LINE_MS or if the buffer is full.
 */
static void put_lines(struct console *c, bool all)
{
	const char *newline = memrchr(c->pending, '\n', c->pending_len);
	size_t len = newline ? (size_t)(newline - c->pending) + 1 : 0;

	if (all || (len == 0 && c->pending_len == sizeof(c->pending)))
		len = c->pending_len;
	put(c, c->pending, len);
	c->pending_len -= len;
	memmove(c->pending, c->pending + len, c->pending_len);
}

/* The console's thread. If writing fails, the thread still reads: the guest must not block on its console. */
static void *forward(void *arg)
{
	struct console *c = arg;
	struct pollfd input = {.fd = c->pipe[0], .events = POLLIN};

	sandbox_thread(SANDBOX_CONSOLE);
	for (;;) {
		int ready = poll(&input, 1, c->pending_len ? PARTIAL_LINE_MS : -1);
		ssize_t n;

		if (ready == 0)
			put_lines(c, true);
		if (ready <= 0)
			continue;
		n = read(c->pipe[0], c->pending + c->pending_len, sizeof(c->pending) - c->pending_len);
		if (n <= 0)
			break;
		watch_for_panic(c, c->pending + c->pending_len, (size_t)n);
		c->pending_len += (size_t)n;
		put_lines(c, false);
	}
	put_lines(c, true);
	return NULL;
}

/*
 * Open the file with O_NONBLOCK: opening a FIFO without a reader then fails. Otherwise open() would wait for a reader and
 * ignore Ctrl-C.
 */
static int open_file(const char *file, struct err *err)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

	if (fd < 0 && errno == ENXIO)
		return err_set(err, EXIT_INPUT, "cannot write the console to %s: nobody reads it; start its reader first",
			       file);
	if (fd < 0)
		return err_set(err, EXIT_INPUT, "cannot write the console to %s: %s", file, strerror(errno));
	fcntl(fd, F_SETFL, 0);
	return fd;
}

struct console *console_open(const char *file, uint64_t most, bool clean, struct screen *screen, struct err *err)
{
	struct console *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	*c = (struct console){.clean = clean, .screen = screen, .file = file, .room = most, .out = -1, .pipe = {-1, -1}};
	if (file) {
		c->out = open_file(file, err);
		if (c->out < 0)
			goto fail;
	}
	if (pipe2(c->pipe, O_CLOEXEC) < 0) {
		err_set(err, EXIT_INTERNAL, "cannot make a pipe for the console: %s", strerror(errno));
		goto fail;
	}
	rc = pthread_create(&c->thread, NULL, forward, c);
	if (rc != 0) {
		err_set(err, EXIT_INTERNAL, "cannot start the console's thread: %s", strerror(rc));
		goto fail;
	}
	c->started = true;
	return c;
fail:
	console_free(c);
	return NULL;
}

bool console_is_shown(const struct console *c)
{
	return c->out < 0 || isatty(c->out);
}

int console_fd(const struct console *c)
{
	return c->pipe[1];
}

const char *console_panic(const struct console *c)
{
	return atomic_load(&c->panicked) ? c->panic : NULL;
}

int console_finish(struct console *c, struct err *err)
{
	if (c->pipe[1] >= 0)
		close(c->pipe[1]);
	c->pipe[1] = -1;
	if (c->started)
		pthread_join(c->thread, NULL);
	c->started = false;
	if (c->failure)
		return err_set(err, EXIT_INPUT, "cannot write the console to %s: %s; the rest of it is lost", c->file,
			       strerror(c->failure));
	if (c->unread)
		return err_set(err, EXIT_INPUT, "cannot write the console to %s: nobody reads it; the rest of it is lost",
			       c->file);
	return 0;
}

void console_free(struct console *c)
{
	if (!c)
		return;
	console_finish(c, NULL);
	if (c->out >= 0)
		close(c->out);
	if (c->pipe[0] >= 0)
		close(c->pipe[0]);
	free(c);
}
