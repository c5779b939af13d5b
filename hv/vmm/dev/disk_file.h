/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file or a block device of the host whose bytes are those of a disk. Offsets and lengths are in bytes and must lie in the
 * file; the functions return 0 or an errno number, block, and may be called by any number of threads at once.
 */
#ifndef OUTRIDER_VMM_DEV_DISK_FILE_H
#define OUTRIDER_VMM_DEV_DISK_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/dev/disk_iov.h"

struct disk_file {
	int fd;
	uint64_t size; /* bytes; it does not change while the disk is in use */
	/* The errno number that fdatasync() first failed with. 0: it did not fail. */
	atomic_int flush_error;
};

/*
 * Open the image at `path`, also for writing if `write` is set. Returns 0, or -1 with EXIT_INPUT when there is no image or none
 * that can be opened so, when it is neither a file nor a block device, or when its size is 0 or no multiple of a sector.
 */
int disk_file_open(struct disk_file *file, const char *path, bool write, struct err *err);

/* Close the file. Does nothing to one whose `fd` is negative. */
void disk_file_close(struct disk_file *file);

/* Copy `len` bytes to or from the front of *v, which is used up. */
int disk_file_read(struct disk_file *file, struct disk_iov *v, size_t len, uint64_t offset);
int disk_file_write(struct disk_file *file, struct disk_iov *v, size_t len, uint64_t offset);

/* fdatasync(). Once it has failed it always fails (disk.h says why). */
int disk_file_flush(struct disk_file *file);

/* Make a hole where the host can make one. Where it cannot, nothing happens. */
int disk_file_discard(struct disk_file *file, uint64_t offset, uint64_t len);

/* Let the range read as zeroes. With `unmap` this may make a hole. */
int disk_file_zero(struct disk_file *file, uint64_t offset, uint64_t len, bool unmap);

#endif
