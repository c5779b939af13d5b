/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtio entropy device (virtio 1.2, section 5.4). Its own worker fills the driver's buffers from the host's getrandom(2). */
#ifndef OUTRIDER_VMM_RNG_VIRTIO_RNG_H
#define OUTRIDER_VMM_RNG_VIRTIO_RNG_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/virtio.h"

struct virtio_rng;

/*
 * Add an entropy device to the bus. `index` is the number in its name. The parts of `bus` must outlive the device. Returns NULL
 * with `err` set on failure; otherwise the caller frees the device by virtio_rng_free().
 */
struct virtio_rng *virtio_rng_new(const struct virtio_bus *bus, unsigned index, struct err *err);

/* Free the device, after the machine's threads have ended. NULL is allowed. */
void virtio_rng_free(struct virtio_rng *rng);

#endif
