/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUID of the guest. The guest has every feature that KVM supports on this host. KVM leaves the topology to the VMM: one
 * package with as many cores as the machine has vCPUs, and one thread a core. A vCPU's number is its APIC id (SDM vol. 2 CPUID,
 * vol. 3 chapter "Detecting hardware multi-threading"; APM vol. 3 appendix E).
 */
#ifndef OUTRIDER_VMM_CPUID_H
#define OUTRIDER_VMM_CPUID_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/kvm.h>

#include "hv/base/err.h"

#define CPUID_ENTRIES_MAX 256

/* Has the layout of a struct kvm_cpuid2 with room for CPUID_ENTRIES_MAX entries. */
struct cpuid_table {
	uint32_t nent, padding;
	struct kvm_cpuid_entry2 entries[CPUID_ENTRIES_MAX];
};

/* Read the CPUID features that KVM supports on this host (KVM_GET_SUPPORTED_CPUID). Returns 0, or -1 with EXIT_INPUT. */
int cpuid_supported(int kvm_fd, struct cpuid_table *out, struct err *err);

/*
 * Change the host's table to that of CPU `index` of a machine with `cpus` CPUs. The result may be passed in again for the next
 * CPU. `tsc_deadline` says that KVM's local APIC has the TSC-deadline timer mode (KVM_CAP_TSC_DEADLINE_TIMER): KVM does not put
 * that bit into its table.
 */
void cpuid_for_cpu(struct cpuid_table *table, unsigned index, unsigned cpus, bool tsc_deadline);

/* The width of a guest-physical address in bits; 36 when the table has no leaf for it. */
unsigned cpuid_phys_bits(struct cpuid_table *table);

/* Whether the table's vendor is GenuineIntel. */
bool cpuid_is_intel(struct cpuid_table *table);

#endif
