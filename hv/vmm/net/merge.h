/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive coalescing for user-mode networking: consecutive TCP segments of one connection become one frame for the guest, as
 * network cards and Linux' GRO do it. libslirp sends segments of the guest's MSS one by one. A merged frame costs the guest one
 * chain of receive buffers and one pass through its network stack instead of up to 45 of each. The frame's header says how to
 * split the frame again (VIRTIO_NET_HDR_GSO_TCPV4 or TCPV6), for a guest that forwards it.
 */
#ifndef OUTRIDER_VMM_NET_MERGE_H
#define OUTRIDER_VMM_NET_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_net.h>

#include "hv/vmm/net/backend.h"

struct net_merge {
	bool ipv4, ipv6;      /* merge IPv4 or IPv6, as the guest's driver negotiated */
	size_t len;	      /* bytes in `frame`; 0: no frame is held */
	size_t headers;	      /* bytes of the Ethernet, IP and TCP headers */
	unsigned segments;    /* number of segments in `frame` */
	uint16_t segment_len; /* payload bytes of each segment except the last */
	bool closed;	      /* the last segment was short or had PSH, so no segment can be added */
	uint8_t frame[NET_FRAME_MAX];
};

/*
 * Add the frame of `len` bytes to the held frame, which is the merged frame that may still grow. If no frame is held, hold this
 * frame. Returns false if the frame does not continue the held frame. The caller then takes the held frame (net_merge_take())
 * and tries again. A frame that is refused while no frame is held cannot be merged, and must be passed to the guest alone.
 */
bool net_merge_add(struct net_merge *m, const uint8_t *frame, size_t len);

/*
 * Finish the headers of the held frame in m->frame, fill in *hdr for it, and stop holding it. Returns the frame's length in
 * bytes, or 0 if no frame was held. The bytes stay in m->frame until the next net_merge_add().
 */
size_t net_merge_take(struct net_merge *m, struct virtio_net_hdr_v1 *hdr);

#endif
