// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates a file atomically: a reader sees the whole new file, or the old one. */
#include "hv/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int disk_error(const struct new_file *f, struct err *err)
{
	bool full = errno == ENOSPC || errno == EDQUOT;

	return err_set(err, EXIT_INPUT, "cannot write %.300s: %s%s", f->path, strerror(errno), full ? "; make room" : "");
}

/*
 * Returns true if the file PATH.next may be removed: it is a regular file that this user owns, so a killed outrider of this
 * user left it there.
 */
static bool is_left_over(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

static int open_next(struct new_file *f, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

	f->fd = open(f->next_path, flags, 0600);
	if (f->fd < 0 && errno == EEXIST) {
		if (!is_left_over(f->next_path))
			return err_set(
				err, EXIT_INPUT,
				"cannot write %.200s: %.200s is in the way, and no outrider of yours left it behind; remove it",
				f->path, f->next_path);
		if (unlink(f->next_path) == 0)
			f->fd = open(f->next_path, flags, 0600);
	}
	return f->fd < 0 ? disk_error(f, err) : 0;
}

int new_file_create(struct new_file *f, const char *path, struct err *err)
{
	struct stat st;

	*f = (struct new_file){.fd = -1, .path = strdup(path), .next_path = malloc(strlen(path) + sizeof(".next"))};
	if (!f->path || !f->next_path)
		return err_set(err, EXIT_INTERNAL, "out of memory while creating %.300s", path);
	sprintf(f->next_path, "%s.next", path);
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, EXIT_INPUT, "cannot write %.300s: it is not a regular file", path);
	return open_next(f, err);
}

int new_file_append(struct new_file *f, const void *bytes, size_t len, struct err *err)
{
	const char *from = bytes;

	while (len > 0) {
		ssize_t n = pwrite(f->fd, from, len, (off_t)f->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return disk_error(f, err);
		from += n;
		f->at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

void new_file_skip(struct new_file *f, uint64_t len)
{
	f->at += len;
}

int new_file_commit(struct new_file *f, struct err *err)
{
	if (ftruncate(f->fd, (off_t)f->at) < 0 || fsync(f->fd) < 0 || rename(f->next_path, f->path) < 0)
		return disk_error(f, err);
	close(f->fd);
	f->fd = -1;
	return 0;
}

void new_file_drop(struct new_file *f)
{
	if (f->fd >= 0) {
		close(f->fd);
		unlink(f->next_path);
	}
	free(f->path);
	free(f->next_path);
	*f = (struct new_file){.fd = -1};
}
