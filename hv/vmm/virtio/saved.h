/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All of a virtio device that a guest can see, as plain data: what the device is, its registers, and where its queues are. What
 * is behind the device, such as a disk's image or a network's connections, is not in it.
 */
#ifndef OUTRIDER_VMM_VIRTIO_SAVED_H
#define OUTRIDER_VMM_VIRTIO_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/dev/pci.h"
#include "hv/vmm/dev/pci_msix.h"
#include "hv/vmm/virtio/virtio.h"

#define VIRTIO_NAME_MAX 16

/* What the device is, as in struct virtio_ops and as virtio_add() was told. It does not change. */
struct virtio_identity {
	char name[VIRTIO_NAME_MAX]; /* ends with a 0 */
	uint64_t offered;	    /* features */
	uint32_t class, index, config_size;
	uint16_t type, queues;
};

struct virtio_queue_saved {
	uint64_t desc, avail, used;
	uint16_t size, vector, enabled;
	uint8_t unused[6]; /* 0 */
	struct virtq_state at;
	uint8_t end[4]; /* 0 */
};

struct virtio_saved {
	struct virtio_identity identity;
	uint8_t pci[PCI_CONFIG_LEN];	   /* PCI configuration space */
	uint8_t config[VIRTIO_MAX_CONFIG]; /* the device's configuration */
	uint64_t accepted;
	uint32_t offered_select, accepted_select;
	uint16_t queue_select, config_vector;
	uint8_t status, broken, generation, isr, intx;
	uint8_t unused[7]; /* 0 */
	struct virtio_queue_saved queue[VIRTIO_MAX_QUEUES];
	struct pci_msix_state vector[VIRTIO_MAX_QUEUES + 1];
	uint8_t end[4]; /* 0 */
};

/* The virtio device in a slot of the PCI bus, or NULL when there is none. */
struct virtio *virtio_in_slot(struct pci *pci, unsigned slot);

/* Save a device, whose workers are paused and which no vCPU accesses. */
void virtio_save(struct virtio *v, struct virtio_saved *out);

/* Whether virtio_add() can make a device with this identity. */
bool virtio_identity_is_good(const struct virtio_identity *identity);

/*
 * Load the registers into a device with the same identity, in a machine that does not run yet, after pci_function_load(). A
 * device whose driver was ready is notified of all its queues. Returns false when they are none that a device can have; the
 * device is then only fit to be removed.
 */
bool virtio_load(struct virtio *v, const struct virtio_saved *state);

#endif
