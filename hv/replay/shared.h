/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State that a vCPU shares with KVM, and that is no effect of an order: its clock, and pending interrupts. */
#ifndef OUTRIDER_REPLAY_SHARED_H
#define OUTRIDER_REPLAY_SHARED_H

#include "hv/base/err.h"
#include "hv/replay/compare.h"

/* Maximum number of memory areas that KVM writes for one vCPU. */
#define SHARED_MAX 5

/*
 * Store in `out` the memory areas that KVM itself writes for the vCPU with this file descriptor, as set by the vCPU's MSRs
 * (Documentation/virt/kvm/x86/msr.rst). Returns the number of areas.
 */
unsigned shared_areas(int vcpu_fd, struct compare_range out[SHARED_MAX]);

/*
 * Returns the GPA of the 8 bytes in which KVM counts the nanoseconds that the vCPU's thread waited for a host CPU (the first
 * member of struct kvm_steal_time). The guest can write them. 0: KVM does not count this time.
 */
uint64_t shared_stolen(int vcpu_fd);

/*
 * If KVM was about to inject an interrupt when the machine was stopped, return this interrupt to the local APIC, which keeps it
 * until interrupts are enabled. Otherwise KVM would inject it at the first step, even with interrupts blocked. Returns 0, or -1
 * with `err` set.
 */
int shared_give_back_interrupt(int vcpu_fd, struct err *err);

/*
 * Returns the highest vector of the interrupts that are pending in a vCPU's local APIC, or -1 if no interrupt is pending, or if
 * that is unknown.
 */
int shared_waiting_interrupt(int vcpu_fd);

#endif
