/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive coalescing for user-mode networking: consecutive TCP segments of one connection become one frame for the guest, as
 * network cards do (and Linux' GRO). libslirp sends segments of the guest's MSS one by one; each merged frame costs the guest
 * one receive buffer chain and one pass through its stack instead of up to 45. The frame says how it was cut
 * (VIRTIO_NET_HDR_GSO_TCPV4 or TCPV6), so a guest that forwards it can cut it again.
 */
#ifndef OUTRIDER_VMM_NET_MERGE_H
#define OUTRIDER_VMM_NET_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_net.h>

#include "hv/vmm/net/backend.h"

struct net_merge {
	bool ipv4, ipv6;      /* which are merged: what the guest's driver negotiated */
	size_t len;	      /* bytes in `frame`; 0: nothing is held */
	size_t headers;	      /* bytes of the Ethernet, IP and TCP headers */
	unsigned segments;    /* number of segments in `frame` */
	uint16_t segment_len; /* payload bytes of each segment but the last */
	bool closed;	      /* the last segment was short or pushed: nothing follows */
	uint8_t frame[NET_FRAME_MAX];
};

/*
 * Hold the frame of `len` bytes, alone or after the frames that are held. Returns false when it does not continue them: the
 * caller takes what is held (net_merge_take()) and tries again, and a frame that is refused while nothing is held goes to the
 * guest by itself.
 */
bool net_merge_add(struct net_merge *m, const uint8_t *frame, size_t len);

/*
 * Stop holding what is in m->frame, finish its headers and fill in *hdr for it. Returns its length in bytes, or 0 when nothing
 * was held. The frame stays there until the next net_merge_add().
 */
size_t net_merge_take(struct net_merge *m, struct virtio_net_hdr_v1 *hdr);

#endif
