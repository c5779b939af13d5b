/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's side of a network device: it takes the guest's frames, and has the frames for the guest. A device (virtio_net.h)
 * has one backend: user-mode networking (user.c) or a tap interface (tap.c).
 *
 * A frame is an Ethernet frame without its check sequence. Each frame has a struct virtio_net_hdr_v1, which says what is still
 * to be done for it: completing a checksum, or cutting a large TCP frame into segments (virtio 1.2, section 5.1.6). A backend
 * does only what is in its `offloads` and was negotiated.
 *
 * Back-pressure: a frame for which the device has no room stays with the backend, which then takes no more from the host until
 * resume() is called. So a guest that does not refill its ring makes the host's senders wait. In the other direction, the
 * device sends no more after send() returned false, until the backend calls sendable().
 *
 * Threads: a backend is made and freed on the main thread, while the worker does not run. stop() is called while the device's
 * worker is paused, by a vCPU's thread, and so its only system call is that of worker_unwatch(). All other functions, and those
 * of the peer, are called on the worker's thread. Hence there are no locks.
 */
#ifndef OUTRIDER_VMM_NET_BACKEND_H
#define OUTRIDER_VMM_NET_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/virtio_net.h>

#include "hv/base/err.h"
#include "hv/vmm/virtio/queue.h"
#include "hv/vmm/virtio/worker.h"
#include "hv/vmm/vmm.h"

#define NET_ETH_LEN 14				/* bytes of an Ethernet header */
#define NET_FRAME_MIN NET_ETH_LEN		/* bytes */
#define NET_FRAME_MAX (NET_ETH_LEN + 4 + 65535) /* bytes: the largest IP packet, with a VLAN tag */
#define NET_PIECES_MAX VIRTQ_MAX_SIZE		/* pieces of the guest's memory that a frame may be in */
#define NET_BIT(feature) (1ull << (feature))	/* a VIRTIO_NET_F_ number as a bit of a feature mask */

/* The device, for its backend. */
struct net_peer {
	/*
	 * Give the guest a frame of `len` bytes, NET_FRAME_MIN to NET_FRAME_MAX, which is copied. Returns false when there is
	 * no room: the backend keeps the frame, and resume() is called when there may be. A frame that can never be given to
	 * the guest is counted and dropped, and the call returns true.
	 */
	bool (*receive)(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len);
	/* A burst of receive() is over: interrupt the guest. */
	void (*received)(void *ctx);
	/* The backend takes frames again, after send() returned false. */
	void (*sendable)(void *ctx);
	void *ctx;
};

struct net_backend;

struct net_backend_ops {
	/* The guest's driver is ready; `features` are those that were negotiated. From now on the backend calls the peer. */
	void (*start)(struct net_backend *b, uint64_t features);
	/* The guest's driver is gone. Frames that were kept for it are dropped. Does nothing before start(). */
	void (*stop)(struct net_backend *b);
	/*
	 * Take one frame of the guest, of NET_FRAME_MIN to NET_FRAME_MAX bytes in `count` pieces, at most NET_PIECES_MAX. The
	 * pieces are guest memory, which may change at any time. A frame that cannot be sent is dropped, and counted in
	 * `dropped`. It may call receive(). Returns whether the backend takes another frame now.
	 */
	bool (*send)(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count);
	/* A burst of send() is over. May be NULL. */
	void (*sent)(struct net_backend *b);
	/* The peer has room again, after it had none. */
	void (*resume)(struct net_backend *b);
	/* Free the backend. The worker watches none of its file descriptors any more. */
	void (*free)(struct net_backend *b);
};

struct net_backend {
	const struct net_backend_ops *ops;
	/* The offloads that the backend can do: VIRTIO_NET_F_ bits out of CSUM, GUEST_CSUM, HOST_TSO4/6 and GUEST_TSO4/6. */
	uint64_t offloads;
	/* The link's MTU in bytes, which the guest is told. 0: the guest uses its default. */
	uint16_t mtu;
	/* The guest's MAC address: locally administered, and the same in each run. */
	uint8_t mac[6];
	/* The number of the guest's frames that were not sent. */
	uint64_t dropped;
	/* Set by the card before start(). Both outlive the backend. */
	struct net_peer peer;
	struct worker *worker;
};

/*
 * User-mode networking: libslirp, in a process of its own (process.h), makes the guest's connections with its sockets. `net`
 * names the forwarded ports, which are open when this returns. To be called while the calling process has no guest RAM. `notes`
 * is copied; its note() says when the guest loses its network, because that process ended. The calling process must ignore
 * SIGPIPE. Returns NULL with `err` set: EXIT_INPUT names a port that cannot be listened on.
 *
 * The guest finds, as with QEMU: itself at 10.0.2.15/24 (by DHCP), the gateway 10.0.2.2, a DNS server at 10.0.2.3, which
 * forwards to the first name server in the host's /etc/resolv.conf, and IPv6 by router advertisements in fec0::/64.
 *
 * The guest can reach every address that a process of the user can reach, except the host's own loopback addresses. QEMU makes
 * these 10.0.2.2. Here the guest is assumed to be hostile, and a service that listens at 127.0.0.1 (a database, a debugger, a
 * printer service) trusts each client. A service for the guest listens at another address of the host. guard.h says which
 * frames are dropped.
 */
struct net_backend *net_user_new(const struct vmm_net *net, const struct vmm_notes *notes, struct err *err);

/*
 * A tap interface that exists and that the user may open. Returns NULL with `err` set to EXIT_INPUT, and the command that makes
 * the interface, when there is none of the name, when it is another user's or of another kind, or when it is in use.
 */
struct net_backend *net_tap_new(const struct vmm_net *net, struct err *err);

#endif
