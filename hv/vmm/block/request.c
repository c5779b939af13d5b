/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the queues of a virtio block device (virtio 1.2, section 5.2): pops requests in batches, reads, writes, flushes,
 * discards or zeroes parts of the disk (disk.h), and returns each request with a status byte to the driver.
 */
#include "hv/vmm/block/request.h"

#include <errno.h>
#include <linux/virtio_blk.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clock.h"

/* A segment of a discard or write-zeroes request. */
struct range {
	uint64_t sector;
	uint32_t sectors;
	uint32_t flags;
};

_Static_assert(sizeof(struct blk_header) == 16 && sizeof(struct range) == 16, "the layouts of virtio 1.2, section 5.2.6");

/*
 * Stands in place of a status for a request that is never completed, because a copied disk has lost the data that the request
 * reads (disk_copy()). To the guest, such a disk is very slow.
 */
#define NO_ANSWER 0xff

/* ---- errors ---- */

static void tell_full(struct blk *blk, int error)
{
	char line[512];

	if (!blk->messages.message || atomic_flag_test_and_set(&blk->told_full))
		return;
	snprintf(line, sizeof(line),
		 "disk %u: no room on the host for what the guest writes to %s (%s): the guest gets I/O errors until you make "
		 "room",
		 blk->index, disk_written_path(blk->disk), strerror(error));
	blk->messages.message(blk->messages.ctx, line);
}

static void tell_error(struct blk *blk, const char *what, int error)
{
	char line[512];

	if (!blk->messages.message || atomic_flag_test_and_set(&blk->told_error))
		return;
	snprintf(line, sizeof(line), "disk %u: the host cannot %s %s: %s: the guest gets I/O errors", blk->index, what,
		 disk_path(blk->disk), strerror(error));
	blk->messages.message(blk->messages.ctx, line);
}

/*
 * Returns the status of a request whose disk function returned `error`. If the host failed, sends the user a message, in which
 * `what` is the verb.
 */
static uint8_t status_of(struct blk *blk, const char *what, int error)
{
	if (!error)
		return VIRTIO_BLK_S_OK;
	if (error == DISK_NEWER)
		return NO_ANSWER;
	if (error == ENOSPC || error == EDQUOT || error == EFBIG)
		tell_full(blk, error);
	else
		tell_error(blk, what, error);
	return VIRTIO_BLK_S_IOERR;
}

/* Returns true if all sectors lie in the disk. Safe against overflow for any arguments. */
static bool in_disk(const struct blk *blk, uint64_t sector, uint64_t sectors)
{
	uint64_t capacity = disk_size(blk->disk) / DISK_SECTOR;

	return sector <= capacity && sectors <= capacity - sector;
}

/* ---- the operations; each returns the status ---- */

/* Flush after a write, if the disk has no write-back cache now (blk.write_through). Returns 0 or an errno number. */
static int write_through(struct blk *blk)
{
	return atomic_load(&blk->write_through) ? disk_flush(blk->disk) : 0;
}

/*
 * Returns the number of bytes of data of a read or write request: its readable part without the header, or its writable part
 * without the status byte.
 */
static uint64_t data_len(const struct virtq_request *rq, bool write)
{
	return write ? rq->read_len - sizeof(struct blk_header) : rq->write_len - 1;
}

static uint8_t transfer(struct blk *blk, struct virtq_request *rq, struct iovec *iov, uint64_t sector, bool write)
{
	uint64_t len = data_len(rq, write);
	unsigned count;
	int error;

	if (len % DISK_SECTOR || len > (uint64_t)BLK_SEGMENT_MAX * BLK_SEGMENTS_MAX ||
	    !in_disk(blk, sector, len / DISK_SECTOR) || (write && disk_read_only(blk->disk)))
		return VIRTIO_BLK_S_IOERR;
	virtq_begin(rq, write ? DEVICE_BLK_WRITE : DEVICE_BLK_READ, sector);
	count = virtq_iov(rq, !write, write ? sizeof(struct blk_header) : 0, len, iov, VIRTQ_MAX_SIZE);
	if (!write)
		return status_of(blk, "read from", disk_read(blk->disk, iov, count, sector * DISK_SECTOR));
	error = disk_write(blk->disk, iov, count, sector * DISK_SECTOR);
	return status_of(blk, "write to", error ? error : write_through(blk));
}

static uint8_t flush(struct blk *blk, struct virtq_request *rq)
{
	virtq_begin_status(rq, DEVICE_BLK_FLUSH, 0, sizeof(struct blk_header), 0);
	return status_of(blk, "flush", disk_flush(blk->disk));
}

/* Returns VIRTIO_BLK_S_OK if the device may discard or zero the range, or else the status of the refused request. */
static uint8_t check_range(const struct blk *blk, const struct range *range, bool zero)
{
	uint32_t known = zero ? VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP : 0;

	if (range->flags & ~known)
		return VIRTIO_BLK_S_UNSUPP;
	if (range->sectors > (zero ? BLK_ZERO_SECTORS : BLK_DISCARD_SECTORS) || !in_disk(blk, range->sector, range->sectors))
		return VIRTIO_BLK_S_IOERR;
	return VIRTIO_BLK_S_OK;
}

static int clear(struct blk *blk, const struct range *range, bool zero)
{
	uint64_t offset = range->sector * DISK_SECTOR, len = (uint64_t)range->sectors * DISK_SECTOR;

	if (!zero)
		return disk_discard(blk->disk, offset, len);
	return disk_zero(blk->disk, offset, len, range->flags & VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP);
}

/* Discard or, if `zero` is set, write zeroes. Checks all ranges before it changes the first. */
static uint8_t clear_ranges(struct blk *blk, struct virtq_request *rq, bool zero)
{
	struct range ranges[BLK_DISCARD_SEGMENTS];
	uint64_t len = rq->read_len - sizeof(struct blk_header), count = len / sizeof(ranges[0]);
	int error = 0;

	if (len % sizeof(ranges[0]) || count == 0 || count > (zero ? BLK_ZERO_SEGMENTS : BLK_DISCARD_SEGMENTS) ||
	    disk_read_only(blk->disk))
		return VIRTIO_BLK_S_IOERR;
	virtq_read(rq, sizeof(struct blk_header), ranges, (size_t)len);
	for (unsigned i = 0; i < count; i++) {
		uint8_t status = check_range(blk, &ranges[i], zero);

		if (status != VIRTIO_BLK_S_OK)
			return status;
	}
	virtq_begin_status(rq, zero ? DEVICE_BLK_WRITE_ZEROES : DEVICE_BLK_DISCARD, ranges[0].sector, rq->read_len, 0);
	for (unsigned i = 0; i < count && !error; i++)
		error = clear(blk, &ranges[i], zero);
	if (!error && zero)
		error = write_through(blk);
	return status_of(blk, "write to", error);
}

static uint8_t get_id(struct blk *blk, struct virtq_request *rq)
{
	size_t len = rq->write_len - 1 < BLK_ID_LEN ? (size_t)(rq->write_len - 1) : BLK_ID_LEN;

	virtq_begin_status(rq, DEVICE_BLK_GET_ID, 0, sizeof(struct blk_header), len);
	virtq_write(rq, 0, blk->id, len);
	return VIRTIO_BLK_S_OK;
}

static uint8_t serve(struct blk *blk, struct virtq_request *rq, const struct blk_header *h, struct iovec *iov)
{
	switch (h->type) {
	case VIRTIO_BLK_T_IN:
		return transfer(blk, rq, iov, h->sector, false);
	case VIRTIO_BLK_T_OUT:
		return transfer(blk, rq, iov, h->sector, true);
	case VIRTIO_BLK_T_FLUSH:
		return flush(blk, rq);
	case VIRTIO_BLK_T_DISCARD:
		return clear_ranges(blk, rq, false);
	case VIRTIO_BLK_T_WRITE_ZEROES:
		return clear_ranges(blk, rq, true);
	case VIRTIO_BLK_T_GET_ID:
		return get_id(blk, rq);
	default:
		return VIRTIO_BLK_S_UNSUPP;
	}
}

static enum device_op op_of(uint32_t type)
{
	switch (type) {
	case VIRTIO_BLK_T_IN:
		return DEVICE_BLK_READ;
	case VIRTIO_BLK_T_OUT:
		return DEVICE_BLK_WRITE;
	case VIRTIO_BLK_T_DISCARD:
		return DEVICE_BLK_DISCARD;
	case VIRTIO_BLK_T_WRITE_ZEROES:
		return DEVICE_BLK_WRITE_ZEROES;
	default:
		return DEVICE_OP_UNKNOWN;
	}
}

/* Serve a request that has a header and a status byte, and return it to the driver (virtq_push()). */
static void answer(struct blk *blk, struct virtq_request *rq, const struct blk_header *h, struct iovec *iov)
{
	uint8_t status = serve(blk, rq, h, iov);
	enum device_op op = op_of(h->type);

	if (status == NO_ANSWER) {
		virtq_drop(rq);
		return;
	}
	/*
	 * A refused request is not registered as in flight yet. Register it before its status is written, so that the detector
	 * knows to which request this write belongs.
	 */
	if (!rq->in_flight)
		virtq_begin_status(rq, op, device_op_has_sector(op) ? h->sector : 0, 0, 0);
	virtq_write(rq, rq->write_len - 1, &status, 1);
	/*
	 * Report the length of the whole writable part, although a failed read has not written all of it: the status is the
	 * last byte of that part.
	 */
	virtq_push(rq, rq->write_len < UINT32_MAX ? (uint32_t)rq->write_len : UINT32_MAX);
}

/* ---- a queue ---- */

/*
 * A worker serves the requests of a queue in order. A read that misses the host's page cache delays the reads after it,
 * although the host could fetch the data of all of them at the same time. So the worker announces all reads of a batch to the
 * host (POSIX_FADV_WILLNEED) before it serves the first. An announcement is a system call. It costs a fifth of the time of a
 * read that hits the page cache, so the worker announces reads only after a read was slow: for the next ANNOUNCE_READS reads. A
 * read is slow if it takes at least ANNOUNCE_NS ns plus one ns for each byte. A read from memory is faster than that.
 */
#define ANNOUNCE_NS 40000
#define ANNOUNCE_READS 256

static void announce(struct blk *blk, const struct virtq_request *rq, const struct blk_header *h)
{
	if (h->type == VIRTIO_BLK_T_IN && in_disk(blk, h->sector, data_len(rq, false) / DISK_SECTOR))
		disk_will_read(blk->disk, h->sector * DISK_SECTOR, data_len(rq, false));
}

/* Pop up to BLK_BATCH requests and read their headers. Returns the number of requests. */
static unsigned pop_batch(struct virtq *q, struct blk_queue *queue)
{
	unsigned n = 0;

	while (n < BLK_BATCH && virtq_pop(q, &queue->rq[n]) > 0) {
		struct virtq_request *rq = &queue->rq[n];

		if (virtq_read(rq, 0, &queue->header[n], sizeof(queue->header[n])) < sizeof(queue->header[n]) ||
		    rq->write_len == 0) {
			virtq_break(q, "a block request has no header or no status byte");
			virtq_drop(rq);
			break;
		}
		n++;
	}
	return n;
}

/*
 * Return the popped requests from number `first` to `count` - 1 to the queue unserved, the last popped first, as virtq_unpop()
 * requires.
 */
static void give_back(struct blk_queue *queue, unsigned first, unsigned count)
{
	while (count > first)
		virtq_unpop(&queue->rq[--count]);
}

/*
 * An interrupt for each request would cost the guest more than a fast request itself. But the driver must also see completed
 * requests while it keeps adding new ones. So the worker interrupts at the end of a batch, and within a batch when TELL_NS ns
 * have passed since the last interrupt.
 */
#define TELL_NS 50000

static void serve_batch(struct blk *blk, struct virtq *q, struct blk_queue *queue, unsigned count)
{
	uint64_t told_ns = monotonic_ns(), start_ns = told_ns;

	for (unsigned i = 0; i < count && count > 1 && queue->announce > 0; i++, queue->announce--)
		announce(blk, &queue->rq[i], &queue->header[i]);
	for (unsigned i = 0; i < count; i++) {
		uint64_t end_ns;

		/*
		 * Stop serving the batch: a thread is waiting for this worker to pause, and the remaining requests may transfer
		 * gigabytes.
		 */
		if (virtq_is_held(q)) {
			give_back(queue, i, count);
			break;
		}
		answer(blk, &queue->rq[i], &queue->header[i], queue->iov);
		end_ns = monotonic_ns();
		if (queue->header[i].type == VIRTIO_BLK_T_IN && end_ns - start_ns >= ANNOUNCE_NS + queue->rq[i].write_len)
			queue->announce = ANNOUNCE_READS;
		start_ns = end_ns;
		if (end_ns - told_ns >= TELL_NS) {
			virtq_interrupt(q);
			told_ns = end_ns;
		}
	}
	virtq_interrupt(q);
}

void blk_serve_queue(struct blk *blk, struct virtq *q, struct blk_queue *queue)
{
	bool kicks = false;

	virtq_kicks(q, false);
	for (;;) {
		unsigned count = pop_batch(q, queue);

		if (count > 0) {
			if (kicks)
				virtq_kicks(q, false);
			kicks = false;
			serve_batch(blk, q, queue, count);
		} else if (kicks) {
			/*
			 * The queue is empty, and notifications are on: the driver will notify the device of the next request.
			 */
			return;
		} else {
			virtq_kicks(q, true);
			kicks = true;
		}
	}
}
