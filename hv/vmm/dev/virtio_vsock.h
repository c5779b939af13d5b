/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio socket device (virtio 1.2, section 5.10) with stream sockets, served by this process: neither the host's vhost_vsock
 * nor any right to it is needed, and guests of one host may have the same context id. vsock_streams.h says how programs of the
 * host reach the guest and are reached.
 */
#ifndef OUTRIDER_VMM_DEV_VIRTIO_VSOCK_H
#define OUTRIDER_VMM_DEV_VIRTIO_VSOCK_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/virtio.h"

struct vmm_config;
struct virtio_vsock;

/*
 * Put a socket device on the bus, with the context id and the socket of `config`. `index` is the number in its name. The parts
 * of `bus` must outlive the device. Returns NULL with `err` set when that fails; otherwise the caller frees the device by
 * virtio_vsock_free().
 */
struct virtio_vsock *virtio_vsock_new(const struct virtio_bus *bus, const struct vmm_config *config, unsigned index,
				      struct err *err);

/* Close all connections, remove the socket and free the device, after the machine's threads have ended. NULL is allowed. */
void virtio_vsock_free(struct virtio_vsock *vsock);

#endif
