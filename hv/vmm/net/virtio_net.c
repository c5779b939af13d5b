/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio network device: a worker moves frames between the queues of the guest's driver and the backend, which is the host's
 * side of the network (backend.h). Numbers in parentheses are sections of virtio 1.2.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <linux/virtio_ids.h>
#include <linux/virtio_net.h>

#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/control.h"
#include "hv/vmm/net/virtio_net.h"

enum { RX, TX, CONTROL, QUEUES };

#define HEADER sizeof(struct virtio_net_hdr_v1) /* bytes before each frame, with any negotiated features (5.1.6.1) */
#define SEND_BURST VIRTQ_MAX_SIZE		/* frames to send before the worker serves its other events */

/*
 * The highest number of receive buffers to collect for one frame. A driver that merges buffers offers at least 1518 bytes in
 * each, so 44 buffers have room for the largest frame. 64 is the next power of two.
 */
#define HELD_MAX 64

struct virtio_net {
	struct virtio *virtio;
	struct worker *worker;
	struct net_backend *backend;
	struct virtio_net_config config;
	int again_fd;	   /* eventfd: wakes the worker after a burst, because the transmit queue may have more frames */
	unsigned held_max; /* HELD_MAX, or 1 if the driver does not merge buffers */
	/*
	 * True from the activation of the device until the worker has started the backend, with `features`. A vCPU's thread
	 * activates the device. It cannot start the backend itself, because its confinement does not allow that.
	 */
	bool starting;
	uint64_t features;
	/*
	 * Receive buffers that were popped and not used yet: held[0] to held[held_count - 1]. The elements after these are free
	 * structs.
	 */
	struct virtq_request *held[HELD_MAX];
	unsigned held_count;
	uint64_t room; /* bytes of room in the held buffers */
	bool starved;  /* the backend waits for receive buffers */
	bool stopped;  /* the backend takes no frame of the guest for now */
	struct virtio_net_counts counts;
	struct virtq_request request; /* the request that is being served, of the transmit queue or the control queue */
	struct virtq_request requests[HELD_MAX];
};

/* ---- to the guest ---- */

/* Pop receive buffers until the held buffers have room for `need` bytes. Returns true if they have. */
static bool collect(struct virtio_net *net, struct virtq *q, uint64_t need)
{
	while (net->room < need && net->held_count < net->held_max) {
		struct virtq_request *rq = net->held[net->held_count];

		if (virtq_pop(q, rq) <= 0)
			return false;
		if (rq->read_len || rq->write_len < HEADER) {
			virtq_break(q, "a receive buffer has no room for a header, or has a part that the device cannot write");
			virtq_drop(rq);
			return false;
		}
		net->held_count++;
		net->room += rq->write_len;
	}
	return net->room >= need && !virtio_broken(net->virtio);
}

/* Returns the number of held buffers that `need` bytes fill. To be called after collect() has returned true for `need`. */
static unsigned buffers_for(const struct virtio_net *net, uint64_t need)
{
	unsigned n = 0;

	for (uint64_t room = 0; room < need; n++)
		room += net->held[n]->write_len;
	return n;
}

/* Remove the first `n` buffers from `held`, and move their structs to the free structs at the end of `held`. */
static void release(struct virtio_net *net, unsigned n)
{
	struct virtq_request *freed[HELD_MAX];

	memcpy(freed, net->held, n * sizeof(*freed));
	memmove(net->held, net->held + n, (HELD_MAX - n) * sizeof(*freed));
	memcpy(net->held + HELD_MAX - n, freed, n * sizeof(*freed));
	net->held_count -= n;
}

/* Fill the first `n` held buffers with the header and the frame, and publish them to the driver at the same time. */
static void fill(struct virtio_net *net, unsigned n, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	size_t done = 0;

	for (unsigned i = 0; i < n; i++) {
		struct virtq_request *rq = net->held[i];
		size_t header = i ? 0 : HEADER;
		size_t part = rq->write_len - header < len - done ? rq->write_len - header : len - done;

		net->room -= rq->write_len;
		virtq_begin_part(rq, DEVICE_NET_RECEIVE, 0, 0, header + part);
		virtq_write(rq, 0, hdr, header);
		virtq_write(rq, header, frame + done, part);
		virtq_put(rq, (uint32_t)(header + part));
		done += part;
	}
	virtq_publish(net->held[0]->q);
	release(net, n);
}

static bool receive(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	struct virtio_net *net = ctx;
	struct virtio_net_hdr_v1 header = *hdr;
	unsigned n;

	if (!collect(net, virtio_queue(net->virtio, RX), HEADER + len)) {
		net->starved = net->held_count < net->held_max;
		net->counts.no_fit += !net->starved;
		return !net->starved;
	}
	n = buffers_for(net, HEADER + len);
	header.num_buffers = htole16((uint16_t)n);
	/*
	 * Clear the flags if the driver did not negotiate VIRTIO_NET_F_GUEST_CSUM: the driver then expects no flags, but the
	 * host's tap marks frames whose checksum is valid (VIRTIO_NET_HDR_F_DATA_VALID) all the same.
	 */
	if (!(net->features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM)))
		header.flags = 0;
	fill(net, n, &header, frame, len);
	net->counts.received++;
	return true;
}

static void received(void *ctx)
{
	struct virtio_net *net = ctx;

	virtq_interrupt(virtio_queue(net->virtio, RX));
}

static void buffers_ready(struct virtio_net *net)
{
	if (!net->starved)
		return;
	net->starved = false;
	net->backend->ops->resume(net->backend);
}

/* ---- from the guest ---- */

/* Send the frame of a request. Returns true if the backend accepts another frame now. */
static bool send_frame(struct virtio_net *net, struct virtq_request *rq)
{
	struct iovec piece[NET_PIECES_MAX];
	struct virtio_net_hdr_v1 header;
	uint64_t len = rq->read_len - HEADER;
	unsigned count;

	if (len < NET_FRAME_MIN || len > NET_FRAME_MAX) {
		net->counts.bad_length++;
		return true;
	}
	virtq_read(rq, 0, &header, HEADER);
	virtq_begin(rq, DEVICE_NET_TRANSMIT, 0);
	count = virtq_iov(rq, false, HEADER, len, piece, NET_PIECES_MAX);
	net->counts.sent++;
	return net->backend->ops->send(net->backend, &header, piece, count);
}

/* Send up to SEND_BURST frames. Returns true if the queue may have more frames that can be sent now. */
static bool send_burst(struct virtio_net *net, struct virtq *q)
{
	struct virtq_request *rq = &net->request;
	unsigned n;

	for (n = 0; n < SEND_BURST && !net->stopped && virtq_pop(q, rq) > 0; n++) {
		if (rq->write_len || rq->read_len < HEADER) {
			virtq_break(q, "a transmit request has no header, or has a part that the device can write");
			virtq_drop(rq);
			break;
		}
		net->stopped = !send_frame(net, rq);
		virtq_push(rq, 0);
	}
	virtq_interrupt(q);
	return n == SEND_BURST && !net->stopped;
}

static void frames_ready(struct virtio_net *net)
{
	const struct net_backend_ops *ops = net->backend->ops;

	if (send_burst(net, virtio_queue(net->virtio, TX)))
		eventfd_write(net->again_fd, 1);
	if (ops->sent)
		ops->sent(net->backend);
}

static void sendable(void *ctx)
{
	struct virtio_net *net = ctx;

	net->stopped = false;
	frames_ready(net);
}

static void send_again(void *ctx, uint32_t events)
{
	struct virtio_net *net = ctx;
	eventfd_t count;

	(void)events;
	eventfd_read(net->again_fd, &count);
	frames_ready(net);
}

/* ---- the device ---- */

static void commands_ready(struct virtio_net *net)
{
	struct virtq *q = virtio_queue(net->virtio, CONTROL);

	while (virtq_pop(q, &net->request) > 0)
		net_control_serve(&net->request);
	virtq_interrupt(q);
}

static void net_queue_ready(void *dev, unsigned queue)
{
	struct virtio_net *net = dev;

	if (net->starting)
		net->backend->ops->start(net->backend, net->features);
	net->starting = false;
	switch (queue) {
	case RX:
		buffers_ready(net);
		break;
	case TX:
		frames_ready(net);
		break;
	case CONTROL:
		commands_ready(net);
		break;
	}
}

static uint64_t net_features(void *dev)
{
	const struct virtio_net *net = dev;

	return net->backend->offloads | NET_BIT(VIRTIO_NET_F_MAC) | NET_BIT(VIRTIO_NET_F_STATUS) |
	       NET_BIT(VIRTIO_NET_F_MRG_RXBUF) | NET_BIT(VIRTIO_NET_F_CTRL_VQ) | NET_BIT(VIRTIO_NET_F_CTRL_RX) |
	       NET_BIT(VIRTIO_NET_F_CTRL_MAC_ADDR) | (net->backend->mtu ? NET_BIT(VIRTIO_NET_F_MTU) : 0);
}

static void net_config_read(void *dev, size_t offset, void *buf, size_t len)
{
	const struct virtio_net *net = dev;

	memcpy(buf, (const uint8_t *)&net->config + offset, len);
}

static void net_activate(void *dev, uint64_t features)
{
	struct virtio_net *net = dev;

	/*
	 * Ignore segmentation offload without checksum offload. Segmentation needs checksums, and a driver must not negotiate
	 * it alone (5.1.3.1).
	 */
	if (!(features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM)))
		features &= ~(NET_BIT(VIRTIO_NET_F_GUEST_TSO4) | NET_BIT(VIRTIO_NET_F_GUEST_TSO6));
	net->held_max = features & NET_BIT(VIRTIO_NET_F_MRG_RXBUF) ? HELD_MAX : 1;
	net->features = features;
	net->starting = true;
}

static void net_reset(void *dev)
{
	struct virtio_net *net = dev;

	net->starting = false;
	net->backend->ops->stop(net->backend);
	for (unsigned i = 0; i < net->held_count; i++)
		virtq_drop(net->held[i]);
	net->held_count = 0;
	net->room = 0;
	net->starved = false;
	net->stopped = false;
}

static struct worker *net_worker(void *dev, unsigned queue)
{
	const struct virtio_net *net = dev;

	(void)queue;
	return net->worker;
}

static const struct virtio_ops net_ops = {
	.name = "virtio-net",
	.type = VIRTIO_ID_NET,
	.class = 0x020000, /* Ethernet */
	.config_size = sizeof(struct virtio_net_config),
	.features = net_features,
	.config_read = net_config_read,
	.activate = net_activate,
	.queue_ready = net_queue_ready,
	.reset = net_reset,
	.worker = net_worker,
};

static void fill_config(struct virtio_net *net)
{
	memcpy(net->config.mac, net->backend->mac, sizeof(net->config.mac));
	net->config.status = htole16(VIRTIO_NET_S_LINK_UP);
	net->config.max_virtqueue_pairs = htole16(1);
	net->config.mtu = htole16(net->backend->mtu);
}

struct virtio_net *virtio_net_new(const struct virtio_bus *bus, struct net_backend *backend, unsigned index, struct err *err)
{
	struct virtio_net *net = calloc(1, sizeof(*net));
	char name[16];

	if (!net) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		backend->ops->free(backend);
		return NULL;
	}
	net->backend = backend;
	fill_config(net);
	for (unsigned i = 0; i < HELD_MAX; i++)
		net->held[i] = &net->requests[i];
	snprintf(name, sizeof(name), "net %u", index);
	net->again_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (net->again_fd < 0) {
		err_set(err, EXIT_INTERNAL, "virtio-net: cannot make an eventfd: %m");
		goto fail;
	}
	net->worker = worker_new(bus->workers, SANDBOX_NET, name, err);
	if (!net->worker || worker_watch(net->worker, net->again_fd, EPOLLIN, send_again, net, err) < 0)
		goto fail;
	backend->worker = net->worker;
	backend->peer = (struct net_peer){.receive = receive, .received = received, .sendable = sendable, .ctx = net};
	net->virtio = virtio_add(bus, &net_ops, net, index, QUEUES, err);
	if (!net->virtio)
		goto fail;
	return net;
fail:
	virtio_net_free(net);
	return NULL;
}

void virtio_net_free(struct virtio_net *net)
{
	if (!net)
		return;
	net->backend->ops->stop(net->backend);
	virtio_remove(net->virtio);
	worker_free(net->worker);
	net->backend->ops->free(net->backend);
	if (net->again_fd >= 0)
		close(net->again_fd);
	free(net);
}

struct virtio_net_counts virtio_net_counts(const struct virtio_net *net)
{
	return net->counts;
}
