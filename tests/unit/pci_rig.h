/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of RAM, a bus and PCI without KVM, for the tests of PCI and of virtio devices. Messages are eventfds that the test
 * polls, and notifications are recorded, for the test to make.
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

/* Configuration space of a slot's function 0, and MMIO, as a vCPU accesses them. */
uint32_t rig_config_read(struct pci_rig *rig, unsigned slot, unsigned offset, unsigned size);
void rig_config_write(struct pci_rig *rig, unsigned slot, unsigned offset, unsigned size, uint32_t value);
uint64_t rig_mmio_read(struct pci_rig *rig, uint64_t gpa, unsigned size);
void rig_mmio_write(struct pci_rig *rig, uint64_t gpa, unsigned size, uint64_t value);

/* Offset of the first capability with this id after the one at `after` (0: from the start); 0: there is none. */
unsigned rig_capability(struct pci_rig *rig, unsigned slot, uint8_t id, unsigned after);

/* Take what was sent of the message of this GSI. Returns the number of sendings, 0 when there was none. */
uint64_t rig_sent(struct pci_rig *rig, unsigned gsi);

/* Wait until the message is sent. */
void rig_wait_sent(struct pci_rig *rig, unsigned gsi);

/* Notify as KVM does for a write to this GPA. Returns false when nobody asked for it. */
bool rig_ring_bell(struct pci_rig *rig, uint64_t gpa);

#endif
