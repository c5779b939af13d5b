/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer for one MSR, for KVM_GET_MSRS and KVM_SET_MSRS: struct kvm_msrs itself ends with a flexible array. */
#ifndef OUTRIDER_VMM_ONE_MSR_H
#define OUTRIDER_VMM_ONE_MSR_H

#include <linux/kvm.h>
#include <stddef.h>
#include <stdint.h>

/* Has the layout of a struct kvm_msrs with one entry. */
struct one_msr {
	uint32_t nmsrs, pad;
	struct kvm_msr_entry entry;
};

_Static_assert(offsetof(struct one_msr, entry) == offsetof(struct kvm_msrs, entries),
	       "struct one_msr has the layout of struct kvm_msrs");

#endif
