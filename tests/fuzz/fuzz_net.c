/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to a network card: frames of the guest, buffers for frames, and commands. The backend sends each frame back. The
 * first byte is the features that the driver takes of the first eight, the second those from bit 10 on, the third the core's.
 */
#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/virtio_net.h"
#include "tests/fuzz/rig.h"

static uint8_t kept[NET_FRAME_MAX];
static size_t kept_len;
static struct virtio_net_hdr_v1 kept_hdr;
static bool busy;

static void give(struct net_backend *b)
{
	if (kept_len && b->peer.receive(b->peer.ctx, &kept_hdr, kept, kept_len))
		kept_len = 0;
}

static void start(struct net_backend *b, uint64_t features)
{
	(void)features;
	fuzz_require(b->peer.receive && b->worker);
}

static void stop(struct net_backend *b)
{
	(void)b;
	kept_len = 0;
	busy = false;
}

static bool send_frame(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count)
{
	size_t len = 0;

	fuzz_require(count <= NET_PIECES_MAX);
	for (unsigned i = 0; i < count; i++) {
		fuzz_require(piece[i].iov_len <= sizeof(kept) - len);
		memcpy(kept + len, piece[i].iov_base, piece[i].iov_len);
		len += piece[i].iov_len;
	}
	fuzz_require(len >= NET_FRAME_MIN && len <= NET_FRAME_MAX);
	kept_len = len;
	kept_hdr = *hdr;
	give(b);
	/* A backend that is busy for one frame takes the next one after its sendable(). */
	busy = len % 5 == 0;
	return !busy;
}

static void sent(struct net_backend *b)
{
	b->peer.received(b->peer.ctx);
	if (!busy)
		return;
	busy = false;
	b->peer.sendable(b->peer.ctx);
}

static void free_backend(struct net_backend *b)
{
	free(b);
}

static const struct net_backend_ops ops = {
	.start = start, .stop = stop, .send = send_frame, .sent = sent, .resume = give, .free = free_backend};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig m;
	struct net_backend *backend;
	struct virtio_net *net;
	uint64_t features;

	if (size < 3)
		return 0;
	backend = calloc(1, sizeof(*backend));
	fuzz_require(backend);
	*backend = (struct net_backend){.ops = &ops, .offloads = UINT64_MAX, .mtu = 1500, .mac = {2}};
	features = data[0] | (uint64_t)data[1] << 10 | (uint64_t)data[2] << 26;
	kept_len = 0;
	rig_open(&m);
	net = virtio_net_new(&m.virtio, backend, 0, NULL);
	fuzz_require(net);
	rig_start(&m, features, 64);
	rig_requests(&m, features, 64, data + 3, size - 3);
	virtio_net_free(net);
	rig_close(&m);
	return 0;
}
