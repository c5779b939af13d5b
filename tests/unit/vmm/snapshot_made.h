/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A well-formed block of saved state that comes from no machine, for tests of its readers without KVM. */
#ifndef OUTRIDER_TESTS_UNIT_SNAPSHOT_MADE_H
#define OUTRIDER_TESTS_UNIT_SNAPSHOT_MADE_H

#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>

#include "hv/vmm/platform/pm.h"
#include "hv/vmm/platform/rtc.h"
#include "hv/vmm/platform/serial.h"
#include "hv/vmm/snapshot/block.h"
#include "hv/vmm/virtio/saved.h"

#define MADE_CPUS 2u
#define MADE_CARD 1u /* the slot of its only PCI device */
#define MADE_RINGS 0x10000u

/* A PCI device with one queue, whose driver is ready. */
static inline void made_card(struct virtio_saved *card)
{
	memset(card, 0, sizeof(*card));
	snprintf(card->identity.name, sizeof(card->identity.name), "virtio-made");
	card->identity.class = 0xff0000;
	card->identity.type = 4;
	card->identity.queues = 1;
	card->identity.config_size = 8;
	card->identity.offered = VIRTIO_CORE_FEATURES;
	card->accepted = VIRTIO_CORE_FEATURES;
	card->status = 0xf;
	card->config_vector = 0;
	card->pci[4] = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	card->pci[0x17] = 0xc0; /* BAR 1 of 32 bits, with MSI-X, and BAR 4 of 64 bits, with the registers */
	card->pci[0x16] = 0x01;
	card->pci[0x23] = 0xc0;
	memcpy(card->config, "made up.", 8);
	for (unsigned i = 0; i < VIRTIO_MAX_QUEUES; i++)
		card->queue[i].size = VIRTQ_MAX_SIZE;
	card->queue[0] = (struct virtio_queue_saved){
		.desc = MADE_RINGS,
		.avail = MADE_RINGS + 0x2000,
		.used = MADE_RINGS + 0x4000,
		.size = 64,
		.vector = 1,
		.enabled = 1,
		.at = {.wanted = 17, .next_avail = 17, .next_used = 16, .published = 16, .signalled = 15},
	};
	card->vector[1].entry[0] = 0xfee00000;
	card->vector[1].entry[2] = 0x31;
}

static inline void made_devices(struct block_writer *w)
{
	const struct serial_state serial = {.ier = 1, .dll = 1, .rx_count = 2, .rx = "ab"};
	const struct rtc_state rtc = {.offset = 3600, .ram[0xb] = 2};
	const struct pm_state pm = {.control = 1, .timer = 1234567};
	struct virtio_saved card;

	made_card(&card);
	block_put(w, SECTION_SERIAL, 0, &serial, sizeof(serial));
	block_put(w, SECTION_RTC, 0, &rtc, sizeof(rtc));
	block_put(w, SECTION_PM, 0, &pm, sizeof(pm));
	block_add(w, SECTION_PCI, 0, sizeof(struct pci_state));
	block_put(w, SECTION_PCI_DEVICE, MADE_CARD, &card, sizeof(card));
}

static inline void made_cpu(struct block_writer *w, unsigned cpu)
{
	block_add(w, SECTION_CPUID, cpu, sizeof(struct kvm_cpuid_entry2));
	block_add(w, SECTION_SREGS, cpu, sizeof(struct kvm_sregs));
	block_add(w, SECTION_XCRS, cpu, sizeof(struct kvm_xcrs));
	block_add(w, SECTION_XSAVE, cpu, sizeof(struct kvm_xsave));
	block_add(w, SECTION_MSRS, cpu, 3 * sizeof(struct kvm_msr_entry));
	block_add(w, SECTION_REGS, cpu, sizeof(struct kvm_regs));
	block_add(w, SECTION_LAPIC, cpu, sizeof(struct kvm_lapic_state));
	block_add(w, SECTION_EVENTS, cpu, sizeof(struct kvm_vcpu_events));
	block_add(w, SECTION_DEBUG, cpu, sizeof(struct kvm_debugregs));
	block_add(w, SECTION_MP, cpu, sizeof(struct kvm_mp_state));
	block_add(w, SECTION_TSC, cpu, sizeof(uint64_t));
}

/* Write all sections except those of devices. */
static inline void made_machine(struct block_writer *w)
{
	const struct block_machine machine = {.cpus = MADE_CPUS, .intel = 1, .memory = 64u << 20, .tsc_khz = 2000000};

	block_put(w, SECTION_MACHINE, 0, &machine, sizeof(machine));
	for (unsigned cpu = 0; cpu < MADE_CPUS; cpu++)
		made_cpu(w, cpu);
	for (unsigned chip = 0; chip < BLOCK_IRQCHIPS; chip++)
		block_add(w, SECTION_IRQCHIP, chip, sizeof(struct kvm_irqchip));
	block_add(w, SECTION_PIT, 0, sizeof(struct kvm_pit_state2));
}

#endif
