// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a JSON file with a growing list so that the file is a complete document at all times (file.h). */
#include "hv/report/json/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One of the two files between which the writer alternates, so that the named file is always complete (file.h). It contains the
 * head, `items` items up to offset `end`, then a tail.
 */
struct half {
	int fd; /* -1: no file is open */
	off_t end;
	size_t items;
};

struct json_file {
	char *path, *next_path;
	char *head;
	struct half now; /* the file `path`, which has the document that readers see */
	/* The file `next_path`, which has an older version of the same document. There may be no such file. */
	struct half next;
	bool cannot_exchange;
	/* Another user's or program's file has the name `next_path`, so this process must not remove it. */
	bool in_the_way;
};

static int disk_error(const struct json_file *f, struct err *err)
{
	bool full = errno == ENOSPC || errno == EDQUOT;

	if (f->in_the_way)
		return err_set(err, EXIT_INPUT,
			       "cannot write %s: %s is in the way, and no outrider of yours left it behind; remove it", f->path,
			       f->next_path);
	return err_set(err, EXIT_INPUT, "cannot write %s: %s%s%s", f->path, strerror(errno), full ? "; make room" : "",
		       full && f->now.fd >= 0 ? ": only what was found before is in it" : "");
}

static int write_text(int fd, const char *text, off_t *at)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = pwrite(fd, text, len, *at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -1;
		text += n;
		*at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void drop_next(struct json_file *f)
{
	if (f->next.fd >= 0) {
		unlink(f->next_path);
		close(f->next.fd);
	}
	f->next = (struct half){.fd = -1};
}

/* Returns true if the file may be removed. A regular file of this user with this name can only come from a killed outrider. */
static bool is_left_over(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/*
 * Create NAME.next. Never open an existing file: another user may have put a link, a FIFO, or a file that is still being
 * written there. Replaces a file that a killed outrider left behind. Returns a descriptor, or -1 with errno set.
 */
static int create_next(struct json_file *f)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(f->next_path, flags, 0666);

	if (fd >= 0 || errno != EEXIST)
		return fd;
	f->in_the_way = !is_left_over(f->next_path);
	if (f->in_the_way || unlink(f->next_path) < 0)
		return -1;
	return open(f->next_path, flags, 0666);
}

static int open_next(struct json_file *f)
{
	if (f->next.fd >= 0)
		return 0;
	f->next = (struct half){.fd = create_next(f)};
	if (f->next.fd < 0)
		return -1;
	return write_text(f->next.fd, f->head, &f->next.end);
}

static int write_items(struct half *h, const struct json_items *all)
{
	for (; h->items < all->count; h->items++) {
		char *text = all->text(all->ctx, h->items);
		int rc = -1;

		if (!text)
			errno = ENOMEM;
		else if (write_text(h->fd, h->items ? ",\n" : "\n", &h->end) == 0)
			rc = write_text(h->fd, text, &h->end);
		free(text);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Write the missing items and the new tail to NAME.next, so that NAME.next can replace NAME. */
static int prepare_next(struct json_file *f, const char *tail, const struct json_items *all)
{
	off_t at;

	if (open_next(f) < 0 || write_items(&f->next, all) < 0)
		return -1;
	at = f->next.end;
	if (write_text(f->next.fd, tail, &at) < 0)
		return -1;
	return ftruncate(f->next.fd, at);
}

static int take_name(struct json_file *f, bool exchange)
{
	struct half old = f->now;

	if (exchange && renameat2(AT_FDCWD, f->next_path, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0) {
		f->now = f->next;
		f->next = old;
		return 0;
	}
	if (exchange)
		f->cannot_exchange = true;
	if (rename(f->next_path, f->path) < 0)
		return -1;
	f->now = f->next;
	f->next = (struct half){.fd = -1};
	if (old.fd >= 0)
		close(old.fd);
	return 0;
}

int json_file_update(struct json_file *f, const char *tail, const struct json_items *all, struct err *err)
{
	if (prepare_next(f, tail, all) < 0 || take_name(f, !f->cannot_exchange) < 0) {
		disk_error(f, err);
		drop_next(f);
		return -1;
	}
	return 0;
}

int json_file_rewrite(struct json_file *f, const char *head, const char *tail, const struct json_items *all, struct err *err)
{
	char *copy = strdup(head);

	if (!copy)
		return err_set(err, EXIT_INTERNAL, "out of memory while writing %s", f->path);
	free(f->head);
	f->head = copy;
	drop_next(f);
	if (prepare_next(f, tail, all) < 0 || fsync(f->next.fd) < 0 || take_name(f, false) < 0) {
		disk_error(f, err);
		drop_next(f);
		return -1;
	}
	return 0;
}

/* Returns the path with links resolved, from malloc(): rename(2) will replace the file itself, not a link to it. */
static char *real_name(const char *path, struct err *err)
{
	char *name = realpath(path, NULL);
	const char *wrong = NULL;
	struct stat st;

	if (!name && errno == ENOENT) {
		name = strdup(path);
		if (!name)
			err_set(err, EXIT_INTERNAL, "out of memory while creating %s", path);
		return name;
	}
	if (!name || stat(name, &st) < 0)
		wrong = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		wrong = "it is not a regular file";
	else if (access(name, W_OK) < 0)
		wrong = strerror(errno);
	if (!wrong)
		return name;
	err_set(err, EXIT_INPUT, "cannot write %s: %s", path, wrong);
	free(name);
	return NULL;
}

struct json_file *json_file_create(const char *path, const char *head, const char *tail, struct err *err)
{
	const struct json_items none = {0};
	struct json_file *f = calloc(1, sizeof(*f));

	if (!f)
		goto no_memory;
	f->now.fd = f->next.fd = -1;
	f->path = real_name(path, err);
	if (!f->path)
		goto fail;
	f->head = strdup(head);
	f->next_path = malloc(strlen(f->path) + sizeof(".next"));
	if (!f->head || !f->next_path)
		goto no_memory;
	sprintf(f->next_path, "%s.next", f->path);
	if (prepare_next(f, tail, &none) < 0 || take_name(f, false) < 0) {
		disk_error(f, err);
		goto fail;
	}
	return f;
no_memory:
	err_set(err, EXIT_INTERNAL, "out of memory while creating %s", path);
fail:
	json_file_close(f);
	return NULL;
}

void json_file_close(struct json_file *f)
{
	if (!f)
		return;
	drop_next(f);
	if (f->now.fd >= 0)
		close(f->now.fd);
	free(f->path);
	free(f->next_path);
	free(f->head);
	free(f);
}
