/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the CPUID table of one vCPU from the table of what KVM supports: sets the vCPU's APIC id, and the topology of one
 * package with one core for each vCPU.
 */
#include "hv/vmm/cpuid.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#define LEVEL_SMT 1u
#define LEVEL_CORE 2u

_Static_assert(offsetof(struct cpuid_table, nent) == offsetof(struct kvm_cpuid2, nent) &&
		       offsetof(struct cpuid_table, entries) == offsetof(struct kvm_cpuid2, entries),
	       "struct cpuid_table has the layout of struct kvm_cpuid2");

int cpuid_supported(int kvm_fd, struct cpuid_table *out, struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->nent = CPUID_ENTRIES_MAX;
	if (ioctl(kvm_fd, KVM_GET_SUPPORTED_CPUID, out) < 0)
		return err_set(err, EXIT_INPUT, "KVM_GET_SUPPORTED_CPUID failed: %s", strerror(errno));
	return 0;
}

/* Returns the first entry of a leaf, which is subleaf 0 if the leaf has subleaves, or NULL if the table has no such leaf. */
static struct kvm_cpuid_entry2 *find_leaf(struct cpuid_table *table, uint32_t leaf)
{
	for (unsigned i = 0; i < table->nent; i++)
		if (table->entries[i].function == leaf)
			return &table->entries[i];
	return NULL;
}

/* Returns the number of low bits of an APIC id that distinguish the CPUs of a package. */
static unsigned id_bits(unsigned cpus)
{
	unsigned bits = 0;

	while (1u << bits < cpus)
		bits++;
	return bits;
}

static void drop_leaf(struct cpuid_table *table, uint32_t leaf)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < table->nent; i++)
		if (table->entries[i].function != leaf)
			table->entries[kept++] = table->entries[i];
	table->nent = kept;
}

static void add_level(struct cpuid_table *table, uint32_t leaf, uint32_t level, uint32_t type, unsigned shift, unsigned count,
		      unsigned index)
{
	if (table->nent >= CPUID_ENTRIES_MAX)
		return;
	table->entries[table->nent++] = (struct kvm_cpuid_entry2){
		.function = leaf,
		.index = level,
		.flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.eax = shift,
		.ebx = count,
		.ecx = type << 8 | level,
		.edx = index,
	};
}

/* Replace a leaf of the extended topology enumeration (0xb and 0x1f). */
static void set_extended_topology(struct cpuid_table *table, uint32_t leaf, unsigned index, unsigned cpus)
{
	const struct kvm_cpuid_entry2 *max = find_leaf(table, 0);

	drop_leaf(table, leaf);
	if (!max || max->eax < leaf)
		return;
	add_level(table, leaf, 0, LEVEL_SMT, 0, 1, index);
	add_level(table, leaf, 1, LEVEL_CORE, id_bits(cpus), cpus, index);
	add_level(table, leaf, 2, 0, 0, 0, index);
}

/* Set leaf 1: the initial APIC id, the number of logical processors, and the features that depend on the machine. */
static void set_features(struct kvm_cpuid_entry2 *e, unsigned index, unsigned cpus, bool tsc_deadline)
{
	e->ebx = (e->ebx & 0xffff) | cpus << 16 | index << 24;
	e->ecx |= 1u << 31; /* a hypervisor is present */
	if (tsc_deadline)
		e->ecx |= 1u << 24; /* the local APIC has TSC-deadline mode */
	if (cpus > 1)
		e->edx |= 1u << 28; /* HTT: more than one APIC id in the package */
	else
		e->edx &= ~(1u << 28);
}

/*
 * Set an entry of leaf 4 or of AMD's leaf 0x8000001d, which says how many CPUs share a cache. Leaf 4 also has the number of
 * core ids (`core_ids`). Each core has its own levels 1 and 2; the package shares level 3.
 */
static void set_cache(struct kvm_cpuid_entry2 *e, unsigned cpus, bool core_ids)
{
	uint32_t ids = (1u << id_bits(cpus)) - 1;
	uint32_t level = e->eax >> 5 & 7;

	if (!(e->eax & 0x1f))
		return;
	e->eax &= core_ids ? 0x3fff : ~(0xfffu << 14);
	e->eax |= (level >= 3 ? ids : 0) << 14;
	if (core_ids)
		e->eax |= ids << 26;
}

static void set_leaf(struct kvm_cpuid_entry2 *e, unsigned index, unsigned cpus, bool tsc_deadline, bool intel)
{
	switch (e->function) {
	case 1:
		set_features(e, index, cpus, tsc_deadline);
		break;
	case 4:
		set_cache(e, cpus, true);
		break;
	case 0x80000001:
		if (!intel) /* CmpLegacy: the logical processors that leaf 1 counts are cores */
			e->ecx = cpus > 1 ? e->ecx | 2 : e->ecx & ~2u;
		break;
	case 0x80000008:
		if (!intel)
			e->ecx = (e->ecx & ~0xf0ffu) | id_bits(cpus) << 12 | (cpus - 1);
		break;
	case 0x8000001d:
		set_cache(e, cpus, false);
		break;
	case 0x8000001e:
		e->eax = index;
		e->ebx = index; /* the core id; a core has one thread */
		e->ecx = 0;	/* node 0 of one node */
		e->edx = 0;
		break;
	default:
		break;
	}
}

void cpuid_for_cpu(struct cpuid_table *table, unsigned index, unsigned cpus, bool tsc_deadline)
{
	bool intel = cpuid_is_intel(table);

	drop_leaf(table, 0x80000026);
	for (unsigned i = 0; i < table->nent; i++)
		set_leaf(&table->entries[i], index, cpus, tsc_deadline, intel);
	set_extended_topology(table, 0xb, index, cpus);
	set_extended_topology(table, 0x1f, index, cpus);
}

unsigned cpuid_phys_bits(struct cpuid_table *table)
{
	const struct kvm_cpuid_entry2 *e = find_leaf(table, 0x80000008);

	return e ? e->eax & 0xff : 36;
}

bool cpuid_is_intel(struct cpuid_table *table)
{
	const struct kvm_cpuid_entry2 *e = find_leaf(table, 0);

	return e && e->ebx == 0x756e6547 && e->edx == 0x49656e69 && e->ecx == 0x6c65746e; /* GenuineIntel */
}
