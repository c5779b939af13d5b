/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User-mode networking by libslirp: it plays the gateway, and makes the guest's connections with sockets of the calling
 * process. A run has it in a process of its own (process.h), because libslirp 4.7 is not safe against the frames of a hostile
 * guest.
 *
 * libslirp takes no frame whose checksum is still to be completed, and sends none that stands for several segments. The guest
 * may send TCP frames of up to 64 KiB all the same: libslirp takes a segment of any size that is inside its window, so only the
 * checksum is completed here. In the other direction, merge.h merges what libslirp sends.
 *
 * Frames and headers are those of backend.h. One thread at a time. libslirp keeps some state in variables of the process, so a
 * process has one struct net_slirp at most.
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
 * with `err` set: EXIT_INPUT names a port that cannot be listened on.
 */
struct net_slirp *net_slirp_new(const struct vmm_net *net, const struct net_peer *peer, struct err *err);

/* Close all connections and free it. NULL is allowed. */
void net_slirp_free(struct net_slirp *s);

/* The guest's driver is ready, with the features `features`. Frames that waited for an earlier driver are dropped. */
void net_slirp_start(struct net_slirp *s, uint64_t features);

/*
 * Take a frame of the guest, `len` bytes at `frame`, NET_FRAME_MIN to NET_FRAME_MAX. The buffer has at least NET_SLIRP_ROOM
 * bytes and is changed. A frame that guard.h refuses, or for which there are too many connections, is dropped. net_slirp_sent()
 * follows a burst of frames.
 */
#define NET_SLIRP_ROOM 64
void net_slirp_send(struct net_slirp *s, const struct virtio_net_hdr_v1 *hdr, uint8_t *frame, size_t len);
void net_slirp_sent(struct net_slirp *s);

/* The peer has room again, after its receive() returned false. */
void net_slirp_resume(struct net_slirp *s);

/*
 * A file descriptor that is readable when net_slirp_serve() has something to do; -1 before net_slirp_start(), and while frames
 * wait for the peer.
 */
int net_slirp_fd(const struct net_slirp *s);
void net_slirp_serve(struct net_slirp *s);

/* The number of the guest's frames that were dropped. */
uint64_t net_slirp_dropped(const struct net_slirp *s);

#endif
