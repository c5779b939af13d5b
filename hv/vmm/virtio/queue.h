/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split virtqueue from the device's side (virtio 1.2, section 2.7), independent of the device and of the transport.
 *
 * The guest is not trusted. Each field of the ring and of a descriptor is read from guest memory once. These errors of a chain
 * break the queue's device: a loop, an address outside guest RAM, more than VIRTQ_MAX_SIZE descriptors, a readable descriptor
 * after a writable one, a descriptor of length 0, an indirect table inside an indirect table, an index out of range. The
 * transport then sets NEEDS_RESET, and virtq_pop() returns -1 on all queues of the device until the driver resets it.
 *
 * All accesses to guest memory use hv/vmm/dma.h, which reports them to the detector.
 *
 * Threads: only one thread at a time may call the functions of a queue: the queue's worker, or a thread of the transport while
 * the worker is paused. Different queues share no state, even if they belong to one device.
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

/*
 * Maximum number of entries of a queue, and of descriptors of a chain. The guest may choose a smaller power of two for a queue.
 */
#define VIRTQ_MAX_SIZE 256

/* A queue's size, addresses and features, as the driver has set them up. */
struct virtq_place {
	/* Number of entries: a power of two, at most VIRTQ_MAX_SIZE. */
	uint16_t size;
	/* GPAs of the descriptor table, the driver area (available ring) and the device area (used ring). */
	uint64_t desc, avail, used;
	/* VIRTIO_F_EVENT_IDX was negotiated. */
	bool event_index;
	/* VIRTIO_F_INDIRECT_DESC was negotiated. */
	bool indirect;
};

/* A queue's callbacks to its device's transport. They are called on the thread that uses the queue. */
struct virtq_wiring {
	/* Interrupt the driver for used buffers. */
	void (*interrupt)(void *ctx, unsigned queue);
	/* The driver broke a rule: set NEEDS_RESET. `why` is a constant. */
	void (*broken)(void *ctx, unsigned queue, const char *why);
	/*
	 * Called when virtq_pop() returns 0 because of `standing`, although the queue may have requests: the queue must be
	 * served again later. May be NULL if `standing` is NULL.
	 */
	void (*left)(void *ctx, unsigned queue);
	void *ctx;
	/* Set by `broken`, and tested by all queues of the device: a broken device serves no request until it is reset. */
	const atomic_bool *device_broken;
	/* While this is not 0, no worker of the machine may pop a request (struct workers). NULL: no such limit. */
	const atomic_uint *standing;
};

#define VIRTQ_NOT_ASKED 0x10000u

/* A queue. Devices use only the functions below, and access no member. */
struct virtq {
	struct dma *dma;
	struct dma_ring ring;
	/* The device, the queue, and the thread that serves the queue, as recorded in requests in flight. */
	struct device_request by;
	struct virtq_wiring wiring;
	/* The size is 0 while the queue is not started. */
	struct virtq_place place;
	/* While set, virtq_pop() returns 0. See virtq_hold(). */
	atomic_bool held;
	/* The device polls the queue and wants no notifications. */
	bool kicks_off;
	/* Incremented by virtq_start() and virtq_stop(), to recognise requests that were popped before such a call. */
	uint32_t epoch;
	/* The value of avail_event, the available index at which the driver is to notify the device, or VIRTQ_NOT_ASKED. */
	uint32_t wanted;
	/* These indices count from 0 to 65535 and wrap, as in the rings. */
	uint16_t next_avail; /* the next entry to take from the available ring */
	uint16_t seen_avail; /* the driver's available index as last read */
	uint16_t next_used;  /* the next entry to fill in the used ring */
	uint16_t published;  /* the used index that was stored in the ring */
	uint16_t signalled;  /* the value of `published` at the last virtq_interrupt() */
};

/*
 * A request: one chain of descriptors that the driver made available. The segments that the device reads come first, then the
 * segments that it writes. The device owns the struct, and should allocate it once and reuse it, because it is some 10 KiB
 * large.
 */
struct virtq_request {
	struct virtq *q;
	/* The queue's epoch when the request was popped. */
	uint32_t epoch;
	/* The first descriptor of the chain. */
	uint16_t head;
	/* The number of segments that the device reads, and of segments that it writes. */
	uint16_t readable, writable;
	/* Bytes of the segments that the device reads, and of the segments that it writes. */
	uint64_t read_len, write_len;
	/* virtq_begin() was called. */
	bool in_flight;
	struct dma_flight flight;
	/* The segments: their GPAs, for the detector, and their host addresses, for the device. */
	struct device_segment segment[VIRTQ_MAX_SIZE + 1]; /* the last element is for virtq_begin_status() */
	struct iovec iov[VIRTQ_MAX_SIZE];
};

/* The position of a started queue. */
struct virtq_state {
	uint32_t wanted; /* these members are as in struct virtq */
	uint16_t next_avail, next_used, published, signalled;
	uint8_t kicks_off;
	uint8_t unused[3]; /* 0 */
};

/*
 * virtq_save() saves the position of a queue. virtq_resume() lets a queue that was just started continue from a saved position.
 * It returns false, and changes nothing, if `wanted` or `kicks_off` is out of range. The 16-bit indices may have any value,
 * because a driver's rings may be at any index. Only the transport calls these two functions.
 */
void virtq_save(const struct virtq *q, struct virtq_state *out);
bool virtq_resume(struct virtq *q, const struct virtq_state *state);

/*
 * Initialise a queue that is not started. `by` is copied: the type and index of the device, and the queue's number. Only the
 * transport calls this function.
 */
void virtq_init(struct virtq *q, struct dma *dma, const struct device_request *by, const struct virtq_wiring *wiring);

/*
 * Start the queue at index 0 of its rings. Returns 0, or -1 if the size is no power of two or too large, or if a ring is
 * misaligned or not in guest RAM; the queue is then not started. Only the transport calls this function.
 */
int virtq_start(struct virtq *q, const struct virtq_place *place);

/*
 * Stop the queue. A request that was popped before can still be pushed or dropped, without effect on the guest. Only the
 * transport calls this function.
 */
void virtq_stop(struct virtq *q);

/*
 * If `on`, hold the queue: virtq_pop() then returns 0. Otherwise release the queue. The transport holds the queues of a device
 * before it pauses the worker, so that a guest which keeps adding requests cannot keep a callback running. May be called on any
 * thread.
 */
void virtq_hold(struct virtq *q, bool on);

/*
 * Returns true if the queue is held or all workers of the machine are being paused, so that virtq_pop() returns 0 whatever the
 * driver adds. A device that has popped several requests must test this before it begins each request, and then return the
 * remaining requests by virtq_unpop().
 */
bool virtq_is_held(const struct virtq *q);

/*
 * Take the next request. A device ends its loop on 0 and on -1. Returns:
 *  - 1, with *rq filled in.
 *  - 0 if there is no request. The driver will notify the device of the next request, unless virtq_kicks() has switched
 *    notifications off.
 *  - 0 if the queue is held (virtq_is_held()).
 *  - -1 if the queue is not started or the device is broken.
 */
int virtq_pop(struct virtq *q, struct virtq_request *rq);

/*
 * Return the last popped request to the queue, to be popped again, because the device cannot serve it now. Several requests
 * must be returned in reverse order.
 */
void virtq_unpop(struct virtq_request *rq);

/*
 * Announce that from now on until virtq_push() the device may access the request's segments. To be called after the device has
 * parsed the request's header, and before it accesses the data. `sector` is in units of 512 bytes; 0 for a device without
 * sectors.
 */
void virtq_begin(struct virtq_request *rq, enum device_op op, uint64_t sector);

/*
 * As virtq_begin(), for a device that accesses only the first `read_len` bytes of the readable part and the first `write_len`
 * bytes of the writable part. The detector reports a race for each of these bytes that a CPU accesses, so a network device that
 * receives a frame must pass the frame's length.
 */
void virtq_begin_part(struct virtq_request *rq, enum device_op op, uint64_t sector, uint64_t read_len, uint64_t write_len);

/*
 * As virtq_begin_part(), for a device that also accesses the last byte of the writable part, which must exist: a disk writes
 * the request's status there.
 */
void virtq_begin_status(struct virtq_request *rq, enum device_op op, uint64_t sector, uint64_t read_len, uint64_t write_len);

/*
 * Copy up to `len` bytes from the request's readable part, from `offset` on, to `buf`; or from `buf` to the request's writable
 * part, from `offset` on. Returns the number of bytes copied, which is less than `len` if the part is shorter. The guest may
 * change its memory at any time, so a device must read each byte of a header only once, and then use its copy.
 */
size_t virtq_read(struct virtq_request *rq, uint64_t offset, void *buf, size_t len);
size_t virtq_write(struct virtq_request *rq, uint64_t offset, const void *buf, size_t len);

/*
 * Fill `iov` with the host addresses of up to `len` bytes of the readable or writable part, from `offset` on, for preadv() and
 * the like. Fills at most `max` elements and returns their number. The lengths of these elements add up to less than `len` if
 * the part is shorter, or if `max` is too small.
 */
unsigned virtq_iov(struct virtq_request *rq, bool writable, uint64_t offset, uint64_t len, struct iovec *iov, unsigned max);

/*
 * Complete the request: end its flight, and return its buffers to the driver as used. `written` is the number of bytes written
 * at the start of the writable part. Requests may be pushed in any order. The next virtq_interrupt() interrupts the driver.
 */
void virtq_push(struct virtq_request *rq, uint32_t written);

/*
 * virtq_push() in two steps, for several requests that must become visible to the driver together (merged receive buffers of a
 * network device): virtq_put() for each, then one virtq_publish().
 */
void virtq_put(struct virtq_request *rq, uint32_t written);
void virtq_publish(struct virtq *q);

/* End the request's flight and forget the request, without returning its buffers; for a device that is being reset. */
void virtq_drop(struct virtq_request *rq);

/* Interrupt the driver for the requests pushed since the last call, unless the driver suppresses interrupts now. */
void virtq_interrupt(struct virtq *q);

/*
 * If `on`, switch the driver's notifications on; otherwise switch them off, while the device polls the queue. After
 * virtq_start(), notifications are on. A device that has switched them on must call virtq_pop() once more, because the driver
 * sends no notification for entries that it added before.
 */
void virtq_kicks(struct virtq *q, bool on);

/*
 * Set NEEDS_RESET, because the driver broke a rule of the device type, for example by a request without a header. `why` is for
 * a message, and must be a constant.
 */
void virtq_break(struct virtq *q, const char *why);

#endif
