/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing exactly so many bytes of a file, from and to pieces of memory. */
#ifndef OUTRIDER_VMM_DEV_DISK_IOV_H
#define OUTRIDER_VMM_DEV_DISK_IOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* What is left of pieces of memory. The pieces themselves are changed as they are used up. */
struct disk_iov {
	struct iovec *piece;
	unsigned count;
};

/* The sum of the lengths of `count` pieces. SIZE_MAX: the sum does not fit. */
size_t disk_iov_len(const struct iovec *piece, unsigned count);

/*
 * Copy `len` bytes between the file from `offset` on and the front of *v, which is used up. *v must have so many. Goes on after
 * a signal and after a short count. Returns 0 or an errno number; EIO when the file has ended.
 */
int disk_iov_read(int fd, struct disk_iov *v, size_t len, uint64_t offset);
int disk_iov_write(int fd, struct disk_iov *v, size_t len, uint64_t offset);

#endif
