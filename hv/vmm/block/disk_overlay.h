/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An overlay: a temporary file without a name, over an image that is only read. A bitmap says which blocks of OVERLAY_BLOCK
 * bytes are in the temporary file; all others are in the image. A bit is never cleared.
 *
 * Offsets and lengths are in bytes and must lie in the image. The functions return 0 or an errno number. They block. Any number
 * of threads may call them at the same time. A block is copied to the temporary file as a whole. The thread that copies a block
 * claims the block, and other threads that need to copy the same block wait. The thread sets the block's bit when all bytes of
 * the block are in the file. So a thread that sees the bit needs no claim. A thread that does not see the bit reads the image's
 * bytes, which are correct because no write of these bytes has returned yet.
 */
#ifndef OUTRIDER_VMM_BLOCK_DISK_OVERLAY_H
#define OUTRIDER_VMM_BLOCK_DISK_OVERLAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/block/disk_file.h"

/* Bytes of a block: the page size of the host's page cache, and the usual block size of a guest's file systems. */
#define OVERLAY_BLOCK 4096u

struct overlay_claim;

/* The image or the disk from which an overlay reads the blocks that are not in its temporary file. */
struct disk_base {
	/*
	 * Copy `len` bytes at `offset` to the first `len` bytes of the memory in *v. Then change *v so that it begins after the
	 * copied bytes. Called by any number of threads at the same time. Returns 0 or an errno number.
	 */
	int (*read)(void *ctx, struct disk_iov *v, size_t len, uint64_t offset);
	void *ctx;
	uint64_t size; /* bytes */
};

struct disk_overlay {
	struct disk_base base;
	struct disk_file top; /* the temporary file, as large as the base and sparse */
	char *folder;	      /* folder of the temporary file; NULL: in memory */
	_Atomic uint64_t *there;
	pthread_mutex_t lock;	      /* guards `claims` */
	pthread_cond_t released;      /* signalled when a claim ends */
	struct overlay_claim *claims; /* blocks that threads are copying to `top` */
};

/*
 * Make an empty overlay over `base`, which must outlive the overlay; `path` is the image's path. disk.h says in which folder
 * the temporary file is made. Returns 0, or -1 with EXIT_INPUT.
 */
int disk_overlay_open(struct disk_overlay *o, struct disk_file *base, const char *path, struct err *err);

/* Make an empty overlay in memory over any base. base->ctx must outlive the overlay. Returns 0, or -1 with EXIT_INPUT. */
int disk_overlay_open_memory(struct disk_overlay *o, const struct disk_base *base, struct err *err);

/* Free the overlay, and discard everything that was written to it. Does nothing to a zeroed struct. */
void disk_overlay_close(struct disk_overlay *o);

int disk_overlay_read(struct disk_overlay *o, struct disk_iov *v, size_t len, uint64_t offset);
int disk_overlay_write(struct disk_overlay *o, struct disk_iov *v, size_t len, uint64_t offset);

/* Free the space of the whole blocks in the range, which then read as zeroes. Parts of blocks stay unchanged. */
int disk_overlay_discard(struct disk_overlay *o, uint64_t offset, uint64_t len);

/* Make the range read as zeroes. */
int disk_overlay_zero(struct disk_overlay *o, uint64_t offset, uint64_t len);

#endif
