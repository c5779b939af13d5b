/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split virtqueue as the device sees it (virtio 1.2, section 2.7): independent of the device and of the transport.
 *
 * The guest is not trusted. Each field of the ring and of a descriptor is read from guest memory once. A chain that has a loop,
 * leaves guest RAM, is longer than VIRTQ_MAX_SIZE, has a readable descriptor after a writable one, a descriptor of length 0, an
 * indirect table inside an indirect table, or an index out of range breaks the queue's device: the transport sets NEEDS_RESET,
 * and virtq_pop() gives -1 on all queues of the device until the driver resets it.
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

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hv/vmm/dma.h"

/* The largest queue, and the largest number of descriptors in a chain. The guest may choose a smaller power of two. */
#define VIRTQ_MAX_SIZE 256

/* What the driver chose for a queue. */
struct virtq_place {
	/* Entries: a power of two, at most VIRTQ_MAX_SIZE. */
	uint16_t size;
	/* GPAs of the descriptor table, the driver area (available ring) and the device area (used ring). */
	uint64_t desc, avail, used;
	/* VIRTIO_F_EVENT_IDX was negotiated. */
	bool event_index;
	/* VIRTIO_F_INDIRECT_DESC was negotiated. */
	bool indirect;
};

/* How a queue reaches its device's transport. The functions are called on the thread that uses the queue. */
struct virtq_wiring {
	/* Tell the driver that buffers were used. */
	void (*interrupt)(void *ctx, unsigned queue);
	/* The driver broke the rules: set NEEDS_RESET. `why` is a constant. */
	void (*broken)(void *ctx, unsigned queue, const char *why);
	void *ctx;
	/* Set by `broken`, and read by all queues of the device: the device serves nothing until it is reset. */
	const atomic_bool *device_broken;
};

#define VIRTQ_NOT_ASKED 0x10000u

/* Devices use the functions below, and no member. */
struct virtq {
	struct dma *dma;
	struct dma_ring ring;
	/* Which device and queue it is, and by which thread it is served, as requests in flight say it. */
	struct device_request by;
	struct virtq_wiring wiring;
	/* The size is 0 while the queue is not in use. */
	struct virtq_place place;
	/* Nothing is served for now; see virtq_hold(). */
	atomic_bool held;
	/* The device polls the queue and wants no notifications. */
	bool kicks_off;
	/* Counts virtq_start() and virtq_stop(), so that a request from before is known. */
	uint32_t epoch;
	/* The value of avail_event, at which the driver shall notify, or VIRTQ_NOT_ASKED. */
	uint32_t wanted;
	/* These indices run freely from 0 to 65535 and wrap, as in the rings. */
	uint16_t next_avail; /* the next entry to take from the available ring */
	uint16_t seen_avail; /* the driver's available index as last read */
	uint16_t next_used;  /* the next entry to fill in the used ring */
	uint16_t published;  /* the used index that the driver sees */
	uint16_t signalled;  /* the value of `published` at the last virtq_interrupt() */
};

/*
 * A request: one chain of descriptors that the driver made available. First come the segments that the device reads, and then
 * those that it writes. The struct is the device's. It takes some 10 KiB, so a device allocates it once and uses it again.
 */
struct virtq_request {
	struct virtq *q;
	/* The queue's when the request was popped. */
	uint32_t epoch;
	/* The first descriptor of the chain. */
	uint16_t head;
	/* The number of segments that the device reads, and of those that it writes. */
	uint16_t readable, writable;
	/* The bytes in these. */
	uint64_t read_len, write_len;
	/* virtq_begin() was called. */
	bool in_flight;
	struct dma_flight flight;
	/* The segments as the detector is told of them, and where they are on the host. */
	struct dma_segment segment[VIRTQ_MAX_SIZE + 1]; /* The last one is for virtq_begin_status(). */
	struct iovec iov[VIRTQ_MAX_SIZE];
};

/* Where a queue in use is. */
struct virtq_state {
	uint32_t wanted; /* these are as in struct virtq */
	uint16_t next_avail, next_used, published, signalled;
	uint8_t kicks_off;
	uint8_t unused[3]; /* 0 */
};

/*
 * Save where the queue is; and let a queue that was just put into use go on from there, which may be anywhere: a driver may
 * have any index. virtq_resume() returns false, and changes nothing, for a state that no queue can have. For the transport.
 */
void virtq_save(const struct virtq *q, struct virtq_state *out);
bool virtq_resume(struct virtq *q, const struct virtq_state *state);

/* Make a queue that is not in use. `by` says whose queue it is and is copied: its type, index and queue. For the transport. */
void virtq_init(struct virtq *q, struct dma *dma, const struct device_request *by, const struct virtq_wiring *wiring);

/*
 * Put the queue into use, from index 0 of its rings. Returns 0, or -1 when the size is no power of two or too large, or when a
 * ring is misaligned or not in guest RAM; the queue is then not in use. For the transport.
 */
int virtq_start(struct virtq *q, const struct virtq_place *place);

/*
 * Take the queue out of use. A request that was popped before can still be pushed or dropped, without effect on the guest. For
 * the transport.
 */
void virtq_stop(struct virtq *q);

/*
 * Let virtq_pop() give 0 from now on, or no longer. The transport holds the queues of a device before it pauses the worker, so
 * that a guest which adds requests without end cannot keep a callback running. Any thread may call it.
 */
void virtq_hold(struct virtq *q, bool on);

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
 * As virtq_begin(), when the device accesses only the first `read_len` bytes of the readable part and the first `write_len`
 * bytes of the writable part. A race is reported for each byte of these, so a network card that receives a frame says its
 * length.
 */
void virtq_begin_part(struct virtq_request *rq, enum device_op op, uint64_t sector, uint64_t read_len, uint64_t write_len);

/*
 * As virtq_begin_part(), when the device also accesses the last byte of the writable part, which there must be: in this byte a
 * disk says what became of the request.
 */
void virtq_begin_status(struct virtq_request *rq, enum device_op op, uint64_t sector, uint64_t read_len, uint64_t write_len);

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
