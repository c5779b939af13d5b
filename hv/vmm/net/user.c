// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * User-mode networking: the run's side of its network process (process.h), which makes the sockets for the guest. Frames are
 * messages (wire.h) to and from the network process.
 *
 * Back-pressure: while the guest has no room, messages of the network process stay in the socket. When the socket is full, the
 * network process does not read its own sockets. While the network process does not read messages, one frame of the guest waits
 * here, and the device takes no more frames from its queue.
 *
 * The network process is not trusted, because it parses the guest's frames. A malformed message from it, or its end, ends the
 * guest's network, and the user gets a message.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "hv/sandbox/helper.h"
#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/process.h"
#include "hv/vmm/net/slirp.h"
#include "hv/vmm/net/wire.h"

#define BURST 64 /* messages to pass to the guest before the worker serves its other events */
/*
 * How long to wait for the network process to end, in ms. The process ends within milliseconds, unless it loops or the host is
 * overloaded.
 */
#define END_MS 2000
/*
 * How long to wait for the last output of a network process whose socket is closed, in ms. After a crash, the socket is closed
 * some milliseconds before waitid() reports the end of the process.
 */
#define WORDS_MS 100

struct net_user {
	struct net_backend base;
	struct vmm_messages messages;
	struct helper process;
	bool started;
	bool fallen; /* the process has ended, or sent a malformed message: the guest has no network */
	uint64_t features;
	uint32_t generation;
	/* A message that waits for room in the socket; 0 bytes: none. */
	size_t out_len;
	uint8_t out[NET_MESSAGE_MAX];
	/*
	 * A message that the guest had no room for; 0 bytes: none. The buffer is one byte larger than the longest message, so
	 * that a longer message is detected.
	 */
	size_t in_len;
	union {
		struct net_header header;
		uint8_t bytes[NET_MESSAGE_MAX + 1];
	} in;
};

static struct net_user *user_of(struct net_backend *b)
{
	return (struct net_user *)b;
}

static void serve_process(void *ctx, uint32_t events);

/* Have the worker watch the socket for the events that can be handled now. */
static void watch(struct net_user *u)
{
	uint32_t events = (u->in_len ? 0 : EPOLLIN) | (u->out_len ? EPOLLOUT : 0);

	if (!u->started || u->fallen || !events)
		worker_unwatch(u->base.worker, u->process.socket);
	else
		worker_watch(u->base.worker, u->process.socket, events, serve_process, u, NULL);
}

/* End the guest's network, and tell the user the reason `why` and the last output of the network process. */
static void fall(struct net_user *u, const char *why)
{
	char words[320], line[512];

	if (u->fallen)
		return;
	u->fallen = true;
	u->in_len = u->out_len = 0;
	watch(u);
	helper_last_words(&u->process, WORDS_MS, words, sizeof(words));
	snprintf(line, sizeof(line), "the guest has lost its network: %s%s%s", why, words[0] ? "; " : "", words);
	if (u->messages.message)
		u->messages.message(u->messages.ctx, line);
}

/* ---- to the process ---- */

/*
 * Try to send the message in `out`. Errors other than a full socket are ignored: the next read detects that the process has
 * ended.
 */
static void flush(struct net_user *u)
{
	if (!u->out_len || (write(u->process.socket, u->out, u->out_len) < 0 && errno == EAGAIN))
		return;
	u->out_len = 0;
}

static void copy_pieces(uint8_t *to, const struct iovec *piece, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		memcpy(to, piece[i].iov_base, piece[i].iov_len);
		to += piece[i].iov_len;
	}
}

static bool user_send(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count)
{
	struct net_user *u = user_of(b);
	struct net_header header = {.kind = NET_MESSAGE_FRAME, .generation = u->generation, .offload = *hdr};
	struct iovec parts[NET_PIECES_MAX + 1] = {{&header, sizeof(header)}};
	size_t len = sizeof(header);

	if (u->fallen || u->out_len) {
		b->dropped++;
		return !u->out_len;
	}
	for (unsigned i = 0; i < count; i++) {
		parts[i + 1] = piece[i];
		len += piece[i].iov_len;
	}
	if (writev(u->process.socket, parts, (int)count + 1) >= 0)
		return true;
	if (errno != EAGAIN) {
		b->dropped++;
		return true;
	}
	memcpy(u->out, &header, sizeof(header));
	copy_pieces(u->out + sizeof(header), piece, count);
	u->out_len = len;
	watch(u);
	return false;
}

/* ---- from the process ---- */

/*
 * Returns true if the guest's driver has negotiated the offloads that the frame's header asks for. A network process that a
 * guest has taken over could send any header.
 */
static bool offload_allowed(const struct net_user *u, const struct virtio_net_hdr_v1 *hdr, size_t len)
{
	uint64_t gso = hdr->gso_type == VIRTIO_NET_HDR_GSO_TCPV4   ? NET_BIT(VIRTIO_NET_F_GUEST_TSO4)
		       : hdr->gso_type == VIRTIO_NET_HDR_GSO_TCPV6 ? NET_BIT(VIRTIO_NET_F_GUEST_TSO6)
								   : 0;

	if (hdr->flags & ~(VIRTIO_NET_HDR_F_DATA_VALID | VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
	    (hdr->flags && !(u->features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM))))
		return false;
	if (hdr->gso_type == VIRTIO_NET_HDR_GSO_NONE)
		return true;
	return u->features & gso && le16toh(hdr->hdr_len) < len && le16toh(hdr->gso_size) && le16toh(hdr->csum_start) < len;
}

/*
 * Returns true if the message of `len` bytes in `in` is a valid frame. The header of a frame for an earlier driver is not
 * checked, because that frame is dropped.
 */
static bool is_frame(const struct net_user *u, size_t len)
{
	return len >= sizeof(u->in.header) + NET_FRAME_MIN && len <= NET_MESSAGE_MAX &&
	       u->in.header.kind == NET_MESSAGE_FRAME &&
	       (u->in.header.generation != u->generation ||
		offload_allowed(u, &u->in.header.offload, len - sizeof(u->in.header)));
}

/* Pass the frame in `in` to the guest. Returns false if the guest has no room; the frame then stays in `in`. */
static bool give(struct net_user *u)
{
	size_t header = sizeof(u->in.header);

	if (u->in.header.generation == u->generation &&
	    !u->base.peer.receive(u->base.peer.ctx, &u->in.header.offload, u->in.bytes + header, u->in_len - header))
		return false;
	u->in_len = 0;
	return true;
}

/* Read one message, and pass it to the guest. Returns true if the caller should try to read another message. */
static bool take(struct net_user *u)
{
	ssize_t n = read(u->process.socket, &u->in, sizeof(u->in));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		fall(u, "its network process has ended");
	else if (!is_frame(u, (size_t)n))
		fall(u, "its network process sent an invalid message");
	else
		u->in_len = (size_t)n;
	return u->in_len && give(u);
}

static void serve_process(void *ctx, uint32_t events)
{
	struct net_user *u = ctx;
	bool was_full = u->out_len;
	unsigned n = 0;

	(void)events;
	flush(u);
	while (!u->in_len && n < BURST && take(u))
		n++;
	if (n)
		u->base.peer.received(u->base.peer.ctx);
	watch(u);
	if (was_full && !u->out_len)
		u->base.peer.sendable(u->base.peer.ctx);
}

/* ---- struct net_backend_ops ---- */

static void user_start(struct net_backend *b, uint64_t features)
{
	struct net_user *u = user_of(b);
	struct net_start start = {.header = {.kind = NET_MESSAGE_START, .generation = ++u->generation}, .features = features};

	u->features = features;
	u->started = true;
	memcpy(u->out, &start, sizeof(start));
	u->out_len = u->fallen ? 0 : sizeof(start);
	flush(u);
	watch(u);
}

static void user_stop(struct net_backend *b)
{
	struct net_user *u = user_of(b);

	u->started = false;
	u->in_len = u->out_len = 0;
	watch(u);
}

static void user_resume(struct net_backend *b)
{
	struct net_user *u = user_of(b);

	if (!u->in_len || !give(u))
		return;
	b->peer.received(b->peer.ctx);
	watch(u);
}

static void user_free(struct net_backend *b)
{
	struct net_user *u = user_of(b);

	helper_stop(&u->process, END_MS);
	free(u);
}

static const struct net_backend_ops user_ops = {
	.start = user_start,
	.stop = user_stop,
	.send = user_send,
	.resume = user_resume,
	.free = user_free,
};

/* ---- making one ---- */

/* Wait for the first message of the process, which says whether it can work. Returns 0, or -1 with `err` set. */
static int await_ready(const struct helper *process, struct err *err)
{
	struct net_ready ready = {.code = EXIT_INTERNAL, .text = "the network process of --net user ended before it was ready"};
	ssize_t n;

	do
		n = read(process->socket, &ready, sizeof(ready));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(ready) && ready.code == EXIT_OK)
		return 0;
	return err_set(err, ready.code, "%s", ready.text);
}

struct net_backend *net_user_new(const struct vmm_net *net, const struct vmm_messages *messages, struct err *err)
{
	static const uint8_t mac[6] = {0x02, 0x6f, 0x75, 0x74, 0x00, 0x01};
	struct net_user *u = calloc(1, sizeof(*u));

	if (!u) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	u->base.ops = &user_ops;
	u->base.offloads = NET_SLIRP_OFFLOADS;
	u->messages = *messages;
	memcpy(u->base.mac, mac, sizeof(mac));
	if (helper_start(&u->process, net_process_serve, (void *)net, err) < 0 || await_ready(&u->process, err) < 0)
		goto fail;
	if (fcntl(u->process.socket, F_SETFL, O_NONBLOCK) < 0) {
		err_set(err, EXIT_INTERNAL, "user-mode networking: fcntl: %s", strerror(errno));
		goto fail;
	}
	return &u->base;
fail:
	user_free(&u->base);
	return NULL;
}
