/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a request of a device: after the device has taken the request from its queue, the device waits before it accesses the
 * request's memory. struct dma_hold is a part of struct dma (hv/vmm/dma.h). The device's worker waits, so later requests of its
 * queue wait too, and completions keep their order. The guest runs on. At most one request is held at a time.
 *
 * Before a thread waits until workers pause or end, the thread refuses holds (dma_hold_refuse()). So no request is held while a
 * snapshot of the machine is made, a device is reset, or the machine ends.
 */
#ifndef OUTRIDER_VMM_DMA_HOLD_H
#define OUTRIDER_VMM_DMA_HOLD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Upper bound of one wait, in ns: 1 s. Linux resets a network device whose transmit queue has stood for 5 s, and gives up a
 * request of a disk after 30 s.
 */
#define DMA_HOLD_MOST_NS UINT64_C(1000000000)

struct dma_hold {
	/* Counts down with each request: the request that makes it 0 is offered to the observer. 0: no request is wanted. */
	atomic_uint wanted;
	/* Guards the members below. */
	pthread_mutex_t lock;
	/* Signalled when `refused` or `let_go` changes. Uses CLOCK_MONOTONIC. */
	pthread_cond_t moved;
	/* Number of refusals in force: dma_hold_refuse(hold, true) adds 1, dma_hold_refuse(hold, false) subtracts 1. */
	unsigned refused;
	/* A worker is in dma_hold_wait(). */
	bool holding;
	/* The worker that is in dma_hold_wait() is to continue. */
	bool let_go;
};

/* Initialise the struct, and destroy it when no worker runs any more. */
void dma_hold_init(struct dma_hold *hold);
void dma_hold_destroy(struct dma_hold *hold);

/* See dma_want(). Any thread. */
void dma_hold_want(struct dma_hold *hold, unsigned nth);

/* Count a request, and return true if this request is to be offered to the observer. Called by dma_hold_due(). */
bool dma_hold_take(struct dma_hold *hold);

/*
 * To be called for each request: returns true if the request is to be offered to the observer, which is true for one request
 * after each dma_hold_want(). While no request is wanted, this call costs one load. Any thread.
 */
static inline bool dma_hold_due(struct dma_hold *hold)
{
	return __builtin_expect(atomic_load_explicit(&hold->wanted, memory_order_relaxed) != 0, 0) && dma_hold_take(hold);
}

/*
 * Wait for `ns` nanoseconds, but at most DMA_HOLD_MOST_NS. Returns true after the whole wait, or false if the wait was cut
 * short by dma_hold_let_go(), or because holds are refused. Called on the worker's thread, without locks.
 */
bool dma_hold_wait(struct dma_hold *hold, uint64_t ns);

/* End the wait of the request that is held, if any. Any thread. Takes the lock for a moment only. */
void dma_hold_let_go(struct dma_hold *hold);

/*
 * If `on`, refuse holds from now on, and let go the request that is held, if any. Otherwise end one such refusal. Refusals
 * nest. Any thread.
 */
void dma_hold_refuse(struct dma_hold *hold, bool on);

#endif
