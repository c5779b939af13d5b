/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A silent device: a virtio PCI device with the identity of another device but without a backend. Its registers work, but no
 * request in its queues is served. In a copy of a machine it replaces each device whose backend cannot be copied.
 */
#ifndef OUTRIDER_VMM_PCI_SILENT_H
#define OUTRIDER_VMM_PCI_SILENT_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/saved.h"
#include "hv/vmm/virtio/virtio.h"

struct silent;

/*
 * Add a silent device to the next free slot, with the identity and the configuration of the device whose state is in *saved.
 * The caller has checked the identity (virtio_identity_is_good()). The new device's registers have the values after a reset.
 * Returns NULL with `err` set on failure.
 */
struct silent *silent_new(const struct virtio_bus *bus, const struct virtio_saved *saved, struct err *err);

/* Free the device, after the machine's threads have ended. NULL is allowed. */
void silent_free(struct silent *device);

#endif
