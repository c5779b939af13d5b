// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and restores state that a vCPU shares with KVM: memory that KVM writes, and pending interrupts. */
#include "hv/replay/shared.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hv/vmm/one_msr.h"

/*
 * Offsets in a local APIC of the registers for vectors 0 to 31 (SDM vol. 3, 10.4.1). The registers for each next 32 vectors are
 * 16 bytes further.
 */
#define APIC_ISR 0x100u
#define APIC_IRR 0x200u

#define STEAL_TIME 0x4b564d03u /* MSR_KVM_STEAL_TIME */

/*
 * Memory areas that KVM writes. Each area has an MSR, which contains the area's address, and in the lowest bit whether the area
 * is in use.
 */
static const struct kind {
	uint32_t msr;
	uint32_t flags; /* bits that are not part of the address */
	uint32_t len;	/* bytes */
} kinds[SHARED_MAX] = {
	{0x12, 0x1, 32},			      /* MSR_KVM_SYSTEM_TIME */
	{0x4b564d01, 0x1, 32},			      /* MSR_KVM_SYSTEM_TIME_NEW */
	{0x4b564d02, 0x3f, 64},			      /* MSR_KVM_ASYNC_PF_EN */
	{STEAL_TIME, 0x3f, 64}, {0x4b564d04, 0x3, 4}, /* MSR_KVM_EOI_EN */
};

unsigned shared_areas(int vcpu_fd, struct compare_range out[SHARED_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < SHARED_MAX; i++) {
		uint64_t value;

		if (one_msr_get(vcpu_fd, kinds[i].msr, &value) && value & 1)
			out[n++] = (struct compare_range){value & ~(uint64_t)kinds[i].flags, kinds[i].len};
	}
	return n;
}

uint64_t shared_stolen(int vcpu_fd)
{
	uint64_t value;

	return one_msr_get(vcpu_fd, STEAL_TIME, &value) && value & 1 ? value & ~UINT64_C(0x3f) : 0;
}

/*
 * Undo KVM's acknowledgement of the interrupt, which moved the vector's bit from IRR to ISR. Returns false when the interrupt
 * did not come from this APIC.
 */
static bool take_back(struct kvm_lapic_state *apic, uint8_t vector)
{
	size_t at = (size_t)vector / 32 * 16;
	uint32_t isr, irr, bit = 1u << vector % 32;

	memcpy(&isr, apic->regs + APIC_ISR + at, sizeof(isr));
	memcpy(&irr, apic->regs + APIC_IRR + at, sizeof(irr));
	if (!(isr & bit))
		return false;
	isr &= ~bit;
	irr |= bit;
	memcpy(apic->regs + APIC_ISR + at, &isr, sizeof(isr));
	memcpy(apic->regs + APIC_IRR + at, &irr, sizeof(irr));
	return true;
}

int shared_give_back_interrupt(int vcpu_fd, struct err *err)
{
	struct kvm_vcpu_events events = {0};
	struct kvm_lapic_state apic = {0};

	if (ioctl(vcpu_fd, KVM_GET_VCPU_EVENTS, &events) < 0)
		return err_set(err, EXIT_INTERNAL, "copy: KVM_GET_VCPU_EVENTS: %s", strerror(errno));
	if (!events.interrupt.injected || events.interrupt.soft)
		return 0;
	if (ioctl(vcpu_fd, KVM_GET_LAPIC, &apic) < 0)
		return err_set(err, EXIT_INTERNAL, "copy: KVM_GET_LAPIC: %s", strerror(errno));
	if (!take_back(&apic, events.interrupt.nr))
		return err_set(
			err, EXIT_INTERNAL,
			"copy: KVM was about to inject an interrupt that is not the local APIC's, which a copy cannot keep");
	events.interrupt.injected = 0;
	if (ioctl(vcpu_fd, KVM_SET_LAPIC, &apic) < 0 || ioctl(vcpu_fd, KVM_SET_VCPU_EVENTS, &events) < 0)
		return err_set(err, EXIT_INTERNAL,
			       "copy: an interrupt that KVM was about to inject cannot be given back to the local APIC: %s",
			       strerror(errno));
	return 0;
}

int shared_waiting_interrupt(int vcpu_fd)
{
	struct kvm_lapic_state apic = {0};

	if (ioctl(vcpu_fd, KVM_GET_LAPIC, &apic) < 0)
		return -1;
	for (int word = 7; word >= 0; word--) {
		uint32_t irr;

		memcpy(&irr, apic.regs + APIC_IRR + (size_t)word * 16, sizeof(irr));
		if (irr)
			return word * 32 + 31 - __builtin_clz(irr);
	}
	return -1;
}
