/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between the run (user.c) and its network process (process.c), on a SOCK_SEQPACKET socket, which keeps the bounds
 * of messages (unix(7)). The run and the process do not trust each other: a message whose length or kind is wrong ends the
 * guest's network.
 */
#ifndef OUTRIDER_VMM_NET_WIRE_H
#define OUTRIDER_VMM_NET_WIRE_H

#include <stdint.h>

#include <linux/virtio_net.h>

#include "hv/base/err.h"
#include "hv/vmm/net/backend.h"

/* The first message of the network process, which says whether it can work. */
struct net_ready {
	int32_t code; /* enum exit_code */
	char text[sizeof(((struct err *)NULL)->text)];
};

enum net_message_kind {
	NET_MESSAGE_START, /* the run tells the process that the guest's driver is ready, by a struct net_start */
	NET_MESSAGE_FRAME, /* in both directions: a frame, as a struct net_header and NET_FRAME_MIN to NET_FRAME_MAX bytes */
};

struct net_header {
	uint32_t kind;
	/*
	 * The number of NET_MESSAGE_START messages so far. A frame with another number is for an earlier driver, and is
	 * dropped.
	 */
	uint32_t generation;
	/* Which offloads the frame needs (backend.h). */
	struct virtio_net_hdr_v1 offload;
};

struct net_start {
	struct net_header header;
	uint64_t features; /* as in the backend's start() */
};

#define NET_MESSAGE_MAX (sizeof(struct net_header) + NET_FRAME_MAX) /* bytes */

#endif
