/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a virtio device that a guest can see, as plain data: its identity, its registers, and the positions of its
 * queues. The backend, such as a disk's image or a network's connections, is not included.
 */
#ifndef OUTRIDER_VMM_VIRTIO_SAVED_H
#define OUTRIDER_VMM_VIRTIO_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/pci/msix.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/virtio/virtio.h"

#define VIRTIO_NAME_MAX 16

/* The identity of a device: its constant properties, which struct virtio_ops and the arguments of virtio_add() give. */
struct virtio_identity {
	char name[VIRTIO_NAME_MAX]; /* ends with a 0 */
	uint64_t offered;	    /* feature bits */
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

/* Returns the virtio device in a slot of the PCI bus, or NULL if the slot has none. */
struct virtio *virtio_in_slot(struct pci *pci, unsigned slot);

/* Save a device. Its workers must be paused, and no vCPU may access it. */
void virtio_save(struct virtio *v, struct virtio_saved *out);

/* Returns true if virtio_add() can make a device with this identity. */
bool virtio_identity_is_good(const struct virtio_identity *identity);

/*
 * Load the registers into a device with the same identity, before its machine runs, after pci_function_load(). If DRIVER_OK is
 * set, notifies the device of all its queues. Returns false if no device can have these registers; the device must then be
 * removed.
 */
bool virtio_load(struct virtio *v, const struct virtio_saved *state);

#endif
