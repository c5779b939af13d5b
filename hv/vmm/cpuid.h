/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPU the guest sees. It has every feature that KVM supports on this host. The topology, which KVM leaves to the VMM, is
 * one package of as many cores as the machine has vCPUs, with one thread each, where a vCPU's number is its APIC id (SDM vol. 2
 * CPUID, vol. 3 chapter "Detecting hardware multi-threading"; APM vol. 3 appendix E).
 */
#ifndef OUTRIDER_VMM_CPUID_H
#define OUTRIDER_VMM_CPUID_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/kvm.h>

#include "hv/base/err.h"

#define CPUID_ENTRIES_MAX 256

/* It has the layout of a struct kvm_cpuid2 with room for CPUID_ENTRIES_MAX entries. */
struct cpuid_table {
	uint32_t nent, padding;
	struct kvm_cpuid_entry2 entries[CPUID_ENTRIES_MAX];
};

/* Read what KVM supports on this host (KVM_GET_SUPPORTED_CPUID). Returns 0, or -1 with EXIT_INPUT. */
int cpuid_supported(int kvm_fd, struct cpuid_table *out, struct err *err);

/*
 * Turn the host's table into the one of CPU `index` of a machine of `cpus`. The function is pure, and may be applied to its own
 * result for the next CPU. `tsc_deadline` says that KVM's local APIC has that timer mode (KVM_CAP_TSC_DEADLINE_TIMER), which
 * KVM does not list in its table.
 */
void cpuid_for_cpu(struct cpuid_table *table, unsigned index, unsigned cpus, bool tsc_deadline);

/* The width of a guest-physical address in bits; 36 when the table does not say. */
unsigned cpuid_phys_bits(struct cpuid_table *table);

/* Whether the table's vendor is GenuineIntel. */
bool cpuid_is_intel(struct cpuid_table *table);

#endif
