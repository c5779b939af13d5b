/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the requests of a virtio block device (virtio 1.2, section 5.2): from a chain of descriptors to the disk and back.
 * This file uses queues, but neither transport nor threads; virtio_blk.h is the device.
 *
 * What the device does on errors of the driver:
 *  - NEEDS_RESET, if the device cannot complete the request: the readable part of the chain is shorter than the header of 16
 *    bytes, or the chain has no byte for a status.
 *  - VIRTIO_BLK_S_IOERR, if a range is not in the disk or wraps, a length is no multiple of a sector, a discard has too many or
 *    too large segments, or the disk is read-only. The device then reads and writes no data.
 *  - VIRTIO_BLK_S_UNSUPP, if the device does not support the type of the request or a flag of a segment.
 *
 * A failure on the host is VIRTIO_BLK_S_IOERR too. The user gets a message about the first failure of each kind.
 *
 * Threads: any number of threads may serve different queues of one struct blk at the same time.
 */
#ifndef OUTRIDER_VMM_BLOCK_REQUEST_H
#define OUTRIDER_VMM_BLOCK_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hv/vmm/block/disk.h"
#include "hv/vmm/virtio/queue.h"
#include "hv/vmm/vmm.h"

/*
 * Limits that the device offers in its configuration: the largest segment of a request in bytes, and the largest number of
 * segments between header and status.
 */
#define BLK_SEGMENT_MAX (1u << 20)
#define BLK_SEGMENTS_MAX (VIRTQ_MAX_SIZE - 2)

/*
 * Limits that the device offers in its configuration, for discards and for write-zeroes requests: the largest range of one
 * segment, in sectors, and the largest number of segments of a request.
 */
#define BLK_DISCARD_SECTORS (1u << 21)
#define BLK_DISCARD_SEGMENTS 64u
#define BLK_ZERO_SECTORS (1u << 17)
#define BLK_ZERO_SEGMENTS 1u

/* Bytes of a disk's serial number. A serial number of this length has no NUL at its end. */
#define BLK_ID_LEN 20

struct blk {
	struct disk *disk;
	char id[BLK_ID_LEN];
	/* `index` is the disk's number; `messages` receives messages for the user. */
	unsigned index;
	struct vmm_messages messages;
	/* Flush after each write. Set when the driver did not negotiate flushes, or has switched the write-back cache off. */
	atomic_bool write_through;
	/* Set when the user has got the message that the host's storage is full, or about another error of the host. */
	atomic_flag told_full, told_error;
};

/* Number of requests that a worker pops before it serves the first. */
#define BLK_BATCH 16

/* A request's header in guest memory (virtio 1.2, 5.2.6). Little-endian, as x86 is. */
struct blk_header {
	uint32_t type;
	uint32_t reserved;
	uint64_t sector;
};

/* A worker's buffers for serving one queue. */
struct blk_queue {
	struct virtq_request rq[BLK_BATCH];
	struct blk_header header[BLK_BATCH];
	struct iovec iov[VIRTQ_MAX_SIZE];
	/*
	 * Number of reads that are still to be announced to the host before they are served (POSIX_FADV_WILLNEED), because a
	 * read was slow.
	 */
	unsigned announce;
};

/*
 * Serve all requests of the queue until it is empty, and interrupt the driver as needed. Blocks while the host reads or writes.
 * *queue must be zeroed before the first call, and be the same in each call.
 */
void blk_serve_queue(struct blk *blk, struct virtq *q, struct blk_queue *queue);

#endif
