/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network device: virtio-net (virtio 1.2, section 5.1) with one receive queue, one transmit queue and a control queue. Its
 * backend (backend.h) sends and receives the frames on the host.
 *
 * The guest is not trusted. The device drops and counts a frame that is too long or too short. A request that breaks a rule of
 * the device (no header, or a readable or writable part that is not allowed) makes the device set NEEDS_RESET and wait for a
 * reset.
 *
 * The device does not filter: a guest receives every frame of the backend, whatever filters the guest has set through the
 * control queue. User-mode networking has only frames for this guest, and a bridge sends only frames for this guest to its tap.
 *
 * Threads: one worker, "net N", serves all queues and the backend.
 */
#ifndef OUTRIDER_VMM_NET_VIRTIO_NET_H
#define OUTRIDER_VMM_NET_VIRTIO_NET_H

#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/virtio/virtio.h"
#include "hv/vmm/vmm.h"

struct net_backend;
struct virtio_net;

/* Numbers of frames since the device was made. */
struct virtio_net_counts {
	/* Frames that went from the guest to the backend, including those that the backend dropped. */
	uint64_t sent;
	/* Frames that went to the guest. */
	uint64_t received;
	/* Frames from the guest that were too short or too long. */
	uint64_t bad_length;
	/* Frames for the guest that did not fit into the largest chain of buffers. */
	uint64_t no_fit;
};

/*
 * Make network device number `index` with the backend, and add it to the bus. The device then owns the backend, even if the
 * call fails. Returns NULL with EXIT_INTERNAL on failure.
 */
struct virtio_net *virtio_net_new(const struct virtio_bus *bus, struct net_backend *backend, unsigned index, struct err *err);

/* Free the device and its backend, after the machine's threads have ended. NULL is allowed. */
void virtio_net_free(struct virtio_net *net);

/* Returns the counts. To be called while the worker is paused. */
struct virtio_net_counts virtio_net_counts(const struct virtio_net *net);

#endif
