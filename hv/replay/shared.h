/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State that a vCPU shares with KVM, and that is no effect of an order: its clock, and pending interrupts. */
#ifndef OUTRIDER_REPLAY_SHARED_H
#define OUTRIDER_REPLAY_SHARED_H

#include "hv/base/err.h"
#include "hv/replay/compare.h"

/* The most areas of a vCPU. */
#define SHARED_MAX 5

/*
 * The memory that KVM itself writes for the vCPU with this file descriptor, by its MSRs (Documentation/virt/kvm/x86/msr.rst).
 * Returns the number of areas.
 */
unsigned shared_areas(int vcpu_fd, struct compare_range out[SHARED_MAX]);

/*
 * The GPA of the 8 bytes in which KVM counts the nanoseconds that the vCPU's thread waited for a host CPU (the first member of
 * struct kvm_steal_time). The guest can write them. 0: KVM does not count.
 */
uint64_t shared_stolen(int vcpu_fd);

/*
 * Return an interrupt that KVM was about to inject when the machine was stopped to the local APIC, which keeps it until
 * interrupts are enabled. Otherwise KVM would inject it at the first step, even with interrupts blocked. Returns 0, or -1 with
 * `err` set.
 */
int shared_give_back_interrupt(int vcpu_fd, struct err *err);

/* The highest vector of the interrupts that are pending in a vCPU's local APIC. -1: none, or unknown. */
int shared_waiting_interrupt(int vcpu_fd);

#endif
