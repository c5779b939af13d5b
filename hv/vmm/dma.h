/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices access guest RAM only through these functions. They check bounds, and report to the detector the device accesses to
 * memory that a CPU is about to access. There are two kinds of memory:
 *
 *  - The segments of a request. From dma_begin(), when the device has popped the request, to dma_end(), just before it
 *    publishes the used index, these bytes belong to the device: a CPU's access to them races with the device's. Meanwhile the
 *    device may access them in any way, at the addresses that dma_at() returns.
 *  - The ring: descriptors, available and used ring, event indices. Driver and device access the ring concurrently by design,
 *    in an order that the protocol prescribes (virtio 1.2, section 2.7), so an access to the ring is no race. dma_ring_*()
 *    makes these accesses, and reports them to the observer as ring accesses.
 *
 * The observer, which is the KVM target, has windows: ranges of memory that it watches for a limited time. A request's flight
 * lasts from dma_begin() to dma_end(). When a window and a flight overlap in time, the device's thread or the observer's thread
 * (or each of them) detects that:
 *
 *  - dma_begin() puts the flight in the list (1), then reads the filter of watched memory (2). The observer publishes the
 *    filter by dma_watch() (3), then walks the list by dma_in_flight() (4). (1) and (4) hold the same lock. When (4) comes
 *    after (1), (4) finds the flight, unless the flight has ended already: then it ended before the window's first read of the
 *    memory. When (4) comes before (1), the unlock after (4) happens before (1), so (3) happens before (2), and (2) sees the
 *    filter. When (4) finds the flight and (2) sees the filter, the observer is called twice for one access, and must allow for
 *    that.
 *  - A store to a ring takes no lock. It publishes the address in ring->storing (1), then reads the filter (2). The observer
 *    publishes the filter (3), then reads ring->storing (4). All four are sequentially consistent, so they have one order. When
 *    (2) does not see the filter, (2) came before (3), so (1) came before (4). Then (4) sees the store, unless the store is
 *    done already: then it was done before the window's first read of the memory. When (2) sees the filter, the observer is
 *    called before the store, and so before any CPU can see the changed bytes.
 *
 * Without an open window, a flight costs two short uncontended locks and a load. An access to a ring costs one load, and a
 * store to a ring also two stores to ring->storing.
 *
 * Any thread may call these functions, but a struct dma_ring or struct dma_flight belongs to one thread at a time. No thread
 * waits or makes a system call while it holds the lock, with one exception: dma_in_flight() calls the observer under it.
 */
#ifndef OUTRIDER_VMM_DMA_H
#define OUTRIDER_VMM_DMA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/device.h"
#include "hv/vmm/dma_hold.h"
#include "hv/vmm/ram.h"

struct dma_flight;
struct dma_ring;

struct dma {
	const struct ram *ram;
	/* The union (bitwise or) of device_filter() over all watched memory. 0: no memory is watched. */
	_Atomic uint64_t watched;
	_Atomic(const struct device_observer *) observer;
	/* Number of threads that are about to call the observer, or are in it. */
	atomic_uint calling;
	/* Number of requests in flight, plus number of workers that serve a device. */
	atomic_uint busy;
	/* Guards the lists `flights` and `rings`. */
	pthread_mutex_t lock;
	struct dma_flight *flights;
	struct dma_ring *rings;
	/* The request to offer to the observer, and the request that is held. */
	struct dma_hold hold;
};

/*
 * A request in flight. The caller owns the struct and the segments, and must not change them from dma_begin() to dma_end(). The
 * segments must be exactly the bytes that the device will access if the host does not fail: the detector reports a race for
 * each of these bytes that a CPU accesses meanwhile. So if a device may use less of its buffers than the request offers, as
 * when it receives a frame, it must find out the length first.
 */
struct dma_flight {
	struct device_request by;
	const struct device_segment *segments;
	unsigned count;
	/* Private. */
	struct dma_flight *next, **link;
};

/* One queue's access to its ring. */
struct dma_ring {
	struct dma *dma;
	/* The device that accesses the ring, for the observer: type, index and queue. */
	struct device_request by;
	/* The store in progress: GPA << 8 | length in bytes. 0: none. */
	_Atomic uint64_t storing;
	/* Private. */
	struct dma_ring *next, **link;
};

/* Initialise `dma`. `ram` must outlive `dma`. */
void dma_init(struct dma *dma, const struct ram *ram);

/* Destroy `dma`. All flights and rings must have been removed. */
void dma_destroy(struct dma *dma);

/*
 * Returns the host address of [gpa, gpa + len), or NULL when any of these bytes is not RAM. The guest may change the bytes at
 * any time.
 */
void *dma_at(const struct dma *dma, uint64_t gpa, size_t len);

/*
 * Announce that the device is going to access the segments. To be called before the device accesses the segments. Only headers,
 * which tell the device what it will access, may be read before. Takes dma.lock briefly. Calls the observer, which may wait for
 * a lock of the detector. To avoid a deadlock, the caller must not hold a lock that any thread takes while it holds a lock of
 * the detector. dma_begin() may also hold the request (dma_want()), in waits of at most DMA_HOLD_MOST_NS each.
 */
void dma_begin(struct dma *dma, struct dma_flight *flight);

/* End the flight: the device will not access the segments any more. To be called before the used index is published. */
void dma_end(struct dma *dma, struct dma_flight *flight);

/*
 * Record that a worker begins to serve a device, after a notification of the driver or an event of the backend; and that the
 * worker has finished. Between these two calls the device is busy, even if no request is in flight.
 */
void dma_serve_begin(struct dma *dma);
void dma_serve_end(struct dma *dma);

/* Add a ring of the device and queue `by` before the first use of the ring, and remove the ring after its last use. */
void dma_ring_add(struct dma *dma, struct dma_ring *ring, const struct device_request *by);
void dma_ring_remove(struct dma_ring *ring);

/*
 * Load from a ring and store to it. Each value is read or written once, in one access. All loads and stores by these functions
 * are sequentially consistent, which is at least what virtio 1.2 requires: an acquire load of the available index, a release
 * store of the used index, and a store of an event index that is ordered before the next load of the index it refers to. Return
 * 0, or -1 if the address is not RAM or not naturally aligned.
 */
int dma_ring_load16(struct dma_ring *ring, uint64_t gpa, uint16_t *value);
int dma_ring_load32(struct dma_ring *ring, uint64_t gpa, uint32_t *value);
int dma_ring_load64(struct dma_ring *ring, uint64_t gpa, uint64_t *value);
int dma_ring_store16(struct dma_ring *ring, uint64_t gpa, uint16_t value);
int dma_ring_store32(struct dma_ring *ring, uint64_t gpa, uint32_t value);
int dma_ring_store64(struct dma_ring *ring, uint64_t gpa, uint64_t value);

/*
 * Copy `len` bytes, such as a descriptor, from a ring or an indirect table. Each byte is read once. Returns 0, or -1 when the
 * address is not RAM.
 */
int dma_ring_read(struct dma_ring *ring, uint64_t gpa, void *to, size_t len);

/* ---- called by the observer ---- */

/*
 * Set the observer, which must live until it is replaced. Its functions are called on the thread of dma_begin() or
 * dma_ring_...(), before these return, without a lock, and do bounded work only. NULL removes the observer. With NULL, waits
 * until no call of the old observer is running, so it must not be called by the observer.
 */
void dma_observe(struct dma *dma, const struct device_observer *observer);

/*
 * Watch the memory of this filter from now on: the union (bitwise or) of device_filter() over all windows. 0: watch no memory.
 */
void dma_watch(struct dma *dma, uint64_t filter);

/*
 * Call `observer` for all segments of requests in flight and all ring stores in progress that may be in watched memory.
 * `observer` is called under dma.lock, so it must not call a function of this header.
 */
void dma_in_flight(struct dma *dma, const struct device_observer *observer);

/*
 * Offer the nth request from now on, counted from 1, to the observer (device_observer.request), which may hold the request.
 * `nth` 0: offer no request. Replaces the number that an earlier call gave.
 */
void dma_want(struct dma *dma, unsigned nth);

/* Let go the request that is held, if any. */
void dma_let_go(struct dma *dma);

/*
 * Returns true if a request is in flight, or may be soon because a worker serves a device. vm_devices_busy() also sees pending
 * notifications.
 */
bool dma_busy(const struct dma *dma);

#endif
