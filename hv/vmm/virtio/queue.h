/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split virtqueue as the device sees it (virtio 1.2, section 2.7): independent of the device and of the transport.
 *
 * The guest is not trusted. Each field of the ring and of a descriptor is read from guest memory once. A chain that has a loop,
 * leaves guest RAM, is longer than the queue, mixes readable descriptors after writable ones, has a descriptor of length 0, an
 * indirect table inside an indirect table, or an index out of range breaks the queue's device: the transport sets NEEDS_RESET,
 * and virtq_pop() gives -1 until the driver resets the device.
 *
 * All accesses to guest memory go through hv/vmm/dma.h, so that the detector hears of them.
 *
 * Threads: all functions of one queue are called by one thread at a time. It is the worker of the queue, or the transport while
 * that worker is paused. Different queues share nothing, also those of one device.
 *
 * The loop of a device, on its worker:
 *
 *	while (virtq_pop(q, rq) > 0) {
 *		virtq_read(rq, 0, &header, sizeof(header));
 *		virtq_begin(rq, op, sector);
 *		... virtq_iov(), virtq_write() ...
 *		virtq_push(rq, written);
 *	}
 *	virtq_interrupt(q);
 */
#ifndef OUTRIDER_VMM_VIRTIO_QUEUE_H
#define OUTRIDER_VMM_VIRTIO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hv/vmm/dma.h"

/* The largest queue, and so the largest number of descriptors in a chain. The guest may choose a smaller power of two. */
#define VIRTQ_MAX_SIZE 256

/* What the driver chose for a queue. */
struct virtq_place {
	uint16_t size;		    /* entries; a power of two, at most VIRTQ_MAX_SIZE */
	uint64_t desc, avail, used; /* GPAs of the descriptor table, the driver area and the device area */
	bool event_index;	    /* VIRTIO_F_EVENT_IDX was negotiated */
	bool indirect;		    /* VIRTIO_F_INDIRECT_DESC was negotiated */
};

/* How a queue reaches its transport. Both are called on the thread that uses the queue. */
struct virtq_wiring {
	void (*interrupt)(void *ctx, unsigned queue);		    /* tell the driver that buffers were used */
	void (*broken)(void *ctx, unsigned queue, const char *why); /* the driver broke the rules: set NEEDS_RESET */
	void *ctx;
};

struct virtq {
	struct dma *dma;
	const char *device; /* name of the device, such as "virtio-blk 0"; the device's owner keeps it */
	unsigned index;	    /* number of the queue in its device */
	struct virtq_wiring wiring;
	struct virtq_place place; /* size 0: the queue is not in use */
	bool broken;		  /* nothing more is served until the next virtq_start() */
	bool kicks_off;		  /* the device polls the queue and wants no notifications */
	uint16_t next_avail;	  /* free-running index of the next entry to take from the available ring */
	uint16_t next_used;	  /* free-running index of the next entry to fill in the used ring */
	uint16_t published;	  /* the used index that the driver sees */
	uint16_t signalled;	  /* the value of `published` at the last look of virtq_interrupt() */
	uint16_t wanted;	  /* the available index at which a notification was last asked for (avail_event) */
	uint32_t epoch;		  /* counts virtq_start() and virtq_stop(), so that a request from before is known */
};

/*
 * A request: one chain of descriptors that the driver made available. First come the segments that the device reads, and then
 * those that it writes. The struct is the device's. It is large, so a device allocates it once and uses it again.
 */
struct virtq_request {
	struct virtq *q;
	uint32_t epoch;
	uint16_t head;		  /* first descriptor of the chain */
	uint16_t readable;	  /* number of segments that the device reads */
	uint16_t writable;	  /* number of segments that the device writes */
	uint64_t read_len;	  /* bytes in the readable segments */
	uint64_t write_len;	  /* bytes in the writable segments */
	bool in_flight;		  /* virtq_begin() was called */
	struct dma_flight flight; /* what the detector knows of the request */
	struct dma_segment segment[VIRTQ_MAX_SIZE];
	void *host[VIRTQ_MAX_SIZE]; /* the segments' host addresses */
};

/* Make a queue that is not in use. */
void virtq_init(struct virtq *q, struct dma *dma, const char *device, unsigned index, const struct virtq_wiring *wiring);

/*
 * Put the queue into use, from index 0 of its rings. Returns 0, or -1 when the size is no power of two or too large, or when a
 * ring is misaligned or not in guest RAM; the queue is then not in use. For the transport.
 */
int virtq_start(struct virtq *q, const struct virtq_place *place);

/* Take the queue out of use. A request that was popped before can still be pushed or dropped, without effect on the guest. */
void virtq_stop(struct virtq *q);

/*
 * Take the next request. Returns 1 with *rq filled in; 0 when there is none, and the driver will then notify when it adds one
 * (unless virtq_kicks() is off); -1 when the queue is not in use, or the device is broken. A device ends its loop on both 0
 * and -1.
 */
int virtq_pop(struct virtq *q, struct virtq_request *rq);

/* Give the last popped request back to the queue, to be popped again; for a device that cannot serve it now. */
void virtq_unpop(struct virtq_request *rq);

/*
 * Announce that from now on until virtq_push() the device may access the request's segments. To be called once the device has
 * parsed the request's header, and before it touches the data. `sector` counts 512 bytes; it is 0 where it means nothing.
 */
void virtq_begin(struct virtq_request *rq, enum device_op op, uint64_t sector);

/*
 * Copy up to `len` bytes from the request's readable part, from `offset` bytes into it, into `buf`; or from `buf` to its
 * writable part. Returns the number of bytes copied, which is less than `len` when the part ends before. The guest may change
 * its memory at any time: a device fetches each byte of a header once, and works with its copy.
 */
size_t virtq_read(struct virtq_request *rq, uint64_t offset, void *buf, size_t len);
size_t virtq_write(struct virtq_request *rq, uint64_t offset, const void *buf, size_t len);

/*
 * The host addresses of up to `len` bytes of the readable or writable part from `offset` bytes into it, for preadv() and the
 * like. Fills at most `max` elements and returns their number. Their lengths add up to less than `len` when the part ends
 * before, or `max` is too small.
 */
unsigned virtq_iov(struct virtq_request *rq, bool writable, uint64_t offset, uint64_t len, struct iovec *iov, unsigned max);

/*
 * The request is done: end its flight and return its buffers to the driver, of which the first `written` bytes of the writable
 * part were written. Requests may be pushed in any order. The driver is told by the next virtq_interrupt().
 */
void virtq_push(struct virtq_request *rq, uint32_t written);

/*
 * virtq_push() in two steps, for several requests that the driver must see at once (merged receive buffers of a network card):
 * virtq_put() for each, then one virtq_publish().
 */
void virtq_put(struct virtq_request *rq, uint32_t written);
void virtq_publish(struct virtq *q);

/* End the request's flight and forget the request, without telling the driver; for a device that is being reset. */
void virtq_drop(struct virtq_request *rq);

/* Interrupt the driver for what was pushed since the last call, unless it does not want that now. */
void virtq_interrupt(struct virtq *q);

/*
 * Ask the driver for notifications, which is how a queue starts, or (`on` is false) to leave them out while the device polls.
 * After switching them on, pop once more: what was added before needs no notification.
 */
void virtq_kicks(struct virtq *q, bool on);

/* The driver broke a rule of the device's own, such as a request without a header: set NEEDS_RESET. `why` is for a log line. */
void virtq_break(struct virtq *q, const char *why);

#endif
