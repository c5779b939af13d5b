/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPU the guest sees: all that KVM supports, plus the topology KVM leaves to us: one package of `cpus` cores with one
 * thread each, APIC id = index (SDM vol. 2 CPUID, vol. 3 chapter "Detecting hardware multi-threading"; APM vol. 3 appendix E).
 */
#ifndef OUTRIDER_VMM_CPUID_H
#define OUTRIDER_VMM_CPUID_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/kvm.h>

#include "hv/base/err.h"

#define CPUID_ENTRIES_MAX 256

/* Laid out as a struct kvm_cpuid2 with room for CPUID_ENTRIES_MAX entries. */
struct cpuid_table {
	uint32_t nent, padding;
	struct kvm_cpuid_entry2 entries[CPUID_ENTRIES_MAX];
};

/* KVM_GET_SUPPORTED_CPUID of this host. */
int cpuid_supported(int kvm_fd, struct cpuid_table *out, struct err *err);

/* The entry of a leaf (its first, where it has subleaves), or NULL. */
struct kvm_cpuid_entry2 *cpuid_find(struct cpuid_table *table, uint32_t leaf);

/*
 * Turn the host's table into that of CPU `index` of `cpus`. Pure, and may be applied again for the next CPU.
 * `tsc_deadline`: the in-kernel APIC has that timer mode (KVM_CAP_TSC_DEADLINE_TIMER), which KVM does not list by itself.
 */
void cpuid_for_cpu(struct cpuid_table *table, unsigned index, unsigned cpus, bool tsc_deadline);

/* Guest-physical address width, bits. */
unsigned cpuid_phys_bits(struct cpuid_table *table);

bool cpuid_is_intel(struct cpuid_table *table);

#endif
