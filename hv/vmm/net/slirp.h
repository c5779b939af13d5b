/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User-mode networking by libslirp, which acts as the guest's gateway, and makes the guest's connections with sockets of the
 * calling process. A run has libslirp in a process of its own (process.h), because libslirp 4.7 is not safe against the frames
 * of a hostile guest.
 *
 * libslirp has no offloads, but the guest can use some. The guest may send frames with incomplete checksums, and TCP frames of
 * up to 64 KiB: the checksum is completed here, and libslirp accepts a segment of any size that is inside its window. In the
 * other direction, merge.h merges the segments that libslirp sends.
 *
 * backend.h defines frames and their headers. Not thread-safe. libslirp has global variables, so a process may have only one
 * struct net_slirp.
 */
#ifndef OUTRIDER_VMM_NET_SLIRP_H
#define OUTRIDER_VMM_NET_SLIRP_H

#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_net.h>

#include "hv/base/err.h"
#include "hv/vmm/net/backend.h"
#include "hv/vmm/vmm.h"

/* The offloads that net_slirp_start() understands, as VIRTIO_NET_F_ bits. */
#define NET_SLIRP_OFFLOADS                                                                                 \
	(NET_BIT(VIRTIO_NET_F_CSUM) | NET_BIT(VIRTIO_NET_F_GUEST_CSUM) | NET_BIT(VIRTIO_NET_F_HOST_TSO4) | \
	 NET_BIT(VIRTIO_NET_F_HOST_TSO6) | NET_BIT(VIRTIO_NET_F_GUEST_TSO4) | NET_BIT(VIRTIO_NET_F_GUEST_TSO6))

struct net_slirp;

/*
 * Start libslirp, and listen on the forwarded ports of `net`. Frames for the guest go to `peer`, which is copied. Returns NULL
 * with `err` set on failure: EXIT_INPUT, with a message that names the port, if libslirp cannot listen on a forwarded port.
 */
struct net_slirp *net_slirp_new(const struct vmm_net *net, const struct net_peer *peer, struct err *err);

/* Close all connections, and free `s`. NULL is allowed. */
void net_slirp_free(struct net_slirp *s);

/* The guest's driver is ready, with the features `features`. Frames that waited for an earlier driver are dropped. */
void net_slirp_start(struct net_slirp *s, uint64_t features);

/*
 * Take a frame of the guest, `len` bytes at `frame`, NET_FRAME_MIN to NET_FRAME_MAX. The buffer has at least NET_SLIRP_ROOM
 * bytes and is changed. Drops a frame that guard.h refuses, and a frame that might open a connection while too many connections
 * are open. net_slirp_sent() must follow a burst of frames.
 */
#define NET_SLIRP_ROOM 64
void net_slirp_send(struct net_slirp *s, const struct virtio_net_hdr_v1 *hdr, uint8_t *frame, size_t len);
void net_slirp_sent(struct net_slirp *s);

/* The peer has room again, after its receive() returned false. */
void net_slirp_resume(struct net_slirp *s);

/*
 * Returns a file descriptor that is readable when net_slirp_serve() has something to do, or -1 before net_slirp_start() and
 * while frames wait for the peer.
 */
int net_slirp_fd(const struct net_slirp *s);
void net_slirp_serve(struct net_slirp *s);

/* Returns the number of the guest's frames that were dropped. */
uint64_t net_slirp_dropped(const struct net_slirp *s);

#endif
