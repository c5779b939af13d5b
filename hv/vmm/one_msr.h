/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer for one MSR, for KVM_GET_MSRS and KVM_SET_MSRS (Documentation/virt/kvm/api.rst): struct kvm_msrs itself has no room
 * for an MSR, because it ends with a flexible array.
 */
#ifndef OUTRIDER_VMM_ONE_MSR_H
#define OUTRIDER_VMM_ONE_MSR_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* Has the layout of a struct kvm_msrs with one entry. */
struct one_msr {
	uint32_t nmsrs, pad;
	struct kvm_msr_entry entry;
};

_Static_assert(offsetof(struct one_msr, entry) == offsetof(struct kvm_msrs, entries),
	       "struct one_msr has the layout of struct kvm_msrs");

/* Read the vCPU's MSR `index` into *value. Returns false, with errno as ioctl(2) left it, if KVM cannot read the MSR. */
static inline bool one_msr_get(int vcpu_fd, uint32_t index, uint64_t *value)
{
	struct one_msr m = {.nmsrs = 1, .entry = {.index = index}};

	if (ioctl(vcpu_fd, KVM_GET_MSRS, &m) != 1)
		return false;
	*value = m.entry.data;
	return true;
}

#endif
