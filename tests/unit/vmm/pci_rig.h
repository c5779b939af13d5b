/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of RAM, a bus and PCI without KVM, for the tests of PCI and of virtio devices. A message is an eventfd that the
 * test polls. The machine records at which GPAs devices accept notifications, and rig_ring_bell() makes one.
 */
#ifndef OUTRIDER_TESTS_UNIT_PCI_RIG_H
#define OUTRIDER_TESTS_UNIT_PCI_RIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/dma.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/virtio/virtio.h"

#define RIG_RAM 0x100000u
#define RIG_MESSAGES 128
#define RIG_BELLS 64

struct rig_message {
	int fd;		 /* -1: not in use */
	unsigned routed; /* how often it was set */
	uint64_t address;
	uint32_t data;
};

struct pci_rig {
	uint8_t *memory; /* RIG_RAM bytes at GPA 0 */
	struct ram ram;
	struct dma dma;
	struct bus bus;
	struct pci pci;
	struct workers workers;
	struct virtio_bus virtio;
	atomic_bool level[GSI_COUNT];
	struct rig_message message[RIG_MESSAGES]; /* of the GSI GSI_COUNT + index */
	struct {
		uint64_t gpa; /* 0: not in use */
		int fd;
	} bell[RIG_BELLS];
	bool no_bells; /* the host refuses to take notifications */
	int end;       /* enum vm_end, or -1 while the machine runs */
};

void rig_init(struct pci_rig *rig);
void rig_destroy(struct pci_rig *rig);

/* Access the configuration space of a slot's function 0, or MMIO, as a vCPU does. */
uint32_t rig_config_read(struct pci_rig *rig, unsigned slot, unsigned offset, unsigned size);
void rig_config_write(struct pci_rig *rig, unsigned slot, unsigned offset, unsigned size, uint32_t value);
uint64_t rig_mmio_read(struct pci_rig *rig, uint64_t gpa, unsigned size);
void rig_mmio_write(struct pci_rig *rig, uint64_t gpa, unsigned size, uint64_t value);

/* Return the offset of the first capability with this id after the capability at `after` (0: from the start). 0: none exists.
 */
unsigned rig_capability(struct pci_rig *rig, unsigned slot, uint8_t id, unsigned after);

/* Return how often the message of this GSI was sent since the last call. */
uint64_t rig_sent(struct pci_rig *rig, unsigned gsi);

/* Wait until the message is sent. */
void rig_wait_sent(struct pci_rig *rig, unsigned gsi);

/* Notify the device that registered this GPA, as KVM does for a write. Returns false when no device registered it. */
bool rig_ring_bell(struct pci_rig *rig, uint64_t gpa);

#endif
