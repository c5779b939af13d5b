// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves the queues of the socket device. One worker serves all three queues. */
#include "hv/vmm/vsock/virtio_vsock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/vmm.h"
#include "hv/vmm/vsock/host.h"
#include "hv/vmm/vsock/streams.h"

enum { TYPE_SOCKET = 19, CLASS_NONE = 0xff0000 };
enum { QUEUE_RECEIVE, QUEUE_TRANSMIT, QUEUE_EVENT, QUEUES }; /* in the order of virtio 1.2, 5.10.2 */

struct virtio_vsock {
	struct worker *worker;
	struct virtio *virtio;
	struct vsock_streams *streams;
	uint64_t guest_cid;
	/* Used by the worker only. */
	struct virtq_request request;
	unsigned char payload[VSOCK_BUFFER];
};

/* Pass one packet to the driver. Returns false if there is no packet, or no buffer for it. */
static bool send_packet(struct virtio_vsock *v)
{
	struct virtq *q = virtio_queue(v->virtio, QUEUE_RECEIVE);
	struct virtq_request *rq = &v->request;
	struct vsock_header h;
	uint64_t room;

	if (!vsock_streams_due(v->streams) || virtq_pop(q, rq) <= 0)
		return false;
	if (rq->read_len || rq->write_len < sizeof(h)) {
		virtq_drop(rq);
		virtq_break(q, "a receive buffer has no room for a header, or has a part that the device cannot write");
		return false;
	}
	room = rq->write_len - sizeof(h);
	if (!vsock_streams_give(v->streams, &h, v->payload, room < VSOCK_BUFFER ? (size_t)room : VSOCK_BUFFER)) {
		virtq_unpop(rq);
		return false;
	}
	virtq_begin_part(rq, DEVICE_VSOCK_RECEIVE, 0, 0, sizeof(h) + h.len);
	virtq_write(rq, 0, &h, sizeof(h));
	virtq_write(rq, sizeof(h), v->payload, h.len);
	virtq_push(rq, (uint32_t)sizeof(h) + h.len);
	return true;
}

/* Take one packet from the driver. Returns false if there is no packet, or if the device cannot take one now. */
static bool take_packet(struct virtio_vsock *v)
{
	struct virtq *q = virtio_queue(v->virtio, QUEUE_TRANSMIT);
	struct virtq_request *rq = &v->request;
	struct vsock_header h;
	size_t len;

	if (vsock_streams_full(v->streams) || virtq_pop(q, rq) <= 0)
		return false;
	if (rq->write_len || virtq_read(rq, 0, &h, sizeof(h)) < sizeof(h)) {
		virtq_drop(rq);
		virtq_break(q, "a packet of the guest has no header, or has a part that the device can write");
		return false;
	}
	len = h.len < VSOCK_BUFFER ? h.len : VSOCK_BUFFER;
	virtq_begin_part(rq, DEVICE_VSOCK_TRANSMIT, 0, sizeof(h) + len, 0);
	len = virtq_read(rq, sizeof(h), v->payload, len);
	virtq_push(rq, 0);
	vsock_streams_take(v->streams, &h, v->payload, len);
	return true;
}

/*
 * Move packets in both directions until neither direction can continue. A packet in one direction can free buffer space for the
 * other direction, or cause a reply.
 */
static void serve(void *ctx)
{
	struct virtio_vsock *v = ctx;
	bool more = true;

	while (more) {
		more = take_packet(v);
		more |= send_packet(v);
	}
	virtq_interrupt(virtio_queue(v->virtio, QUEUE_TRANSMIT));
	virtq_interrupt(virtio_queue(v->virtio, QUEUE_RECEIVE));
}

static void queue_ready(void *dev, unsigned queue)
{
	/*
	 * The event queue would report a migration to another host. The machine never migrates, so the buffers of this queue
	 * are not used.
	 */
	if (queue != QUEUE_EVENT)
		serve(dev);
}

static void reset(void *dev)
{
	const struct virtio_vsock *v = dev;

	vsock_streams_reset(v->streams);
}

static void config_read(void *dev, size_t offset, void *buf, size_t len)
{
	const struct virtio_vsock *v = dev;

	memcpy(buf, (const unsigned char *)&v->guest_cid + offset, len);
}

static uint64_t features(void *dev)
{
	(void)dev;
	return 0; /* Offer no feature bits: such a device has stream sockets (virtio 1.2, section 5.10.3). */
}

static struct worker *worker(void *dev, unsigned queue)
{
	const struct virtio_vsock *v = dev;

	(void)queue;
	return v->worker;
}

static const struct virtio_ops ops = {
	.name = "virtio-vsock",
	.type = TYPE_SOCKET,
	.class = CLASS_NONE,
	.config_size = sizeof(uint64_t),
	.features = features,
	.config_read = config_read,
	.queue_ready = queue_ready,
	.reset = reset,
	.worker = worker,
};

/* Tell the user the socket's path. Called only for the default path, which the user did not choose. */
static void tell_path(const struct vmm_messages *messages, const char *path)
{
	char line[VSOCK_PATH_MAX + 64];

	snprintf(line, sizeof(line), "programs of the host reach the guest's vsock by the socket %s", path);
	if (messages->message)
		messages->message(messages->ctx, line);
}

static int start(struct virtio_vsock *v, const struct virtio_bus *bus, const struct vmm_config *config, unsigned index,
		 struct err *err)
{
	const struct vsock_wake wake = {.ready = serve, .ctx = v};
	const char *path = config->vsock_socket;
	char own[VSOCK_PATH_MAX];

	if (!path && vsock_default_path(config->vsock_cid, own, err) < 0)
		return -1;
	v->guest_cid = config->vsock_cid;
	v->worker = worker_new(bus->workers, SANDBOX_VSOCK, "vsock", err);
	if (!v->worker)
		return -1;
	v->streams = vsock_streams_new(v->worker, config->vsock_cid, path ? path : own, &wake, err);
	if (!v->streams)
		return -1;
	v->virtio = virtio_add(bus, &ops, v, index, QUEUES, err);
	if (!v->virtio)
		return -1;
	if (!path)
		tell_path(&config->messages, own);
	return 0;
}

struct virtio_vsock *virtio_vsock_new(const struct virtio_bus *bus, const struct vmm_config *config, unsigned index,
				      struct err *err)
{
	struct virtio_vsock *v = calloc(1, sizeof(*v));

	if (!v) {
		err_set(err, EXIT_INTERNAL, "out of memory for the vsock device");
		return NULL;
	}
	if (start(v, bus, config, index, err) == 0)
		return v;
	virtio_vsock_free(v);
	return NULL;
}

void virtio_vsock_free(struct virtio_vsock *v)
{
	if (!v)
		return;
	virtio_remove(v->virtio);
	vsock_streams_free(v->streams);
	worker_free(v->worker);
	free(v);
}
