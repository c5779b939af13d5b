/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUID of the guest. The guest has every feature that KVM supports on this host. KVM leaves the topology to the VMM, which
 * makes one package with one core for each vCPU, and one thread for each core. A vCPU's number is its APIC id (SDM vol. 2
 * CPUID, vol. 3 chapter "Detecting hardware multi-threading"; APM vol. 3 appendix E).
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
 * Change `table`, which cpuid_supported() has filled in, to the CPUID table of CPU `index` in a machine with `cpus` CPUs. The
 * changed table may be passed in again for the next CPU. `tsc_deadline` says that KVM's local APIC has the TSC-deadline timer
 * mode (KVM_CAP_TSC_DEADLINE_TIMER): KVM does not set that feature's bit in its table.
 */
void cpuid_for_cpu(struct cpuid_table *table, unsigned index, unsigned cpus, bool tsc_deadline);

/* Returns the width of a guest-physical address in bits; 36 if the table has no leaf 0x80000008. */
unsigned cpuid_phys_bits(struct cpuid_table *table);

/* Returns true if the table's vendor is GenuineIntel. */
bool cpuid_is_intel(struct cpuid_table *table);

#endif
