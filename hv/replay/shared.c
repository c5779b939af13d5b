// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/shared.h"

#include <linux/kvm.h>
#include <stddef.h>
#include <sys/ioctl.h>

/* Each MSR says where the area is, and its lowest bit whether there is one. */
static const struct kind {
	uint32_t msr;
	uint32_t flags; /* bits that are no address */
	uint32_t len;	/* bytes */
} kinds[SHARED_MAX] = {
	{0x12, 0x1, 32},	/* MSR_KVM_SYSTEM_TIME */
	{0x4b564d01, 0x1, 32},	/* MSR_KVM_SYSTEM_TIME_NEW */
	{0x4b564d02, 0x3f, 64}, /* MSR_KVM_ASYNC_PF_EN */
	{0x4b564d03, 0x3f, 64}, /* MSR_KVM_STEAL_TIME */
	{0x4b564d04, 0x3, 4},	/* MSR_KVM_EOI_EN */
};

/* It has the layout of a struct kvm_msrs with one entry. */
struct one_msr {
	uint32_t nmsrs, pad;
	struct kvm_msr_entry entry;
};

_Static_assert(offsetof(struct one_msr, entry) == offsetof(struct kvm_msrs, entries), "KVM reads it as its kvm_msrs");

unsigned shared_areas(int vcpu_fd, struct compare_range out[SHARED_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < SHARED_MAX; i++) {
		struct one_msr m = {.nmsrs = 1, .entry = {.index = kinds[i].msr}};

		if (ioctl(vcpu_fd, KVM_GET_MSRS, &m) == 1 && m.entry.data & 1)
			out[n++] = (struct compare_range){m.entry.data & ~(uint64_t)kinds[i].flags, kinds[i].len};
	}
	return n;
}
