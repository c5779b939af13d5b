/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a vCPU shares with KVM, and what no order of two accesses has a part in: its clock, and interrupts on their way. */
#ifndef OUTRIDER_REPLAY_SHARED_H
#define OUTRIDER_REPLAY_SHARED_H

#include "hv/base/err.h"
#include "hv/replay/compare.h"

/* Areas that a vCPU has at most. */
#define SHARED_MAX 5

/*
 * The memory that KVM itself writes to for the vCPU with this descriptor, as its MSRs say (Documentation/virt/kvm/x86/msr.rst).
 * Returns how many there are.
 */
unsigned shared_areas(int vcpu_fd, struct compare_range out[SHARED_MAX]);

/*
 * The GPA of 8 bytes in which KVM counts the nanoseconds that the vCPU's thread waited for a CPU of the host's (the first
 * member of struct kvm_steal_time). They are the guest's memory, which it may write to. 0: KVM does not count.
 */
uint64_t shared_stolen(int vcpu_fd);

/*
 * An interrupt that KVM was about to inject when the machine was made to stand would be injected at the first step, whatever is
 * blocked. Give it back to the local APIC, which keeps it until interrupts are let in. Returns 0, or -1 with `err` set.
 */
int shared_give_back_interrupt(int vcpu_fd, struct err *err);

/*
 * The highest vector of the interrupts that the local APIC has for a vCPU, and that the vCPU has not taken yet. -1: there is
 * none, or it cannot be told.
 */
int shared_waiting_interrupt(int vcpu_fd);

#endif
