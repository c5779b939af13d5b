/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio socket device (virtio 1.2, section 5.10) with stream sockets, implemented in this process. So it needs neither the
 * host's vhost_vsock nor the right to use vhost_vsock, and guests of one host may have the same context id. streams.h says how
 * programs of the host and of the guest connect to each other.
 */
#ifndef OUTRIDER_VMM_VSOCK_VIRTIO_VSOCK_H
#define OUTRIDER_VMM_VSOCK_VIRTIO_VSOCK_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/virtio.h"

struct vmm_config;
struct virtio_vsock;

/*
 * Add a socket device to the bus, with the context id and the Unix socket of `config`. `index` is the number in its name. The
 * parts of `bus` must outlive the device. Returns NULL with `err` set on failure; otherwise the caller frees the device by
 * virtio_vsock_free().
 */
struct virtio_vsock *virtio_vsock_new(const struct virtio_bus *bus, const struct vmm_config *config, unsigned index,
				      struct err *err);

/* Close all connections, remove the socket and free the device, after the machine's threads have ended. NULL is allowed. */
void virtio_vsock_free(struct virtio_vsock *vsock);

#endif
