// SPDX-License-Identifier: GPL-2.0-or-later
/* A virtio entropy device: its worker fills the buffers of the guest's driver with bytes of getrandom(2). */
#include "hv/vmm/rng/virtio_rng.h"

#include <stdlib.h>
#include <sys/random.h>

enum { TYPE_ENTROPY = 4, CLASS_NONE = 0xff0000 };

/*
 * Maximum number of bytes that one request gets. The limit keeps a guest that requests gigabytes from occupying the worker. A
 * driver that needs more bytes makes another request. Linux's driver asks for 32 to 64 bytes. The limit is 256, because no
 * signal interrupts a getrandom() of up to 256 bytes (getrandom(2)).
 */
#define FILL_MAX 256

struct virtio_rng {
	struct worker *worker;
	struct virtio *virtio;
	struct virtq_request request; /* used by the worker */
};

/*
 * Fill the request's buffer, and return the number of bytes filled. The bytes pass through a buffer of the VMM, so that the
 * guest cannot make the host's getrandom() fault on guest memory.
 */
static uint32_t fill(struct virtq_request *rq)
{
	unsigned char bytes[FILL_MAX];
	size_t wanted = rq->write_len < FILL_MAX ? (size_t)rq->write_len : FILL_MAX;
	ssize_t got = getrandom(bytes, wanted, 0);

	if (got < 0)
		got = 0;
	virtq_begin_part(rq, DEVICE_RNG_FILL, 0, 0, (uint64_t)got);
	return (uint32_t)virtq_write(rq, 0, bytes, (size_t)got);
}

static void queue_ready(void *dev, unsigned queue)
{
	struct virtio_rng *rng = dev;
	struct virtq *q = virtio_queue(rng->virtio, queue);
	struct virtq_request *rq = &rng->request;

	while (virtq_pop(q, rq) > 0) {
		/* This queue takes only device-writable buffers (virtio 1.2, section 5.4.6.1). */
		if (rq->read_len || !rq->write_len) {
			virtq_drop(rq);
			virtq_break(q, "a request for entropy has no buffer to fill, or a part that the device cannot write");
			break;
		}
		virtq_push(rq, fill(rq));
	}
	virtq_interrupt(q);
}

static uint64_t features(void *dev)
{
	(void)dev;
	return 0;
}

static struct worker *worker(void *dev, unsigned queue)
{
	const struct virtio_rng *rng = dev;

	(void)queue;
	return rng->worker;
}

static const struct virtio_ops ops = {
	.name = "virtio-rng",
	.type = TYPE_ENTROPY,
	.class = CLASS_NONE,
	.features = features,
	.queue_ready = queue_ready,
	.worker = worker,
};

struct virtio_rng *virtio_rng_new(const struct virtio_bus *bus, unsigned index, struct err *err)
{
	struct virtio_rng *rng = calloc(1, sizeof(*rng));

	if (!rng) {
		err_set(err, EXIT_INTERNAL, "out of memory for the entropy device");
		return NULL;
	}
	rng->worker = worker_new(bus->workers, SANDBOX_RNG, "rng", err);
	if (rng->worker)
		rng->virtio = virtio_add(bus, &ops, rng, index, 1, err);
	if (rng->virtio)
		return rng;
	virtio_rng_free(rng);
	return NULL;
}

void virtio_rng_free(struct virtio_rng *rng)
{
	if (!rng)
		return;
	virtio_remove(rng->virtio);
	worker_free(rng->worker);
	free(rng);
}
