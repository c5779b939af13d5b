/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file or a block device of the host that holds the bytes of a disk. Offsets and lengths are in bytes and must lie in the
 * file. The functions return 0 or an errno number. They block. Any number of threads may call them at the same time.
 */
#ifndef OUTRIDER_VMM_BLOCK_DISK_FILE_H
#define OUTRIDER_VMM_BLOCK_DISK_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/block/disk_iov.h"

struct disk_file {
	int fd;
	uint64_t size; /* bytes; constant */
	/* The errno number of the first failed fdatasync(). 0: no fdatasync() failed. */
	atomic_int flush_error;
};

/*
 * Open the image at `path`, for writing too if `write` is set. Returns 0, or -1 with EXIT_INPUT when the image does not exist
 * or cannot be opened for reading or writing as asked, is neither a file nor a block device, is empty, or has a size that is no
 * multiple of a sector.
 */
int disk_file_open(struct disk_file *file, const char *path, bool write, struct err *err);

/* Close the file. Does nothing if `fd` is negative. */
void disk_file_close(struct disk_file *file);

/*
 * Copy `len` bytes between the file, from `offset` on, and the first `len` bytes of the memory in *v. Then change *v so that it
 * begins after the copied bytes.
 */
int disk_file_read(struct disk_file *file, struct disk_iov *v, size_t len, uint64_t offset);
int disk_file_write(struct disk_file *file, struct disk_iov *v, size_t len, uint64_t offset);

/* Call fdatasync(). After a failure every later call fails too (disk.h says why). */
int disk_file_flush(struct disk_file *file);

/* Make a hole in the file, if the host supports that. Otherwise do nothing. */
int disk_file_discard(struct disk_file *file, uint64_t offset, uint64_t len);

/* Make the range read as zeroes. With `unmap` this may make a hole in the file. */
int disk_file_zero(struct disk_file *file, uint64_t offset, uint64_t len, bool unmap);

#endif
