/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes an exact number of bytes of a file, from and to pieces of memory. */
#ifndef OUTRIDER_VMM_BLOCK_DISK_IOV_H
#define OUTRIDER_VMM_BLOCK_DISK_IOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* The pieces of memory that a transfer has still to read or to fill. A transfer changes the pieces' addresses and lengths. */
struct disk_iov {
	struct iovec *piece;
	unsigned count;
};

/* Returns the sum of the lengths of `count` pieces. SIZE_MAX: the sum overflows. */
size_t disk_iov_len(const struct iovec *piece, unsigned count);

/*
 * Copy `len` bytes between the file, from `offset` on, and the first `len` bytes of the memory in *v, which must have at least
 * `len` bytes. Then change *v so that it begins after the copied bytes. Continues after a signal and after a short count.
 * Returns 0 or an errno number; EIO at the end of the file.
 */
int disk_iov_read(int fd, struct disk_iov *v, size_t len, uint64_t offset);
int disk_iov_write(int fd, struct disk_iov *v, size_t len, uint64_t offset);

#endif
