/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes an exact number of bytes of a file, into and from several pieces of memory. */
#include "hv/vmm/block/disk_iov.h"

#include <errno.h>
#include <limits.h>

typedef ssize_t transfer(int fd, const struct iovec *iov, int count, off_t offset);

size_t disk_iov_len(const struct iovec *piece, unsigned count)
{
	size_t len = 0;

	for (unsigned i = 0; i < count; i++)
		if (__builtin_add_overflow(len, piece[i].iov_len, &len))
			return SIZE_MAX;
	return len;
}

static void use_up(struct disk_iov *v, size_t len)
{
	while (v->count && len >= v->piece->iov_len) {
		len -= v->piece->iov_len;
		v->piece++;
		v->count--;
	}
	if (len) {
		v->piece->iov_base = (char *)v->piece->iov_base + len;
		v->piece->iov_len -= len;
	}
}

/* Make one system call for at most `len` bytes at the front of *v. Returns its result. */
static ssize_t transfer_some(transfer *call, int fd, struct disk_iov *v, size_t len, uint64_t offset)
{
	size_t sum = 0, excess;
	unsigned count = 0;
	ssize_t n;

	while (sum < len && count < v->count && count < IOV_MAX)
		sum += v->piece[count++].iov_len;
	if (count == 0)
		return 0;
	excess = sum > len ? sum - len : 0;
	v->piece[count - 1].iov_len -= excess;
	n = call(fd, v->piece, (int)count, (off_t)offset);
	v->piece[count - 1].iov_len += excess;
	return n;
}

static int transfer_all(transfer *call, int fd, struct disk_iov *v, size_t len, uint64_t offset)
{
	while (len > 0) {
		ssize_t n = transfer_some(call, fd, v, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		use_up(v, (size_t)n);
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int disk_iov_read(int fd, struct disk_iov *v, size_t len, uint64_t offset)
{
	return transfer_all(preadv, fd, v, len, offset);
}

int disk_iov_write(int fd, struct disk_iov *v, size_t len, uint64_t offset)
{
	return transfer_all(pwritev, fd, v, len, offset);
}
