/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves and loads the state of a vCPU (Documentation/virt/kvm/api.rst). The parts depend on each other, so they are loaded in
 * this order:
 *
 *  - CPUID, against which KVM checks all later parts.
 *  - The control registers, which include the local APIC's base address and x2APIC mode.
 *  - XCR0, then the FPU: XCR0 decides which components the FPU's state may have.
 *  - Most MSRs, the general registers, the local APIC, pending events and debug registers. Loading the local APIC starts its
 *    timer, except in TSC-deadline mode. In that mode the timer compares an MSR with the TSC, so this MSR is loaded later,
 *    after the TSC. The kvmclock's MSR is loaded after KVM's clock.
 *  - The MP state, after all other parts.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hv/vmm/cpuid.h"
#include "hv/vmm/host.h"
#include "hv/vmm/snapshot/internal.h"

enum {
	MSR_TSC = 0x10,
	MSR_KVM_WALL_CLOCK = 0x11,
	MSR_KVM_SYSTEM_TIME = 0x12,
	MSR_TSC_DEADLINE = 0x6e0,
	MSR_KVM_WALL_CLOCK_NEW = 0x4b564d00,
	MSR_KVM_SYSTEM_TIME_NEW = 0x4b564d01,
};

#define CR4_VMXE (1ull << 13)
#define EFER_SVME (1ull << 12)
#define MSRS_ROOM 1024u

static int refused(const struct vcpu *vcpu, bool loading, const char *what, struct err *err)
{
	return err_set(err, loading ? EXIT_INPUT : EXIT_INTERNAL, "vCPU %u: KVM does not %s %s: %s", vcpu->index,
		       loading ? "take" : "give", what, strerror(errno));
}

/* ---- parts with one ioctl to save and one to load ---- */

struct part {
	enum section type;
	unsigned long get, set;
	size_t len;
	const char *what;
};

static const struct part sregs_part = {SECTION_SREGS, KVM_GET_SREGS, KVM_SET_SREGS, sizeof(struct kvm_sregs),
				       "control registers"};
static const struct part xcrs_part = {SECTION_XCRS, KVM_GET_XCRS, KVM_SET_XCRS, sizeof(struct kvm_xcrs), "XCR0"};
static const struct part regs_part = {SECTION_REGS, KVM_GET_REGS, KVM_SET_REGS, sizeof(struct kvm_regs), "registers"};
static const struct part lapic_part = {SECTION_LAPIC, KVM_GET_LAPIC, KVM_SET_LAPIC, sizeof(struct kvm_lapic_state),
				       "the local APIC"};
static const struct part events_part = {SECTION_EVENTS, KVM_GET_VCPU_EVENTS, KVM_SET_VCPU_EVENTS,
					sizeof(struct kvm_vcpu_events), "pending events"};
static const struct part debug_part = {SECTION_DEBUG, KVM_GET_DEBUGREGS, KVM_SET_DEBUGREGS, sizeof(struct kvm_debugregs),
				       "debug registers"};
static const struct part mp_part = {SECTION_MP, KVM_GET_MP_STATE, KVM_SET_MP_STATE, sizeof(struct kvm_mp_state),
				    "the MP state"};

/* Room for the largest part. */
union part_data {
	struct kvm_sregs sregs;
	struct kvm_xcrs xcrs;
	struct kvm_regs regs;
	struct kvm_lapic_state lapic;
	struct kvm_vcpu_events events;
	struct kvm_debugregs debug;
	struct kvm_mp_state mp;
};

static int get(struct vcpu *vcpu, const struct part *part, union part_data *data, struct err *err)
{
	memset(data, 0, sizeof(*data));
	return ioctl(vcpu->fd, part->get, data) < 0 ? refused(vcpu, false, part->what, err) : 0;
}

static int save(struct vcpu *vcpu, const struct part *part, struct block_writer *w, struct err *err)
{
	union part_data data;

	if (get(vcpu, part, &data, err) < 0)
		return -1;
	block_put(w, part->type, vcpu->index, &data, part->len);
	return 0;
}

static int load(struct vcpu *vcpu, const struct part *part, const struct block *block, struct err *err)
{
	union part_data data;

	block_get(block, part->type, vcpu->index, &data, part->len);
	return ioctl(vcpu->fd, part->set, &data) < 0 ? refused(vcpu, true, part->what, err) : 0;
}

/* ---- CPUID ---- */

static int get_cpuid(struct vcpu *vcpu, struct cpuid_table *table, struct err *err)
{
	memset(table, 0, sizeof(*table));
	table->nent = CPUID_ENTRIES_MAX;
	return ioctl(vcpu->fd, KVM_GET_CPUID2, table) < 0 ? refused(vcpu, false, "CPUID", err) : 0;
}

static int save_cpuid(struct vcpu *vcpu, struct block_writer *w, struct err *err)
{
	struct cpuid_table table;

	if (get_cpuid(vcpu, &table, err) < 0)
		return -1;
	block_put(w, SECTION_CPUID, vcpu->index, table.entries, table.nent * sizeof(table.entries[0]));
	return 0;
}

static int load_cpuid(struct vcpu *vcpu, const struct block *block, struct err *err)
{
	const struct block_section *s = block_find(block, SECTION_CPUID, vcpu->index);
	struct cpuid_table table = {.nent = (uint32_t)(s->len / sizeof(table.entries[0]))};

	memcpy(table.entries, s->data, s->len);
	return ioctl(vcpu->fd, KVM_SET_CPUID2, &table) < 0 ? refused(vcpu, true, "CPUID", err) : 0;
}

int cpu_is_intel(struct vcpu *vcpu, uint32_t *intel, struct err *err)
{
	struct cpuid_table table;

	if (get_cpuid(vcpu, &table, err) < 0)
		return -1;
	*intel = cpuid_is_intel(&table);
	return 0;
}

/* ---- control registers and the MP state ---- */

/* Save the control registers. Fails for a guest that runs guests itself, because KVM's nested state is not saved. */
static int save_sregs(struct vcpu *vcpu, struct block_writer *w, struct err *err)
{
	union part_data data;

	if (get(vcpu, &sregs_part, &data, err) < 0)
		return -1;
	if (data.sregs.cr4 & CR4_VMXE || data.sregs.efer & EFER_SVME)
		return err_set(err, EXIT_INPUT, "the guest runs virtual machines of its own, so outrider cannot copy it");
	/* Clear the interrupt that is being injected: it is saved with the pending events. */
	memset(data.sregs.interrupt_bitmap, 0, sizeof(data.sregs.interrupt_bitmap));
	block_put(w, SECTION_SREGS, vcpu->index, &data, sizeof(data.sregs));
	return 0;
}

static int save_mp(struct vcpu *vcpu, bool runnable, struct block_writer *w, struct err *err)
{
	union part_data data;

	if (get(vcpu, &mp_part, &data, err) < 0)
		return -1;
	if (runnable)
		data.mp.mp_state = KVM_MP_STATE_RUNNABLE;
	block_put(w, SECTION_MP, vcpu->index, &data, sizeof(data.mp));
	return 0;
}

/* ---- the FPU ---- */

/* Load the XCRs, if there are any: a host whose CPUs have no XSAVE saves no XCRs, and accepts none. */
static int load_xcrs(struct vcpu *vcpu, const struct block *block, struct err *err)
{
	struct kvm_xcrs xcrs;

	block_get(block, SECTION_XCRS, vcpu->index, &xcrs, sizeof(xcrs));
	return xcrs.nr_xcrs ? load(vcpu, &xcrs_part, block, err) : 0;
}

/*
 * Returns the size in bytes of a vCPU's FPU state. Sets *extended if the state is larger than struct kvm_xsave, because the CPU
 * has features whose state does not fit there (KVM_CAP_XSAVE2).
 */
static size_t xsave_size(const struct vm *vm, bool *extended)
{
	int size = ioctl(vm->fd, KVM_CHECK_EXTENSION, KVM_CAP_XSAVE2);

	*extended = size > (int)sizeof(struct kvm_xsave);
	return *extended ? (size_t)size : sizeof(struct kvm_xsave);
}

static int save_xsave(struct vcpu *vcpu, struct block_writer *w, struct err *err)
{
	bool extended;
	size_t size = xsave_size(vcpu->vm, &extended);
	void *at = block_add(w, SECTION_XSAVE, vcpu->index, size);

	if (at && ioctl(vcpu->fd, extended ? KVM_GET_XSAVE2 : KVM_GET_XSAVE, at) < 0)
		return refused(vcpu, false, "the FPU", err);
	return 0;
}

/*
 * Load the FPU's state. KVM_SET_XSAVE reads as many bytes as an FPU state has on this host (xsave_size()). So the buffer has at
 * least this size, and its bytes after the saved bytes are 0.
 */
static int load_xsave(struct vcpu *vcpu, const struct block *block, struct err *err)
{
	const struct block_section *s = block_find(block, SECTION_XSAVE, vcpu->index);
	bool extended;
	size_t size = xsave_size(vcpu->vm, &extended);
	void *data = calloc(1, size > s->len ? size : s->len);
	int rc;

	if (!data)
		return err_set(err, EXIT_INTERNAL, "out of memory for the state of a vCPU");
	memcpy(data, s->data, s->len);
	rc = ioctl(vcpu->fd, KVM_SET_XSAVE, data) < 0 ? refused(vcpu, true, "the FPU", err) : 0;
	free(data);
	return rc;
}

/* ---- MSRs ---- */

struct msrs {
	uint32_t count, pad;
	struct kvm_msr_entry entry[MSRS_ROOM];
};

_Static_assert(offsetof(struct msrs, entry) == offsetof(struct kvm_msrs, entries),
	       "struct msrs has the layout of struct kvm_msrs");

struct msr_list {
	uint32_t count;
	uint32_t index[MSRS_ROOM];
};

_Static_assert(offsetof(struct msr_list, index) == offsetof(struct kvm_msr_list, indices),
	       "struct msr_list has the layout of struct kvm_msr_list");

/*
 * Returns true for MSRs that are not saved. The TSC has a section of its own. A write to a wall clock's MSR only makes KVM
 * store the time of day in guest RAM; a guest that needs the time of day writes the MSR again.
 */
static bool left_out(uint32_t msr)
{
	return msr == MSR_TSC || msr == MSR_KVM_WALL_CLOCK || msr == MSR_KVM_WALL_CLOCK_NEW;
}

static bool is_late(uint32_t msr)
{
	return msr == MSR_TSC_DEADLINE || msr == MSR_KVM_SYSTEM_TIME || msr == MSR_KVM_SYSTEM_TIME_NEW;
}

static int list_msrs(struct vcpu *vcpu, struct msrs *msrs, struct err *err)
{
	struct msr_list list = {.count = MSRS_ROOM};

	if (ioctl(vcpu->vm->kvm_fd, KVM_GET_MSR_INDEX_LIST, &list) < 0)
		return refused(vcpu, false, "its list of MSRs", err);
	msrs->count = 0;
	for (uint32_t i = 0; i < list.count; i++)
		if (!left_out(list.index[i]))
			msrs->entry[msrs->count++] = (struct kvm_msr_entry){.index = list.index[i]};
	return 0;
}

/*
 * Read those MSRs of the list that exist on this vCPU. KVM_GET_MSRS stops at the first MSR that it cannot read, such as one of
 * a feature that is not in the vCPU's CPUID. Skip that MSR.
 */
static int get_msrs(struct vcpu *vcpu, struct msrs *msrs, struct err *err)
{
	uint32_t done = 0, left = msrs->count;
	struct msrs some;

	while (left) {
		int n;

		some.count = left;
		some.pad = 0;
		memcpy(some.entry, msrs->entry + msrs->count - left, left * sizeof(some.entry[0]));
		n = ioctl(vcpu->fd, KVM_GET_MSRS, &some);
		if (n < 0)
			return refused(vcpu, false, "MSRs", err);
		memcpy(msrs->entry + done, some.entry, (uint32_t)n * sizeof(some.entry[0]));
		done += (uint32_t)n;
		left -= (uint32_t)n < left ? (uint32_t)n + 1 : left;
	}
	msrs->count = done;
	return 0;
}

static int save_msrs(struct vcpu *vcpu, struct block_writer *w, struct err *err)
{
	struct msrs msrs;

	if (list_msrs(vcpu, &msrs, err) < 0 || get_msrs(vcpu, &msrs, err) < 0)
		return -1;
	block_put(w, SECTION_MSRS, vcpu->index, msrs.entry, msrs.count * sizeof(msrs.entry[0]));
	return 0;
}

/* Returns true if an MSR that KVM refuses to write has the wanted value already, so that the refusal does no harm. */
static bool has_value(struct vcpu *vcpu, const struct kvm_msr_entry *wanted)
{
	struct msrs one = {.count = 1, .entry[0].index = wanted->index};

	return ioctl(vcpu->fd, KVM_GET_MSRS, &one) == 1 && one.entry[0].data == wanted->data;
}

static int set_msrs(struct vcpu *vcpu, const struct kvm_msr_entry *entry, uint32_t count, struct err *err)
{
	struct msrs msrs;

	while (count) {
		int n;

		msrs.count = count;
		msrs.pad = 0;
		memcpy(msrs.entry, entry, count * sizeof(*entry));
		n = ioctl(vcpu->fd, KVM_SET_MSRS, &msrs);
		if (n < 0)
			return refused(vcpu, true, "MSRs", err);
		entry += n;
		count -= (uint32_t)n;
		if (!count)
			break;
		if (!has_value(vcpu, entry))
			return err_set(err, EXIT_INPUT, "vCPU %u: KVM refuses 0x%llx in MSR 0x%x", vcpu->index, entry->data,
				       entry->index);
		entry++;
		count--;
	}
	return 0;
}

/* Load the MSRs that depend on clocks (`late`), or all other MSRs. */
static int load_msrs(struct vcpu *vcpu, bool late, const struct block *block, struct err *err)
{
	const struct block_section *s = block_find(block, SECTION_MSRS, vcpu->index);
	struct kvm_msr_entry chosen[MSRS_ROOM];
	uint32_t count = 0;

	for (size_t at = 0; at < s->len; at += sizeof(chosen[0])) {
		struct kvm_msr_entry entry;

		memcpy(&entry, s->data + at, sizeof(entry));
		if (!left_out(entry.index) && is_late(entry.index) == late)
			chosen[count++] = entry;
	}
	return set_msrs(vcpu, chosen, count, err);
}

/* ---- all parts ---- */

int cpu_save(struct vcpu *vcpu, bool runnable, struct block_writer *w, struct err *err)
{
	if (save_mp(vcpu, runnable, w, err) < 0 || save_cpuid(vcpu, w, err) < 0 || save_sregs(vcpu, w, err) < 0 ||
	    save(vcpu, &xcrs_part, w, err) < 0 || save_xsave(vcpu, w, err) < 0 || save_msrs(vcpu, w, err) < 0 ||
	    save(vcpu, &regs_part, w, err) < 0 || save(vcpu, &lapic_part, w, err) < 0 || save(vcpu, &events_part, w, err) < 0 ||
	    save(vcpu, &debug_part, w, err) < 0)
		return -1;
	return 0;
}

int cpu_load(struct vcpu *vcpu, const struct block *block, struct err *err)
{
	if (load_cpuid(vcpu, block, err) < 0 || load(vcpu, &sregs_part, block, err) < 0 || load_xcrs(vcpu, block, err) < 0 ||
	    load_xsave(vcpu, block, err) < 0 || load_msrs(vcpu, false, block, err) < 0 ||
	    load(vcpu, &regs_part, block, err) < 0 || load(vcpu, &lapic_part, block, err) < 0 ||
	    load(vcpu, &events_part, block, err) < 0 || load(vcpu, &debug_part, block, err) < 0)
		return -1;
	return 0;
}

int cpu_load_end(struct vcpu *vcpu, const struct block *block, struct err *err)
{
	return load_msrs(vcpu, true, block, err) < 0 ? -1 : load(vcpu, &mp_part, block, err);
}
