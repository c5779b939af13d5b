/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's side of a network device: a backend takes frames from the guest, and passes frames to the guest. A device
 * (virtio_net.h) has one backend: user-mode networking (user.c) or a tap interface (tap.c).
 *
 * A frame is an Ethernet frame without its check sequence. Each frame has a struct virtio_net_hdr_v1, which says what is still
 * to be done for it: completing a checksum, or cutting a large TCP frame into segments (virtio 1.2, section 5.1.6). A backend
 * handles only the offloads in its `offloads` that were also negotiated.
 *
 * Back-pressure: if the device has no room for a frame, the backend keeps the frame, and takes no more frames from the host
 * until resume() is called. So a guest that does not refill its ring makes senders on the host wait. In the other direction,
 * after send() has returned false the device sends no more frames until the backend calls sendable().
 *
 * Threads: a backend is made and freed on the main thread, while the worker does not run. stop() is called by a vCPU's thread,
 * while the device's worker is paused. Because a vCPU's thread is confined, stop() may make no system call except that of
 * worker_unwatch(). All other functions, and those of the peer, are called on the worker's thread. Hence there are no locks.
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
#define NET_PIECES_MAX VIRTQ_MAX_SIZE		/* maximum number of pieces of guest memory in a frame from the guest */
#define NET_BIT(feature) (1ull << (feature))	/* a VIRTIO_NET_F_ number as a bit of a feature mask */

/* The peer of a backend: the device's functions that the backend calls. */
struct net_peer {
	/*
	 * Give the guest a frame of `len` bytes, NET_FRAME_MIN to NET_FRAME_MAX, which is copied. Returns false if there is no
	 * room: the backend must keep the frame, and the device calls resume() when there may be room. A frame that is too
	 * large for any chain of buffers is counted and dropped, and the function returns true.
	 */
	bool (*receive)(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len);
	/* The backend has no more frames for now: interrupt the guest, once for all frames that receive() has given to it. */
	void (*received)(void *ctx);
	/* The backend takes frames again, after send() returned false. */
	void (*sendable)(void *ctx);
	void *ctx;
};

struct net_backend;

struct net_backend_ops {
	/* The guest's driver is ready; `features` are the negotiated features. From now on the backend calls the peer. */
	void (*start)(struct net_backend *b, uint64_t features);
	/* The guest's driver is gone. Frames that were kept for it are dropped. Does nothing before start(). */
	void (*stop)(struct net_backend *b);
	/*
	 * Take one frame of the guest, of NET_FRAME_MIN to NET_FRAME_MAX bytes in `count` pieces, at most NET_PIECES_MAX. The
	 * pieces are guest memory, which may change at any time. A frame that cannot be sent is dropped, and counted in
	 * `dropped`. send() may call receive(). Returns true if the backend accepts another frame now.
	 */
	bool (*send)(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count);
	/* A burst of send() is over. May be NULL. */
	void (*sent)(struct net_backend *b);
	/* The device may have room again, after receive() has returned false. */
	void (*resume)(struct net_backend *b);
	/* Free the backend. By then the worker does not watch the backend's file descriptors any more. */
	void (*free)(struct net_backend *b);
};

struct net_backend {
	const struct net_backend_ops *ops;
	/* The offloads that the backend can do: VIRTIO_NET_F_ bits out of CSUM, GUEST_CSUM, HOST_TSO4/6 and GUEST_TSO4/6. */
	uint64_t offloads;
	/* The link's MTU in bytes, which the device shows to the guest. 0: the guest uses its default. */
	uint16_t mtu;
	/* The guest's MAC address: locally administered, and the same in each run. */
	uint8_t mac[6];
	/* The number of the guest's frames that were not sent. */
	uint64_t dropped;
	/* The device sets `peer` and `worker` before start(). The device and the worker outlive the backend. */
	struct net_peer peer;
	struct worker *worker;
};

/*
 * Make a backend for user-mode networking: libslirp, in a process of its own (process.h), makes the guest's connections with
 * sockets of that process. `net` names the forwarded ports, which are open when this function returns. To be called while the
 * calling process has no guest RAM, because the new process would have a copy of it. `messages` is copied; its message() is
 * called if the guest loses its network because the process has ended. The calling process must ignore SIGPIPE. Returns NULL
 * with `err` set on failure: EXIT_INPUT, with a message that names the port, if no socket can listen on a forwarded port.
 *
 * As with QEMU, the guest has the address 10.0.2.15/24 (by DHCP), the gateway 10.0.2.2, a DNS server at 10.0.2.3, which
 * forwards to the first name server in the host's /etc/resolv.conf, and IPv6 by router advertisements in fec0::/64.
 *
 * The guest can reach every address that a process of the user can reach, except the host's own loopback addresses. (QEMU maps
 * the address 10.0.2.2 to the host's loopback.) Here the guest is assumed to be hostile, and a service that listens at
 * 127.0.0.1 (a database, a debugger, a printer service) trusts each client. A service for the guest must listen at another
 * address of the host. guard.h says which frames are dropped.
 */
struct net_backend *net_user_new(const struct vmm_net *net, const struct vmm_messages *messages, struct err *err);

/*
 * Make a backend for an existing tap interface that the user may open. Returns NULL with `err` set on failure: EXIT_INPUT, with
 * the command that makes an interface, if the interface does not exist, belongs to another user, is of another kind or is in
 * use.
 */
struct net_backend *net_tap_new(const struct vmm_net *net, struct err *err);

#endif
