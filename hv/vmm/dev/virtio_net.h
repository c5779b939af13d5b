/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network card: virtio-net (virtio 1.2, section 5.1) with one receive queue, one transmit queue and a control queue. Where
 * frames go to and come from is its backend's matter (net_backend.h).
 *
 * The guest is not trusted. A frame that is too long or too short is dropped and counted. A request that breaks a rule of the
 * device (no header, a part that has no business there) breaks the device, which then waits for a reset.
 *
 * The card filters nothing: a guest gets every frame that the backend has, whatever it asked for by the control queue.
 * User-mode networking has only frames for this guest, and a bridge sends a tap only what is for it.
 *
 * Threads: one worker of its own, "net N", serves all queues and the backend.
 */
#ifndef OUTRIDER_VMM_DEV_VIRTIO_NET_H
#define OUTRIDER_VMM_DEV_VIRTIO_NET_H

#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/virtio/virtio.h"
#include "hv/vmm/vmm.h"

struct net_backend;
struct virtio_net;

/* Frames since the card was made. */
struct virtio_net_counts {
	/* Frames of the guest that went to the backend. Those of them that the backend dropped count, too. */
	uint64_t sent;
	/* Frames that the guest was given. */
	uint64_t received;
	/* Frames of the guest that were too short or too long to be any. */
	uint64_t bad_length;
	/* Frames for the guest that do not fit into the largest chain of buffers that it has. */
	uint64_t no_fit;
};

/*
 * Make card number `index` with the backend that `net` asks for, and plug it into the bus. Returns NULL with `err` set: with
 * EXIT_INPUT when the host does not give the backend what it needs.
 */
struct virtio_net *virtio_net_new(const struct virtio_bus *bus, const struct vmm_net *net, unsigned index, struct err *err);

/* The same with a backend that is there already. The card owns it from then on, also when the call fails. */
struct virtio_net *virtio_net_with(const struct virtio_bus *bus, struct net_backend *backend, unsigned index, struct err *err);

/* After the machine's threads have ended. NULL is allowed. */
void virtio_net_free(struct virtio_net *net);

/* To be read while the worker is paused. */
struct virtio_net_counts virtio_net_counts(const struct virtio_net *net);

#endif
