/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way of a device into guest RAM. It checks bounds, and it tells the detector what devices do to memory that a CPU is
 * about to access. There are two kinds of memory:
 *
 *  - The segments of a request. From dma_begin(), when the device has taken the request, to dma_end(), just before it publishes
 *    the used index, these bytes belong to the device: a CPU's access to them races with the device's. In between, the device
 *    copies with any means it likes at dma_at().
 *  - The ring: descriptors, available and used ring, event indices. Driver and device access it at the same time by design, in
 *    an order that the protocol prescribes (virtio 1.2, section 2.7), so an access to it is no race. dma_ring_*() makes these
 *    accesses, and tells the observer of them as what they are.
 *
 * The observer, which is the KVM target, has windows: ranges of memory that it watches for a while. A window and a flight of a
 * request overlap in time when one of the two begins during the other, and one of the two sees that:
 *
 *  - dma_begin() puts the flight in the list (1), then reads the filter of watched memory (2). The observer publishes the
 *    filter by dma_watch() (3), then goes through the list by dma_in_flight() (4). (1) and (4) hold the same lock. When (4)
 *    comes after (1), (4) finds the flight, unless it has ended by then, before the window's first look at the memory. When
 *    (4) comes before (1), the unlocking after (4) happens before (1), so (3) happens before (2), and (2) sees the filter.
 *    When both see the other, the observer is told twice, and it has to expect that.
 *  - A store to a ring takes no lock. It publishes the address in ring->storing (1), then reads the filter (2). The observer
 *    publishes the filter (3), then reads ring->storing (4). All four are sequentially consistent, so they have one order: when
 *    (2) does not see the filter, (2) came before (3), therefore (1) before (4), and (4) sees the store, or finds that it is
 *    done, before the window's first look at the memory. When (2) sees the filter, the observer is told before the store is
 *    made, and thus before anybody finds the bytes changed.
 *
 * With no window open, a flight costs two short uncontended locks and a load, and an access to a ring one load and, to write,
 * the publishing.
 *
 * Threads: any, but one struct dma_ring and one struct dma_flight belong to one thread at a time. The lock is never held while
 * anybody waits or makes a system call, except that the observer is called under it by dma_in_flight(), which says so.
 */
#ifndef OUTRIDER_VMM_DMA_H
#define OUTRIDER_VMM_DMA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/device.h"
#include "hv/vmm/ram.h"

struct dma_flight;
struct dma_ring;

struct dma {
	const struct ram *ram;
	/* device_filter() of all that is watched. 0: nothing is. */
	_Atomic uint64_t watched;
	_Atomic(const struct device_observer *) observer;
	/* How many threads are about to call the observer, or are in it. */
	atomic_uint calling;
	/* Requests that are in flight, and workers that serve a device. */
	atomic_uint busy;
	/* Guards the two lists. */
	pthread_mutex_t lock;
	struct dma_flight *flights;
	struct dma_ring *rings;
};

/* A part of a request's memory, which the device reads or writes. */
struct dma_segment {
	uint64_t gpa;
	uint32_t len;	     /* in bytes; 0 is allowed */
	bool write;	     /* The device writes to guest memory. False: it reads. */
	uint16_t descriptor; /* as in struct device_access */
};

/*
 * A request in flight. The caller owns it and what it points to, and leaves both alone from dma_begin() to dma_end(). It names
 * the bytes that the device is sure to access when nothing on the host fails, and no others: a race is reported for each byte
 * of it that a CPU accesses meanwhile. So where a device may use less of its buffers than the request offers, as when it
 * receives a frame, find out the length first.
 */
struct dma_flight {
	struct device_request by;
	const struct dma_segment *segments;
	unsigned count;
	/* Private. */
	struct dma_flight *next, **link;
};

/* One queue's access to its ring. */
struct dma_ring {
	struct dma *dma;
	/* Who accesses it, for the observer: type, index and queue. */
	struct device_request by;
	/* The store that is being made: GPA << 8 | length in bytes. 0: none is. */
	_Atomic uint64_t storing;
	/* Private. */
	struct dma_ring *next, **link;
};

/* `ram` must outlive `dma`. */
void dma_init(struct dma *dma, const struct ram *ram);

/* Neither flights nor rings may be left. */
void dma_destroy(struct dma *dma);

/* The host address of [gpa, gpa + len), or NULL when any of these bytes is not RAM. The guest may change them at any time. */
void *dma_at(const struct dma *dma, uint64_t gpa, size_t len);

/*
 * The device has taken the request, and is going to access the segments. Call it once the device knows what it is going to do,
 * and before it accesses the segments, but for headers that it had to read to know. Takes the lock for a moment, and calls the
 * observer, which may take locks of its own for bounded work: hold no lock that anybody keeps while he waits.
 */
void dma_begin(struct dma *dma, struct dma_flight *flight);

/* The device will not access the segments again. Call it before the used index is published. */
void dma_end(struct dma *dma, struct dma_flight *flight);

/*
 * A worker begins to serve a device, because the driver says that requests are there or because the host has something for the
 * guest; and it has ended. Between two requests none may be in flight, and still the device is not idle.
 */
void dma_serve_begin(struct dma *dma);
void dma_serve_end(struct dma *dma);

/* Make the ring known, with `by` set, before it is used; and forget it. */
void dma_ring_add(struct dma *dma, struct dma_ring *ring, const struct device_request *by);
void dma_ring_remove(struct dma_ring *ring);

/*
 * Load from a ring and store to it. Each value is read or written once, in one piece where it is naturally aligned. All loads
 * and stores by these functions are sequentially consistent, which is at least what virtio 1.2 wants: an acquire load of the
 * available index, a release store of the used index, and a store of an event index that comes before the next load of the
 * index it is about. Return 0, or -1 when it is not RAM or, for the functions with a width, not naturally aligned.
 */
int dma_ring_load16(struct dma_ring *ring, uint64_t gpa, uint16_t *value);
int dma_ring_load32(struct dma_ring *ring, uint64_t gpa, uint32_t *value);
int dma_ring_load64(struct dma_ring *ring, uint64_t gpa, uint64_t *value);
int dma_ring_store16(struct dma_ring *ring, uint64_t gpa, uint16_t value);
int dma_ring_store32(struct dma_ring *ring, uint64_t gpa, uint32_t value);
int dma_ring_store64(struct dma_ring *ring, uint64_t gpa, uint64_t value);

/* Copy `len` bytes, such as a descriptor, from a ring or an indirect table. Each byte is read once. 0, or -1: it is not RAM. */
int dma_ring_read(struct dma_ring *ring, uint64_t gpa, void *to, size_t len);

/* ---- for the observer ---- */

/*
 * Set the observer, which must live until it is replaced. Its functions are called on the thread of dma_begin() or
 * dma_ring_...(), before these return, without a lock. They do bounded work only. NULL: there is none any more; this returns
 * when no call of the old one goes on, and must not be called from one.
 */
void dma_observe(struct dma *dma, const struct device_observer *observer);

/* From now on the memory of this filter is watched; the sum of device_filter() over all windows. 0: nothing is. */
void dma_watch(struct dma *dma, uint64_t filter);

/*
 * Tell `observer` of all segments of requests that are in flight and all stores to rings that are being made, if they may be in
 * watched memory. Calls it under the lock, so it must not call a function of this header.
 */
void dma_in_flight(struct dma *dma, const struct device_observer *observer);

/* Whether any request is in flight, or may be soon: a worker serves a device. vm_devices_busy() sees notifications, too. */
bool dma_busy(const struct dma *dma);

#endif
