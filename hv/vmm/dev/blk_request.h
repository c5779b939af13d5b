/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests of a virtio block device (virtio 1.2, section 5.2): from a chain of descriptors to the disk and back. This file
 * knows queues, but neither transport nor threads; virtio_blk.h is the device.
 *
 * What the guest may get wrong, and what it gets for it:
 *  - NEEDS_RESET, when no answer is possible: the chain has less than a header of 16 bytes to read, or no byte for a status.
 *  - VIRTIO_BLK_S_IOERR, when a range is not in the disk or wraps, a length is no multiple of a sector, a discard has too many
 *    or too large segments, or the disk is read-only. Nothing was read or written then.
 *  - VIRTIO_BLK_S_UNSUPP, when the type of the request or a flag of a segment is not known.
 *
 * A failure on the host is VIRTIO_BLK_S_IOERR too, and the user is told of the first of each kind.
 *
 * Threads: any, each with its own queue and request. They share struct blk.
 */
#ifndef OUTRIDER_VMM_DEV_BLK_REQUEST_H
#define OUTRIDER_VMM_DEV_BLK_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hv/vmm/dev/disk.h"
#include "hv/vmm/virtio/queue.h"
#include "hv/vmm/vmm.h"

/* The largest segment of memory in a request, in bytes, and the largest number of segments between header and status. */
#define BLK_SEGMENT_MAX (1u << 20)
#define BLK_SEGMENTS_MAX (VIRTQ_MAX_SIZE - 2)

/* The largest range of one segment of a discard or a write-zeroes request in sectors, and how many of them a request has. */
#define BLK_DISCARD_SECTORS (1u << 21)
#define BLK_DISCARD_SEGMENTS 64u
#define BLK_ZERO_SECTORS (1u << 17)
#define BLK_ZERO_SEGMENTS 1u

/* The bytes of a disk's serial number. Only a shorter one ends with a NUL. */
#define BLK_ID_LEN 20

struct blk {
	struct disk *disk;
	char id[BLK_ID_LEN];
	/* The disk's number, and who is told of trouble. */
	unsigned index;
	struct vmm_notes notes;
	/* A write is done when it is on the host's medium, as a driver wants that cannot flush or has switched write-back off.
	 */
	atomic_bool write_through;
	/* The user was told that the host is full, and that the host had another error. */
	atomic_flag told_full, told_error;
};

/* How many requests are looked at before the first of them is served. */
#define BLK_BATCH 16

/* A request's header, as the guest has it (virtio 1.2, 5.2.6). All numbers are little-endian, as are the host's. */
struct blk_header {
	uint32_t type;
	uint32_t reserved;
	uint64_t sector;
};

/* What serving a queue takes. */
struct blk_queue {
	struct virtq_request rq[BLK_BATCH];
	struct blk_header header[BLK_BATCH];
	struct iovec iov[VIRTQ_MAX_SIZE];
	/* So many of the next reads are announced to the host, as a read had to wait for the host's medium not long ago. */
	unsigned announce;
};

/*
 * Serve all requests of the queue until there are no more, and interrupt the driver as often as is good for it. Blocks until
 * the host has done its part. To be called with *queue zeroed at first, and with the same one each time.
 */
void blk_serve_queue(struct blk *blk, struct virtq *q, struct blk_queue *queue);

#endif
