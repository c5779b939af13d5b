// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs libslirp, which makes the guest's connections with sockets of this process: passes the guest's frames to libslirp, and
 * libslirp's frames to the peer, the code that gives them to the guest (backend.h). The system calls that libslirp and
 * hv/vmm/net make in this process, besides read and write: socket, bind, connect, accept, getsockopt, setsockopt, getsockname,
 * getpeername, shutdown, send, sendto, recv, recvfrom, recvmsg, ioctl(FIONREAD), fcntl, close, epoll_ctl, epoll_wait,
 * timerfd_settime; stat, open, read and close of /etc/resolv.conf, and the socket ioctl of if_nametoindex().
 */
#include "hv/vmm/net/slirp.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/vmm/net/checksum.h"
#include "hv/vmm/net/guard.h"
#include "hv/vmm/net/merge.h"
#include "hv/vmm/net/sockets.h"

#define ETH_MIN 60 /* bytes of the shortest frame on a wire; libslirp's parsers expect at least this length */

/*
 * Maximum length in bytes of all frames that wait for the peer. While frames wait, no socket is read, so the only new frames
 * are replies to the guest's own frames, such as acknowledgements and replies by DHCP. Frames beyond this limit are dropped.
 * That happens if a guest sends and never receives.
 */
#define WAITING_MAX (1u << 20)

/* A frame that waits until the peer has room. */
struct waiting {
	struct waiting *next;
	struct virtio_net_hdr_v1 hdr;
	size_t len;
	uint8_t frame[];
};

struct net_slirp {
	struct net_peer peer;
	Slirp *slirp;
	struct net_sockets sockets;
	struct net_merge merge;
	bool started;
	bool checksums;		      /* the guest's driver accepts VIRTIO_NET_HDR_F_DATA_VALID */
	bool delivered;		      /* the peer got a frame since received() was last called */
	struct waiting *first, *last; /* frames for the peer, which has no room */
	size_t waiting;		      /* bytes of the waiting frames */
	uint64_t dropped;
};

static void keep(struct net_slirp *s, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	struct waiting *w = s->waiting + len > WAITING_MAX ? NULL : malloc(sizeof(*w) + len);

	/* No room or no memory: drop the frame. TCP sends it again, and other protocols tolerate a loss. */
	if (!w)
		return;
	w->next = NULL;
	w->hdr = *hdr;
	w->len = len;
	memcpy(w->frame, frame, len);
	if (s->last)
		s->last->next = w;
	else
		s->first = w;
	s->last = w;
	s->waiting += len;
}

static void drop_waiting(struct net_slirp *s)
{
	while (s->first) {
		struct waiting *w = s->first;

		s->first = w->next;
		free(w);
	}
	s->last = NULL;
	s->waiting = 0;
}

static void give(struct net_slirp *s, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	if (!s->first && s->peer.receive(s->peer.ctx, hdr, frame, len))
		s->delivered = true;
	else
		keep(s, hdr, frame, len);
}

static void give_merged(struct net_slirp *s)
{
	struct virtio_net_hdr_v1 hdr;
	size_t len = net_merge_take(&s->merge, &hdr);

	if (len)
		give(s, &hdr, s->merge.frame, len);
}

/*
 * End a burst of calls into libslirp: pass the merged frame that is still held (merge.h) to the guest, and ask libslirp which
 * sockets it waits for now.
 */
static void end_burst(struct net_slirp *s)
{
	give_merged(s);
	if (s->delivered)
		s->peer.received(s->peer.ctx);
	s->delivered = false;
	if (s->started)
		net_sockets_prepare(&s->sockets, s->slirp);
}

/* ---- libslirp's callbacks ---- */

static ssize_t send_packet(const void *frame, size_t len, void *ctx)
{
	struct virtio_net_hdr_v1 hdr = {0};
	struct net_slirp *s = ctx;

	if (!s->started || len < NET_FRAME_MIN || len > NET_FRAME_MAX)
		return (ssize_t)len;
	if (net_merge_add(&s->merge, frame, len))
		return (ssize_t)len;
	give_merged(s);
	if (net_merge_add(&s->merge, frame, len))
		return (ssize_t)len;
	/* The checksum is valid: libslirp has computed it. */
	hdr.flags = s->checksums ? VIRTIO_NET_HDR_F_DATA_VALID : 0;
	give(s, &hdr, frame, len);
	return (ssize_t)len;
}

static void guest_error(const char *message, void *ctx)
{
	/* Ignore the message: a guest could fill a log with messages. */
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
	struct net_slirp *s = ctx;

	return net_sockets_timer_new(&s->sockets, id, timer_ctx);
}

static void timer_free(void *timer, void *ctx)
{
	(void)ctx;
	net_sockets_timer_free(timer);
}

static void timer_mod(void *timer, int64_t expires, void *ctx)
{
	struct net_slirp *s = ctx;

	net_sockets_timer_set(&s->sockets, timer, expires);
}

static void register_poll_fd(int fd, void *ctx)
{
	struct net_slirp *s = ctx;

	net_sockets_opened(&s->sockets, fd);
}

static void unregister_poll_fd(int fd, void *ctx)
{
	struct net_slirp *s = ctx;

	net_sockets_closing(&s->sockets, fd);
}

static void notify(void *ctx)
{
	/*
	 * libslirp calls this when it wants to be polled again. Nothing to do, because every burst of calls into libslirp ends
	 * with net_sockets_prepare().
	 */
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

/* ---- the interface ---- */

void net_slirp_start(struct net_slirp *s, uint64_t features)
{
	s->checksums = features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM);
	s->merge.ipv4 = features & NET_BIT(VIRTIO_NET_F_GUEST_TSO4);
	s->merge.ipv6 = features & NET_BIT(VIRTIO_NET_F_GUEST_TSO6);
	s->merge.len = 0;
	drop_waiting(s);
	s->started = true;
	net_sockets_prepare(&s->sockets, s->slirp);
}

void net_slirp_send(struct net_slirp *s, const struct virtio_net_hdr_v1 *hdr, uint8_t *frame, size_t len)
{
	if (len < ETH_MIN) {
		memset(frame + len, 0, ETH_MIN - len);
		len = ETH_MIN;
	}
	if (((hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
	     !net_complete_checksum(frame, len, le16toh(hdr->csum_start), le16toh(hdr->csum_offset))) ||
	    !net_guard_allows(frame, len) || (net_guard_opens(frame, len) && !net_sockets_may_open(&s->sockets))) {
		s->dropped++;
		return;
	}
	slirp_input(s->slirp, frame, (int)len);
}

void net_slirp_sent(struct net_slirp *s)
{
	end_burst(s);
}

void net_slirp_resume(struct net_slirp *s)
{
	struct waiting *w;

	while ((w = s->first)) {
		if (!s->peer.receive(s->peer.ctx, &w->hdr, w->frame, w->len))
			break;
		s->delivered = true;
		s->first = w->next;
		s->waiting -= w->len;
		free(w);
	}
	if (!s->first)
		s->last = NULL;
	if (s->delivered)
		s->peer.received(s->peer.ctx);
	s->delivered = false;
}

int net_slirp_fd(const struct net_slirp *s)
{
	return s->started && !s->first ? s->sockets.epoll_fd : -1;
}

void net_slirp_serve(struct net_slirp *s)
{
	net_sockets_serve(&s->sockets, s->slirp);
	end_burst(s);
}

uint64_t net_slirp_dropped(const struct net_slirp *s)
{
	return s->dropped;
}

void net_slirp_free(struct net_slirp *s)
{
	if (!s)
		return;
	s->started = false;
	if (s->slirp)
		slirp_cleanup(s->slirp);
	drop_waiting(s);
	net_sockets_destroy(&s->sockets);
	free(s);
}

/* ---- making one ---- */

static struct in_addr ipv4(uint32_t address)
{
	return (struct in_addr){.s_addr = htobe32(address)};
}

static Slirp *new_slirp(struct net_slirp *s)
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
	return slirp_new(&config, &callbacks, s);
}

/*
 * Returns the errno value that says why libslirp cannot listen on the port. libslirp gives no reason, so try to bind the port
 * here.
 */
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

static int forward(struct net_slirp *s, const struct vmm_forward *f, struct err *err)
{
	char address[INET_ADDRSTRLEN];
	int why;

	if (slirp_add_hostfwd(s->slirp, f->udp, f->address, f->port, ipv4(NET_USER_GUEST), f->guest_port) == 0)
		return 0;
	why = why_not(f);
	inet_ntop(AF_INET, &f->address, address, sizeof(address));
	return err_set(err, EXIT_INPUT, "--net hostfwd: cannot listen at %s port %u of %s: %s%s", f->udp ? "UDP" : "TCP",
		       f->port, address, strerror(why),
		       why == EADDRINUSE      ? "; choose another port, or end the program that has it"
		       : why == EACCES	      ? "; choose a port from 1024 on, which needs no privilege"
		       : why == EADDRNOTAVAIL ? "; choose an address of this host, such as 127.0.0.1"
					      : "");
}

struct net_slirp *net_slirp_new(const struct vmm_net *net, const struct net_peer *peer, struct err *err)
{
	struct net_slirp *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	s->peer = *peer;
	if (net_sockets_init(&s->sockets, err) < 0)
		goto fail;
	s->slirp = new_slirp(s);
	if (!s->slirp) {
		err_set(err, EXIT_INTERNAL, "user-mode networking: libslirp %s does not start", slirp_version_string());
		goto fail;
	}
	for (size_t i = 0; i < net->count; i++)
		if (forward(s, &net->forwards[i], err) < 0)
			goto fail;
	return s;
fail:
	net_slirp_free(s);
	return NULL;
}
