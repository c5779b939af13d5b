// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives devices access to guest RAM, and reports to the observer each access that may touch memory which the detector watches;
 * dma.h says why no access is missed.
 */
#include "hv/vmm/dma.h"

#include <sched.h>
#include <string.h>

#define STORING_LEN_BITS 8

void dma_init(struct dma *dma, const struct ram *ram)
{
	*dma = (struct dma){.ram = ram};
	pthread_mutex_init(&dma->lock, NULL);
	dma_hold_init(&dma->hold);
}

void dma_destroy(struct dma *dma)
{
	dma_hold_destroy(&dma->hold);
	pthread_mutex_destroy(&dma->lock);
}

void *dma_at(const struct dma *dma, uint64_t gpa, size_t len)
{
	return ram_at(dma->ram, gpa, len);
}

/* ---- calling the observer ---- */

static void tell_ring(const struct device_observer *observer, const struct dma_ring *ring, uint64_t gpa, uint32_t len,
		      bool write)
{
	const struct device_access access = {.request = ring->by, .gpa = gpa, .len = len, .write = write};

	observer->ring(observer->ctx, &access);
}

static void tell_flight(struct dma *dma, const struct device_observer *observer, const struct dma_flight *flight)
{
	uint64_t watched = atomic_load(&dma->watched);

	for (unsigned i = 0; i < flight->count; i++) {
		const struct device_segment *segment = &flight->segments[i];
		const struct device_access access = {
			.request = flight->by,
			.gpa = segment->gpa,
			.len = segment->len,
			.write = segment->write,
			.descriptor = segment->descriptor,
		};

		if (device_filter(segment->gpa, segment->len) & watched)
			observer->segment(observer->ctx, &access);
	}
}

/*
 * Returns the observer, or NULL if none is set. The observer stays valid until put_observer(), which the caller must call even
 * if the result is NULL.
 */
static const struct device_observer *get_observer(struct dma *dma)
{
	atomic_fetch_add(&dma->calling, 1);
	return atomic_load(&dma->observer);
}

static void put_observer(struct dma *dma)
{
	atomic_fetch_sub(&dma->calling, 1);
}

/* ---- requests in flight ---- */

static void tell_begin(struct dma *dma, const struct dma_flight *flight)
{
	const struct device_observer *observer = get_observer(dma);

	if (observer)
		tell_flight(dma, observer, flight);
	put_observer(dma);
}

/* Offer the request to the observer, and hold it as long as the observer wants. */
static void offer(struct dma *dma, const struct dma_flight *flight)
{
	const struct device_observer *observer = get_observer(dma);
	uint64_t ns = 0;

	if (observer && observer->request)
		ns = observer->request(observer->ctx, &flight->by, flight->segments, flight->count);
	while (ns) {
		bool last = !dma_hold_wait(&dma->hold, ns);

		ns = observer->hold_end(observer->ctx, last);
		if (last)
			break;
	}
	put_observer(dma);
}

void dma_begin(struct dma *dma, struct dma_flight *flight)
{
	atomic_fetch_add_explicit(&dma->busy, 1, memory_order_relaxed);
	pthread_mutex_lock(&dma->lock);
	flight->next = dma->flights;
	flight->link = &dma->flights;
	if (flight->next)
		flight->next->link = &flight->next;
	dma->flights = flight;
	pthread_mutex_unlock(&dma->lock);
	if (atomic_load(&dma->watched))
		tell_begin(dma, flight);
	if (dma_hold_due(&dma->hold))
		offer(dma, flight);
}

void dma_end(struct dma *dma, struct dma_flight *flight)
{
	pthread_mutex_lock(&dma->lock);
	*flight->link = flight->next;
	if (flight->next)
		flight->next->link = flight->link;
	pthread_mutex_unlock(&dma->lock);
	atomic_fetch_sub_explicit(&dma->busy, 1, memory_order_relaxed);
}

void dma_serve_begin(struct dma *dma)
{
	atomic_fetch_add_explicit(&dma->busy, 1, memory_order_relaxed);
}

void dma_serve_end(struct dma *dma)
{
	atomic_fetch_sub_explicit(&dma->busy, 1, memory_order_relaxed);
}

bool dma_busy(const struct dma *dma)
{
	return atomic_load_explicit(&dma->busy, memory_order_relaxed);
}

/* ---- rings ---- */

void dma_ring_add(struct dma *dma, struct dma_ring *ring, const struct device_request *by)
{
	*ring = (struct dma_ring){.dma = dma, .by = *by};
	pthread_mutex_lock(&dma->lock);
	ring->next = dma->rings;
	ring->link = &dma->rings;
	if (ring->next)
		ring->next->link = &ring->next;
	dma->rings = ring;
	pthread_mutex_unlock(&dma->lock);
}

void dma_ring_remove(struct dma_ring *ring)
{
	pthread_mutex_lock(&ring->dma->lock);
	*ring->link = ring->next;
	if (ring->next)
		ring->next->link = ring->link;
	pthread_mutex_unlock(&ring->dma->lock);
}

static void note_ring(struct dma_ring *ring, uint64_t gpa, uint32_t len, bool write)
{
	const struct device_observer *observer;

	if (!(atomic_load(&ring->dma->watched) & device_filter(gpa, len)))
		return;
	observer = get_observer(ring->dma);
	if (observer)
		tell_ring(observer, ring, gpa, len, write);
	put_observer(ring->dma);
}

/* Returns the host address of a value of `len` bytes in a ring, or NULL if the value is not in RAM or not naturally aligned. */
static void *value_at(const struct dma_ring *ring, uint64_t gpa, uint32_t len)
{
	return gpa % len ? NULL : dma_at(ring->dma, gpa, len);
}

static void *begin_store(struct dma_ring *ring, uint64_t gpa, uint32_t len)
{
	void *at = value_at(ring, gpa, len);

	if (!at)
		return NULL;
	atomic_store(&ring->storing, gpa << STORING_LEN_BITS | len);
	note_ring(ring, gpa, len, true);
	return at;
}

static void end_store(struct dma_ring *ring)
{
	atomic_store_explicit(&ring->storing, 0, memory_order_release);
}

#define RING_ACCESS(bits)                                                                   \
	int dma_ring_load##bits(struct dma_ring *ring, uint64_t gpa, uint##bits##_t *value) \
	{                                                                                   \
		const uint##bits##_t *at = value_at(ring, gpa, sizeof(*value));             \
                                                                                            \
		if (!at)                                                                    \
			return -1;                                                          \
		note_ring(ring, gpa, sizeof(*value), false);                                \
		*value = __atomic_load_n(at, __ATOMIC_SEQ_CST);                             \
		return 0;                                                                   \
	}                                                                                   \
                                                                                            \
	int dma_ring_store##bits(struct dma_ring *ring, uint64_t gpa, uint##bits##_t value) \
	{                                                                                   \
		uint##bits##_t *at = begin_store(ring, gpa, sizeof(value));                 \
                                                                                            \
		if (!at)                                                                    \
			return -1;                                                          \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                              \
		end_store(ring);                                                            \
		return 0;                                                                   \
	}

RING_ACCESS(16)
RING_ACCESS(32)
RING_ACCESS(64)

int dma_ring_read(struct dma_ring *ring, uint64_t gpa, void *to, size_t len)
{
	const void *at = dma_at(ring->dma, gpa, len);

	if (!at)
		return -1;
	note_ring(ring, gpa, (uint32_t)len, false);
	memcpy(to, at, len);
	/*
	 * Keep the compiler from reading guest memory again instead of using the copy: the guest may have changed its memory.
	 */
	__asm__ volatile("" ::: "memory");
	return 0;
}

/* ---- called by the observer ---- */

void dma_observe(struct dma *dma, const struct device_observer *observer)
{
	atomic_store(&dma->observer, observer);
	if (!observer)
		dma_let_go(dma);
	while (!observer && atomic_load(&dma->calling))
		sched_yield();
}

void dma_watch(struct dma *dma, uint64_t filter)
{
	atomic_store(&dma->watched, filter);
}

void dma_want(struct dma *dma, unsigned nth)
{
	dma_hold_want(&dma->hold, nth);
}

void dma_let_go(struct dma *dma)
{
	dma_hold_let_go(&dma->hold);
}

void dma_in_flight(struct dma *dma, const struct device_observer *observer)
{
	uint64_t watched = atomic_load(&dma->watched);

	pthread_mutex_lock(&dma->lock);
	for (const struct dma_flight *flight = dma->flights; flight; flight = flight->next)
		tell_flight(dma, observer, flight);
	for (const struct dma_ring *ring = dma->rings; ring; ring = ring->next) {
		uint64_t storing = atomic_load(&ring->storing), gpa = storing >> STORING_LEN_BITS;
		uint32_t len = storing & ((1u << STORING_LEN_BITS) - 1);

		if (storing && (device_filter(gpa, len) & watched))
			tell_ring(observer, ring, gpa, len, true);
	}
	pthread_mutex_unlock(&dma->lock);
}
