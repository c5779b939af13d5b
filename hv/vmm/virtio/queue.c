/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split virtqueue from the device's side: takes chains of descriptors from the available ring, checks them, and returns them
 * by the used ring. Numbers in parentheses are sections of virtio 1.2.
 */
#include "hv/vmm/virtio/queue.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The layout of the split ring (virtio 1.2, 2.7.5 to 2.7.8). All fields are little-endian. */
#define DESC_LEN 16
#define DESC_NEXT 1
#define DESC_WRITE 2
#define DESC_INDIRECT 4
#define AVAIL_NO_INTERRUPT 1
#define USED_NO_NOTIFY 1

struct desc {
	uint64_t gpa;
	uint32_t len;
	uint16_t flags, next;
};

_Static_assert(sizeof(struct desc) == DESC_LEN, "a descriptor's layout");

/* ---- GPAs of the rings' fields ---- */

static uint64_t avail_flags(const struct virtq *q)
{
	return q->place.avail;
}

static uint64_t avail_index(const struct virtq *q)
{
	return q->place.avail + 2;
}

static uint64_t avail_entry(const struct virtq *q, uint16_t i)
{
	return q->place.avail + 4 + 2u * (i & (q->place.size - 1u));
}

/* Returns the GPA of used_event: the used index at which the driver wants the next interrupt. */
static uint64_t used_event(const struct virtq *q)
{
	return q->place.avail + 4 + 2u * q->place.size;
}

static uint64_t used_flags(const struct virtq *q)
{
	return q->place.used;
}

static uint64_t used_index(const struct virtq *q)
{
	return q->place.used + 2;
}

static uint64_t used_entry(const struct virtq *q, uint16_t i)
{
	return q->place.used + 4 + 8u * (i & (q->place.size - 1u));
}

/* Returns the GPA of avail_event: the available index at which the device wants the next notification. */
static uint64_t avail_event(const struct virtq *q)
{
	return q->place.used + 4 + 8u * q->place.size;
}

/* ---- start and stop ---- */

void virtq_init(struct virtq *q, struct dma *dma, const struct device_request *by, const struct virtq_wiring *wiring)
{
	memset(q, 0, sizeof(*q));
	q->dma = dma;
	q->by = *by;
	q->wiring = *wiring;
}

static bool ring_is_ram(const struct virtq *q, uint64_t gpa, size_t len, unsigned align)
{
	return gpa % align == 0 && dma_at(q->dma, gpa, len);
}

int virtq_start(struct virtq *q, const struct virtq_place *place)
{
	size_t n = place->size;

	if (!n || n > VIRTQ_MAX_SIZE || (n & (n - 1)) || !ring_is_ram(q, place->desc, n * DESC_LEN, 16) ||
	    !ring_is_ram(q, place->avail, 6 + 2 * n, 2) || !ring_is_ram(q, place->used, 6 + 8 * n, 4))
		return -1;
	q->place = *place;
	q->epoch++;
	q->kicks_off = false;
	q->next_avail = q->seen_avail = q->next_used = q->published = q->signalled = 0;
	q->wanted = VIRTQ_NOT_ASKED;
	q->by.tid = 0;
	dma_ring_add(q->dma, &q->ring, &q->by);
	return 0;
}

void virtq_stop(struct virtq *q)
{
	if (!q->place.size)
		return;
	dma_ring_remove(&q->ring);
	q->place.size = 0;
	q->epoch++;
}

void virtq_save(const struct virtq *q, struct virtq_state *out)
{
	*out = (struct virtq_state){
		.wanted = q->wanted,
		.next_avail = q->next_avail,
		.next_used = q->next_used,
		.published = q->published,
		.signalled = q->signalled,
		.kicks_off = q->kicks_off,
	};
}

bool virtq_resume(struct virtq *q, const struct virtq_state *state)
{
	if (state->wanted > VIRTQ_NOT_ASKED || state->kicks_off > 1)
		return false;
	q->wanted = state->wanted;
	q->next_avail = q->seen_avail = state->next_avail;
	q->next_used = state->next_used;
	q->published = state->published;
	q->signalled = state->signalled;
	q->kicks_off = state->kicks_off;
	return true;
}

void virtq_hold(struct virtq *q, bool on)
{
	q->held = on;
}

static bool is_standing(const struct virtq *q)
{
	return q->wiring.standing && atomic_load(q->wiring.standing);
}

bool virtq_is_held(const struct virtq *q)
{
	return q->held || is_standing(q);
}

void virtq_break(struct virtq *q, const char *why)
{
	q->wiring.broken(q->wiring.ctx, q->by.queue, why);
}

static int broken(struct virtq *q, const char *why)
{
	virtq_break(q, why);
	return -1;
}

/* ---- popping a request ---- */

/*
 * Append a segment. Readable segments must come before writable segments (2.7.4.2). Returns NULL, or what is wrong with the
 * chain.
 */
static const char *add_segment(struct virtq_request *rq, const struct desc *d)
{
	unsigned i = rq->readable + rq->writable;
	bool write = d->flags & DESC_WRITE;
	void *host = dma_at(rq->q->dma, d->gpa, d->len);

	if (i == VIRTQ_MAX_SIZE)
		return "the chain has a loop or is too long";
	if (!d->len)
		return "a descriptor has length 0";
	if (!host)
		return "a descriptor's buffer is not in guest RAM";
	if (!write && rq->writable)
		return "a readable descriptor follows a writable one";
	rq->segment[i] = (struct device_segment){.gpa = d->gpa, .len = d->len, .write = write, .descriptor = (uint16_t)i};
	rq->iov[i] = (struct iovec){host, d->len};
	if (write) {
		rq->writable++;
		rq->write_len += d->len;
	} else {
		rq->readable++;
		rq->read_len += d->len;
	}
	return NULL;
}

/* A table of descriptors: the queue's own, or an indirect table. */
struct table {
	uint64_t gpa;
	uint32_t count;
	bool indirect;
};

static const char *enter_indirect(const struct virtq *q, struct table *table, const struct desc *d)
{
	if (!q->place.indirect)
		return "the driver uses an indirect table, but has not negotiated that";
	if (table->indirect)
		return "an indirect table leads to another indirect table";
	if (d->flags & DESC_NEXT)
		return "a descriptor follows an indirect table";
	if (!d->len || d->len % DESC_LEN)
		return "an indirect table's length is no multiple of a descriptor's length";
	*table = (struct table){d->gpa, d->len / DESC_LEN, true};
	return NULL;
}

/*
 * Walk the chain of a request. Each iteration adds a segment, or enters the one indirect table that a chain may have, so the
 * loop ends after at most VIRTQ_MAX_SIZE + 2 iterations. Returns NULL, or what is wrong with the chain.
 */
static const char *walk(struct virtq *q, struct virtq_request *rq)
{
	struct table table = {q->place.desc, q->place.size, false};
	uint16_t i = rq->head;
	const char *why;

	for (;;) {
		struct desc d;

		if (i >= table.count)
			return "the number of a descriptor is beyond the end of its table";
		if (dma_ring_read(&q->ring, table.gpa + (uint64_t)i * DESC_LEN, &d, sizeof(d)) < 0)
			return "an indirect table is not in guest RAM";
		if (d.flags & DESC_INDIRECT) {
			why = enter_indirect(q, &table, &d);
			i = 0;
		} else {
			why = add_segment(rq, &d);
			if (!why && !(d.flags & DESC_NEXT))
				return NULL;
			i = d.next;
		}
		if (why)
			return why;
	}
}

static void load(struct virtq *q, uint64_t gpa, uint16_t *value)
{
	/* Cannot fail: virtq_start() checked the rings, and RAM is never removed. */
	if (dma_ring_load16(&q->ring, gpa, value) < 0)
		*value = 0;
}

static bool has_more(struct virtq *q)
{
	load(q, avail_index(q), &q->seen_avail);
	return q->seen_avail != q->next_avail;
}

/*
 * Ask the driver to notify the device of the next entry, and return true if the ring has an entry already. The driver may have
 * added an entry before it could see the new event index, so read the available index again afterwards. Without event indices
 * the driver notifies the device of each entry, so nothing needs to be asked.
 */
static bool has_more_after_asking(struct virtq *q)
{
	if (q->kicks_off || !q->place.event_index || q->wanted == q->next_avail)
		return false;
	q->wanted = q->next_avail;
	dma_ring_store16(&q->ring, avail_event(q), q->next_avail);
	return has_more(q);
}

int virtq_pop(struct virtq *q, struct virtq_request *rq)
{
	const char *why;

	if (!q->place.size || *q->wiring.device_broken)
		return -1;
	if (is_standing(q)) {
		q->wiring.left(q->wiring.ctx, q->by.queue);
		return 0;
	}
	if (q->held || (q->seen_avail == q->next_avail && !has_more(q) && !has_more_after_asking(q)))
		return 0;
	if ((uint16_t)(q->seen_avail - q->next_avail) > q->place.size)
		return broken(q, "the available index is out of range");
	rq->q = q;
	rq->epoch = q->epoch;
	rq->readable = rq->writable = 0;
	rq->read_len = rq->write_len = 0;
	rq->in_flight = false;
	load(q, avail_entry(q, q->next_avail), &rq->head);
	why = walk(q, rq);
	if (why)
		return broken(q, why);
	q->next_avail++;
	return 1;
}

void virtq_unpop(struct virtq_request *rq)
{
	virtq_drop(rq);
	if (rq->epoch == rq->q->epoch)
		rq->q->next_avail--;
}

void virtq_kicks(struct virtq *q, bool on)
{
	if (!q->place.size || q->kicks_off == !on)
		return;
	q->kicks_off = !on;
	/*
	 * With event indices there is nothing to store: while notifications are off, has_more_after_asking() does not advance
	 * the event index, so the driver sends none.
	 */
	if (!q->place.event_index)
		dma_ring_store16(&q->ring, used_flags(q), on ? 0 : USED_NO_NOTIFY);
}

/* ---- the memory of a request ---- */

static void name_thread(struct device_request *by)
{
	if (by->tid)
		return;
	by->tid = gettid();
	pthread_getname_np(pthread_self(), by->thread, sizeof(by->thread));
}

/*
 * Shorten the segments [first, end) to `len` bytes in all: the bytes that the device will access, and that the detector may
 * report.
 */
static void shorten(struct virtq_request *rq, unsigned first, unsigned end, uint64_t len)
{
	for (unsigned i = first; i < end; i++) {
		struct device_segment *s = &rq->segment[i];

		if (s->len > len)
			s->len = (uint32_t)len;
		len -= s->len;
	}
}

static void begin(struct virtq_request *rq, enum device_op op, uint64_t sector, unsigned count)
{
	struct virtq *q = rq->q;

	name_thread(&q->by);
	rq->flight.by = q->by;
	rq->flight.by.head = rq->head;
	rq->flight.by.op = op;
	rq->flight.by.sector = sector;
	rq->flight.segments = rq->segment;
	rq->flight.count = count;
	rq->in_flight = true;
	dma_begin(q->dma, &rq->flight);
}

static void shorten_both(struct virtq_request *rq, uint64_t read_len, uint64_t write_len)
{
	shorten(rq, 0, rq->readable, read_len);
	shorten(rq, rq->readable, rq->readable + rq->writable, write_len);
}

void virtq_begin_part(struct virtq_request *rq, enum device_op op, uint64_t sector, uint64_t read_len, uint64_t write_len)
{
	shorten_both(rq, read_len, write_len);
	begin(rq, op, sector, rq->readable + rq->writable);
}

void virtq_begin_status(struct virtq_request *rq, enum device_op op, uint64_t sector, uint64_t read_len, uint64_t write_len)
{
	unsigned count = rq->readable + rq->writable;
	struct device_segment status = rq->segment[count - 1];

	status.gpa += status.len - 1;
	status.len = 1;
	shorten_both(rq, read_len, write_len);
	if (write_len < rq->write_len)
		rq->segment[count++] = status;
	begin(rq, op, sector, count);
}

void virtq_begin(struct virtq_request *rq, enum device_op op, uint64_t sector)
{
	virtq_begin_part(rq, op, sector, rq->read_len, rq->write_len);
}

unsigned virtq_iov(struct virtq_request *rq, bool writable, uint64_t offset, uint64_t len, struct iovec *iov, unsigned max)
{
	unsigned i = writable ? rq->readable : 0, end = rq->readable + (writable ? rq->writable : 0), n = 0;

	for (; i < end && len && n < max; i++) {
		struct iovec part = rq->iov[i];

		if (offset >= part.iov_len) {
			offset -= part.iov_len;
			continue;
		}
		part.iov_base = (uint8_t *)part.iov_base + offset;
		part.iov_len -= offset;
		offset = 0;
		if (part.iov_len > len)
			part.iov_len = len;
		len -= part.iov_len;
		iov[n++] = part;
	}
	return n;
}

/*
 * If `to` is not NULL, copy up to `len` bytes of the readable or writable part, from `offset` on, to `to`. Otherwise copy up to
 * `len` bytes from `from` to that part. Returns the number of bytes copied.
 */
static size_t copy(struct virtq_request *rq, bool writable, uint64_t offset, uint8_t *to, const uint8_t *from, size_t len)
{
	size_t done = 0;
	struct iovec iov;

	while (done < len && virtq_iov(rq, writable, offset + done, len - done, &iov, 1)) {
		memcpy(to ? to + done : iov.iov_base, from ? from + done : iov.iov_base, iov.iov_len);
		done += iov.iov_len;
	}
	return done;
}

size_t virtq_read(struct virtq_request *rq, uint64_t offset, void *buf, size_t len)
{
	return copy(rq, false, offset, buf, NULL, len);
}

size_t virtq_write(struct virtq_request *rq, uint64_t offset, const void *buf, size_t len)
{
	return copy(rq, true, offset, NULL, buf, len);
}

/* ---- returning a request ---- */

void virtq_drop(struct virtq_request *rq)
{
	if (rq->in_flight)
		dma_end(rq->q->dma, &rq->flight);
	rq->in_flight = false;
}

void virtq_put(struct virtq_request *rq, uint32_t written)
{
	struct virtq *q = rq->q;
	uint64_t entry = used_entry(q, q->next_used);

	virtq_drop(rq);
	if (rq->epoch != q->epoch)
		return;
	dma_ring_store32(&q->ring, entry, rq->head);
	dma_ring_store32(&q->ring, entry + 4, written);
	q->next_used++;
}

void virtq_publish(struct virtq *q)
{
	if (!q->place.size || q->published == q->next_used)
		return;
	q->published = q->next_used;
	dma_ring_store16(&q->ring, used_index(q), q->published);
	/* virtq_interrupt() computes published - signalled in 16 bits. Call it before this difference wraps. */
	if ((uint16_t)(q->published - q->signalled) >= 0x8000)
		virtq_interrupt(q);
}

void virtq_push(struct virtq_request *rq, uint32_t written)
{
	virtq_put(rq, written);
	virtq_publish(rq->q);
}

/*
 * Returns true if the driver wants an interrupt now (2.7.7.2). The caller must have stored the used index before this function
 * loads the driver's event index.
 */
static bool wants_interrupt(struct virtq *q)
{
	uint16_t value;

	if (!q->place.event_index) {
		load(q, avail_flags(q), &value);
		return !(value & AVAIL_NO_INTERRUPT);
	}
	load(q, used_event(q), &value);
	return (uint16_t)(q->published - value - 1) < (uint16_t)(q->published - q->signalled);
}

void virtq_interrupt(struct virtq *q)
{
	bool wanted;

	if (!q->place.size || q->published == q->signalled)
		return;
	wanted = wants_interrupt(q);
	q->signalled = q->published;
	if (wanted)
		q->wiring.interrupt(q->wiring.ctx, q->by.queue);
}
