// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens regular files below a folder by openat2(2), and refuses all other files (see beneath.h). */
#include "symbols/files/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_how(int fd, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS | (fd == AT_FDCWD ? 0 : RESOLVE_BENEATH),
	};

	return (int)syscall(SYS_openat2, fd, path, &how, sizeof(how));
}

int beneath_works(int fd)
{
	int there = open_how(fd, ".", O_PATH);

	if (there < 0)
		return -1;
	close(there);
	return 0;
}

/* Accept a descriptor only if it is a regular file of at most `max` bytes. Returns 0, or -1 with errno set. */
static int check(int fd, size_t max, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return -1;
	if (!S_ISREG(st->st_mode))
		errno = EINVAL;
	else if ((uint64_t)st->st_size > max)
		errno = EFBIG;
	else
		return 0;
	return -1;
}

static int close_failed(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return -1;
}

int beneath_open(int fd, const char *path, size_t max, size_t *size)
{
	struct stat before, now;
	/* O_PATH allows fstat() without opening the file. */
	int file = open_how(fd, path, O_PATH);

	if (file < 0)
		return -1;
	if (check(file, max, &before) < 0)
		return close_failed(file);
	close(file);
	/*
	 * Another process may have replaced the file by a FIFO since the first check(). O_NONBLOCK keeps open() from blocking
	 * on a FIFO, and check() then tests the opened file.
	 */
	file = open_how(fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return -1;
	if (check(file, max, &now) < 0)
		return close_failed(file);
	*size = (size_t)now.st_size;
	return file;
}
