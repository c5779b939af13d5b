// SPDX-License-Identifier: GPL-2.0-or-later
/* To be loaded before an outrider (LD_PRELOAD): a disk of the host that never answers a read. It says "stuck" on standard error. */
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t preadv(int fd, const struct iovec *iov, int count, off_t offset)
{
	static const char said[] = "stuck\n";

	(void)fd;
	(void)iov;
	(void)count;
	(void)offset;
	if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
		return -1;
	for (;;)
		poll(NULL, 0, -1);
}

ssize_t preadv64(int fd, const struct iovec *iov, int count, off_t offset) __attribute__((alias("preadv")));
