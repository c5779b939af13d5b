/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An overlay: a temporary file without a name, over an image that is only read. A bitmap says which blocks of OVERLAY_BLOCK
 * bytes are in the temporary file; the others are those of the image. A block never goes back to the image.
 *
 * Offsets and lengths are in bytes and must lie in the image; the functions return 0 or an errno number, block, and may be
 * called by any number of threads at once. A block comes into the temporary file as a whole: who brings it there claims it, and
 * others who want to bring it too wait. Its bit is set when all its bytes are there, so who sees the bit needs no claim, and
 * who does not see it reads the image's bytes, which are right as long as no write of those very bytes has returned.
 */
#ifndef OUTRIDER_VMM_DEV_DISK_OVERLAY_H
#define OUTRIDER_VMM_DEV_DISK_OVERLAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/dev/disk_file.h"

/* The page cache's unit on the host, and what a guest's file systems mostly write. */
#define OVERLAY_BLOCK 4096u

struct overlay_claim;

/* What is under an overlay. */
struct disk_base {
	/* Copy `len` bytes at `offset` to the front of *v, which is used up. Any number of threads. Returns 0 or an errno
	 * number. */
	int (*read)(void *ctx, struct disk_iov *v, size_t len, uint64_t offset);
	void *ctx;
	uint64_t size; /* bytes */
};

struct disk_overlay {
	struct disk_base base;
	struct disk_file top; /* the temporary file, as large as the base and sparse */
	char *folder;	      /* where the temporary file is; NULL: in memory */
	_Atomic uint64_t *there;
	pthread_mutex_t lock;	      /* guards `claims` */
	pthread_cond_t released;      /* a claim has gone */
	struct overlay_claim *claims; /* blocks that are being brought into `top` */
};

/*
 * Make an empty overlay over `base`, which must outlive it; `path` is that of the image. The temporary file is made in the
 * folder of $TMPDIR or, when that is not set, in the image's or else in /var/tmp. That of a block device is not in the folder
 * of devices, but in /var/tmp. Returns 0, or -1 with EXIT_INPUT.
 */
int disk_overlay_open(struct disk_overlay *o, struct disk_file *base, const char *path, struct err *err);

/* Make an empty overlay in memory over any base, whose `ctx` must outlive it. Returns 0, or -1 with EXIT_INPUT. */
int disk_overlay_open_memory(struct disk_overlay *o, const struct disk_base *base, struct err *err);

/* Free the overlay, and with it all that was written. Does nothing to one that was zeroed and not opened. */
void disk_overlay_close(struct disk_overlay *o);

int disk_overlay_read(struct disk_overlay *o, struct disk_iov *v, size_t len, uint64_t offset);
int disk_overlay_write(struct disk_overlay *o, struct disk_iov *v, size_t len, uint64_t offset);

/* Free what whole blocks of the range take. They read as zeroes then; parts of blocks stay as they are. */
int disk_overlay_discard(struct disk_overlay *o, uint64_t offset, uint64_t len);

/* Let the range read as zeroes. */
int disk_overlay_zero(struct disk_overlay *o, uint64_t offset, uint64_t len);

#endif
