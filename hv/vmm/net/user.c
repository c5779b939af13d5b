/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User-mode networking. libslirp plays the gateway and makes the guest's connections with sockets of this process.
 *
 * libslirp itself takes neither checksums that are still to be completed nor gives segments that are merged, and has an MTU.
 * All the same the guest may send TCP frames of up to 64 KiB: libslirp takes a segment of any size that is in its window, so
 * only the checksum is completed here. The other way, merge.h merges what libslirp sends.
 *
 * What the worker's thread does here beyond read and write: socket, bind, connect, accept, getsockopt, setsockopt, getsockname,
 * getpeername, shutdown, send, sendto, recv, recvfrom, recvmsg, ioctl(FIONREAD), fcntl, close, epoll_ctl, epoll_wait,
 * timerfd_settime; stat, open, read and close of /etc/resolv.conf, and the socket ioctl of if_nametoindex().
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/checksum.h"
#include "hv/vmm/net/guard.h"
#include "hv/vmm/net/merge.h"
#include "hv/vmm/net/sockets.h"

#define ETH_MIN 60 /* bytes of the shortest frame on a wire; libslirp's parsers expect that much */

/*
 * While the guest has no room, no socket is read, so what still comes are answers to its own frames: acknowledgements, DHCP. A
 * guest that sends on and on and never receives loses those beyond this many bytes.
 */
#define WAITING_MAX (1u << 20)

/* A frame that waits until the guest has room. */
struct waiting {
	struct waiting *next;
	struct virtio_net_hdr_v1 hdr;
	size_t len;
	uint8_t frame[];
};

struct net_user {
	struct net_backend base;
	Slirp *slirp;
	struct net_sockets sockets;
	struct net_merge merge;
	bool started;
	bool checksums;		      /* the guest's driver understands what the header says of checksums */
	bool delivered;		      /* a frame was given to the peer since the last received() */
	struct waiting *first, *last; /* while there are any, the sockets are not watched */
	size_t waiting;		      /* bytes in these */
	uint8_t frame[NET_FRAME_MAX]; /* the guest's frame, copied out of its memory */
};

static struct net_user *user_of(struct net_backend *b)
{
	return (struct net_user *)b;
}

static void serve_sockets(void *ctx, uint32_t events);

/* Let the worker wait for libslirp's sockets, or (while frames wait for the guest) for none. */
static void watch(struct net_user *u)
{
	if (!u->started || u->first)
		worker_unwatch(u->base.worker, u->sockets.epoll_fd);
	else
		worker_watch(u->base.worker, u->sockets.epoll_fd, EPOLLIN, serve_sockets, u, NULL);
}

static void keep(struct net_user *u, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	struct waiting *w = u->waiting + len > WAITING_MAX ? NULL : malloc(sizeof(*w) + len);

	/* TCP sends it again, and other protocols take losses. */
	if (!w)
		return;
	w->next = NULL;
	w->hdr = *hdr;
	w->len = len;
	memcpy(w->frame, frame, len);
	if (u->last)
		u->last->next = w;
	else
		u->first = w;
	u->last = w;
	u->waiting += len;
	if (u->first == w)
		watch(u);
}

static void drop_waiting(struct net_user *u)
{
	while (u->first) {
		struct waiting *w = u->first;

		u->first = w->next;
		free(w);
	}
	u->last = NULL;
	u->waiting = 0;
}

static void give(struct net_user *u, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	if (!u->first && u->base.peer.receive(u->base.peer.ctx, hdr, frame, len))
		u->delivered = true;
	else
		keep(u, hdr, frame, len);
}

static void give_merged(struct net_user *u)
{
	struct virtio_net_hdr_v1 hdr;
	size_t len = net_merge_take(&u->merge, &hdr);

	if (len)
		give(u, &hdr, u->merge.frame, len);
}

/* What libslirp sent in a burst goes out, and libslirp says what it waits for now. */
static void end_burst(struct net_user *u)
{
	give_merged(u);
	if (u->delivered)
		u->base.peer.received(u->base.peer.ctx);
	u->delivered = false;
	if (u->started)
		net_sockets_prepare(&u->sockets, u->slirp);
}

static void serve_sockets(void *ctx, uint32_t events)
{
	struct net_user *u = ctx;

	(void)events;
	net_sockets_serve(&u->sockets, u->slirp);
	end_burst(u);
}

/* ---- libslirp's callbacks ---- */

static ssize_t send_packet(const void *frame, size_t len, void *ctx)
{
	struct virtio_net_hdr_v1 hdr = {0};
	struct net_user *u = ctx;

	if (!u->started || len < NET_FRAME_MIN || len > NET_FRAME_MAX)
		return (ssize_t)len;
	if (net_merge_add(&u->merge, frame, len))
		return (ssize_t)len;
	give_merged(u);
	if (net_merge_add(&u->merge, frame, len))
		return (ssize_t)len;
	/* libslirp has computed the checksum. */
	hdr.flags = u->checksums ? VIRTIO_NET_HDR_F_DATA_VALID : 0;
	give(u, &hdr, frame, len);
	return (ssize_t)len;
}

static void guest_error(const char *message, void *ctx)
{
	/* The guest could fill a log with these. */
	(void)message;
	(void)ctx;
}

static int64_t clock_get_ns(void *ctx)
{
	(void)ctx;
	return net_sockets_clock();
}

static void *timer_new(SlirpTimerId id, void *timer_ctx, void *ctx)
{
	struct net_user *u = ctx;

	return net_sockets_timer_new(&u->sockets, id, timer_ctx);
}

static void timer_free(void *timer, void *ctx)
{
	(void)ctx;
	net_sockets_timer_free(timer);
}

static void timer_mod(void *timer, int64_t expires, void *ctx)
{
	struct net_user *u = ctx;

	net_sockets_timer_set(&u->sockets, timer, expires);
}

static void register_poll_fd(int fd, void *ctx)
{
	struct net_user *u = ctx;

	net_sockets_opened(&u->sockets, fd);
}

static void unregister_poll_fd(int fd, void *ctx)
{
	struct net_user *u = ctx;

	net_sockets_closing(&u->sockets, fd);
}

static void notify(void *ctx)
{
	/* Every burst ends with net_sockets_prepare(). */
	(void)ctx;
}

static const SlirpCb callbacks = {
	.send_packet = send_packet,
	.guest_error = guest_error,
	.clock_get_ns = clock_get_ns,
	.timer_free = timer_free,
	.timer_mod = timer_mod,
	.register_poll_fd = register_poll_fd,
	.unregister_poll_fd = unregister_poll_fd,
	.notify = notify,
	.timer_new_opaque = timer_new,
};

/* ---- struct net_backend_ops ---- */

static void user_start(struct net_backend *b, uint64_t features)
{
	struct net_user *u = user_of(b);

	u->checksums = features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM);
	u->merge.ipv4 = features & NET_BIT(VIRTIO_NET_F_GUEST_TSO4);
	u->merge.ipv6 = features & NET_BIT(VIRTIO_NET_F_GUEST_TSO6);
	u->started = true;
	net_sockets_prepare(&u->sockets, u->slirp);
	watch(u);
}

static void user_stop(struct net_backend *b)
{
	struct net_user *u = user_of(b);

	if (!u->started)
		return;
	u->started = false;
	u->merge.len = 0;
	drop_waiting(u);
	watch(u);
}

static void user_send(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count)
{
	struct net_user *u = user_of(b);
	size_t len = 0;

	for (unsigned i = 0; i < count; i++) {
		memcpy(u->frame + len, piece[i].iov_base, piece[i].iov_len);
		len += piece[i].iov_len;
	}
	if (len < ETH_MIN) {
		memset(u->frame + len, 0, ETH_MIN - len);
		len = ETH_MIN;
	}
	if (((hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
	     !net_complete_checksum(u->frame, len, le16toh(hdr->csum_start), le16toh(hdr->csum_offset))) ||
	    !net_guard_allows(u->frame, len) || (net_guard_opens(u->frame, len) && !net_sockets_may_open(&u->sockets))) {
		b->dropped++;
		return;
	}
	slirp_input(u->slirp, u->frame, (int)len);
}

static void user_sent(struct net_backend *b)
{
	end_burst(user_of(b));
}

static void user_resume(struct net_backend *b)
{
	struct net_user *u = user_of(b);
	struct waiting *w;

	while ((w = u->first)) {
		if (!b->peer.receive(b->peer.ctx, &w->hdr, w->frame, w->len))
			break;
		u->delivered = true;
		u->first = w->next;
		u->waiting -= w->len;
		free(w);
	}
	if (u->delivered)
		b->peer.received(b->peer.ctx);
	u->delivered = false;
	if (!u->first) {
		u->last = NULL;
		watch(u);
	}
}

static void user_free(struct net_backend *b)
{
	struct net_user *u = user_of(b);

	u->started = false;
	if (u->slirp)
		slirp_cleanup(u->slirp);
	drop_waiting(u);
	net_sockets_destroy(&u->sockets);
	free(u);
}

static const struct net_backend_ops user_ops = {
	.start = user_start,
	.stop = user_stop,
	.send = user_send,
	.sent = user_sent,
	.resume = user_resume,
	.free = user_free,
};

/* ---- making one ---- */

static struct in_addr ipv4(uint32_t address)
{
	return (struct in_addr){.s_addr = htobe32(address)};
}

static Slirp *new_slirp(struct net_user *u)
{
	SlirpConfig config = {
		.version = 4,
		.in_enabled = true,
		.vnetwork = ipv4(NET_USER_NETWORK),
		.vnetmask = ipv4(NET_USER_MASK),
		.vhost = ipv4(NET_USER_GATEWAY),
		.vdhcp_start = ipv4(NET_USER_GUEST),
		.vnameserver = ipv4(NET_USER_DNS),
		.in6_enabled = true,
		.vprefix_len = NET_USER_PREFIX6,
		.vhostname = "outrider",
		.disable_host_loopback = true,
	};

	inet_pton(AF_INET6, NET_USER_NETWORK6, &config.vprefix_addr6);
	inet_pton(AF_INET6, NET_USER_GATEWAY6, &config.vhost6);
	inet_pton(AF_INET6, NET_USER_DNS6, &config.vnameserver6);
	return slirp_new(&config, &callbacks, u);
}

/* Why the port cannot be had. libslirp says only that it cannot, so the port is tried once more. Returns an errno value. */
static int why_not(const struct vmm_forward *f)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = f->address, .sin_port = htobe16(f->port)};
	int fd = socket(AF_INET, (f->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
	int why;

	if (fd < 0)
		return errno;
	why = bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? errno : EADDRINUSE;
	close(fd);
	return why;
}

static int forward(struct net_user *u, const struct vmm_forward *f, struct err *err)
{
	char address[INET_ADDRSTRLEN];
	int why;

	if (slirp_add_hostfwd(u->slirp, f->udp, f->address, f->port, ipv4(NET_USER_GUEST), f->guest_port) == 0)
		return 0;
	why = why_not(f);
	inet_ntop(AF_INET, &f->address, address, sizeof(address));
	return err_set(err, EXIT_INPUT, "--net hostfwd: cannot listen at %s port %u of %s: %s%s", f->udp ? "UDP" : "TCP",
		       f->port, address, strerror(why),
		       why == EADDRINUSE      ? "; choose another port, or end the program that has it"
		       : why == EACCES	      ? "; choose a port from 1024 on, which needs no right"
		       : why == EADDRNOTAVAIL ? "; choose an address of this host, such as 127.0.0.1"
					      : "");
}

struct net_backend *net_user_new(const struct vmm_net *net, struct err *err)
{
	static const uint8_t mac[6] = {0x02, 0x6f, 0x75, 0x74, 0x00, 0x01};
	struct net_user *u = calloc(1, sizeof(*u));

	if (!u) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	u->base.ops = &user_ops;
	u->base.offloads = NET_BIT(VIRTIO_NET_F_CSUM) | NET_BIT(VIRTIO_NET_F_GUEST_CSUM) | NET_BIT(VIRTIO_NET_F_HOST_TSO4) |
			   NET_BIT(VIRTIO_NET_F_HOST_TSO6) | NET_BIT(VIRTIO_NET_F_GUEST_TSO4) |
			   NET_BIT(VIRTIO_NET_F_GUEST_TSO6);
	memcpy(u->base.mac, mac, sizeof(mac));
	if (net_sockets_init(&u->sockets, err) < 0)
		goto fail;
	u->slirp = new_slirp(u);
	if (!u->slirp) {
		err_set(err, EXIT_INTERNAL, "user-mode networking: libslirp %s does not start", slirp_version_string());
		goto fail;
	}
	for (size_t i = 0; i < net->count; i++)
		if (forward(u, &net->forwards[i], err) < 0)
			goto fail;
	return &u->base;
fail:
	user_free(&u->base);
	return NULL;
}
