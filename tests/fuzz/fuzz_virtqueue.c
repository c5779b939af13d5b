/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtqueue whose memory is the input's. The first byte is the queue's size and the features, the next two say where the
 * rings are, then come 1 KiB of descriptors, rings and an indirect table, or less. What is left changes that memory between two
 * steps of the device, as a driver on another CPU may do at any time.
 */
#include "tests/fuzz/rig.h"

#define WORLD 0x1000u
#define WORLD_LEN 1024u
#define STEPS 600

struct world {
	atomic_bool broken;
	unsigned interrupts;
};

static void interrupt(void *ctx, unsigned queue)
{
	struct world *w = ctx;

	fuzz_require(queue == 3);
	w->interrupts++;
}

static void broken(void *ctx, unsigned queue, const char *why)
{
	struct world *w = ctx;

	fuzz_require(queue == 3 && why && why[0]);
	atomic_store(&w->broken, true);
}

/* The driver writes: where, and a byte. */
static void change(struct rig *m, const uint8_t **data, size_t *size)
{
	uint8_t *world = rig_at(m, WORLD, WORLD_LEN);

	if (*size < 3)
		return;
	world[((*data)[0] | (*data)[1] << 8) % WORLD_LEN] = (*data)[2];
	*data += 3;
	*size -= 3;
}

/* All that a request gives must be guest RAM. */
static void check_pieces(struct rig *m, const struct iovec *iov, unsigned count, uint64_t len)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *base = iov[i].iov_base;

		fuzz_require(base >= m->ram.host && iov[i].iov_len <= RIG_RAM);
		fuzz_require(base + iov[i].iov_len <= m->ram.host + RIG_RAM);
		sum += iov[i].iov_len;
	}
	fuzz_require(sum <= len);
}

static void serve(struct rig *m, struct virtq_request *rq, const uint8_t **data, size_t *size)
{
	struct iovec iov[VIRTQ_MAX_SIZE];
	uint8_t header[24] = {0};
	size_t got = virtq_read(rq, 0, header, sizeof(header));

	fuzz_require(rq->readable + rq->writable <= VIRTQ_MAX_SIZE && rq->readable + rq->writable > 0);
	fuzz_require(got == (rq->read_len < sizeof(header) ? rq->read_len : sizeof(header)));
	virtq_begin(rq, DEVICE_BLK_READ, header[0]);
	change(m, data, size);
	check_pieces(m, iov, virtq_iov(rq, false, header[1], UINT64_MAX, iov, VIRTQ_MAX_SIZE), rq->read_len);
	check_pieces(m, iov, virtq_iov(rq, true, header[2], header[3], iov, 1 + header[4] % 4), rq->write_len);
	got = virtq_write(rq, header[5], header, sizeof(header));
	fuzz_require(got <= rq->write_len);
	change(m, data, size);
	if (header[6] & 0x40) {
		virtq_drop(rq);
	} else if (header[6] & 0x80) {
		virtq_put(rq, (uint32_t)got);
		virtq_publish(rq->q);
	} else {
		virtq_push(rq, (uint32_t)got);
	}
}

static void run(struct rig *m, struct world *w, struct virtq *q, const uint8_t *data, size_t size)
{
	static struct virtq_request rq;

	for (unsigned step = 0; step < STEPS; step++) {
		int rc = virtq_pop(q, &rq);

		fuzz_require(rc >= -1 && rc <= 1);
		/* A queue that is broken gives nothing any more. */
		fuzz_require(!atomic_load(&w->broken) || rc == -1);
		if (rc < 0)
			break;
		if (rc == 0 && size < 3)
			break;
		if (rc > 0)
			serve(m, &rq, &data, &size);
		else
			change(m, &data, &size);
		virtq_interrupt(q);
		if (step % 7 == 6)
			virtq_kicks(q, step % 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig m;
	const struct device_request by = {.type = "virtio-fuzz", .queue = 3};
	struct world w = {0};
	const struct virtq_wiring wiring = {.interrupt = interrupt, .broken = broken, .ctx = &w, .device_broken = &w.broken};
	struct virtq_place place;
	struct virtq q;
	size_t len;

	if (size < 3)
		return 0;
	rig_open(&m);
	place = (struct virtq_place){.size = (uint16_t)(1u << data[0] % 9),
				     .desc = WORLD,
				     .avail = WORLD + data[1] * 2u,
				     .used = WORLD + data[2] * 4u,
				     .event_index = data[0] & 0x40,
				     .indirect = data[0] & 0x80};
	/* Rings that overlap each other, or reach the end of RAM. */
	if (data[0] & 0x20)
		place.used = RIG_RAM - data[2] * 4u;
	data += 3;
	size -= 3;
	len = size < WORLD_LEN ? size : WORLD_LEN;
	memcpy(rig_at(&m, WORLD, WORLD_LEN), data, len);
	virtq_init(&q, &m.dma, &by, &wiring);
	if (virtq_start(&q, &place) == 0) {
		run(&m, &w, &q, data + len, size - len);
		virtq_stop(&q);
	}
	rig_close(&m);
	return 0;
}
