/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A silent card: a virtio device that looks like another one, and has nothing behind it. Its registers answer, and nobody
 * serves its queues. In a copy of a machine it stands in for each card.
 */
#ifndef OUTRIDER_VMM_DEV_SILENT_H
#define OUTRIDER_VMM_DEV_SILENT_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/saved.h"
#include "hv/vmm/virtio/virtio.h"

struct silent;

/*
 * Plug a card into the next free slot that looks like the saved one, whose identity is good, and has its configuration. Its
 * registers are those of a device that was just reset. Returns NULL with `err` set.
 */
struct silent *silent_new(const struct virtio_bus *bus, const struct virtio_saved *saved, struct err *err);

/* Take the card off the bus, after the machine's threads have ended. NULL is allowed. */
void silent_free(struct silent *card);

#endif
