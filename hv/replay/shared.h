/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the guest's that KVM itself writes to: its clock, stolen time, and the like. No order of two accesses shows there.
 */
#ifndef OUTRIDER_REPLAY_SHARED_H
#define OUTRIDER_REPLAY_SHARED_H

#include "hv/replay/compare.h"

/* Areas that a vCPU has at most. */
#define SHARED_MAX 5

/*
 * The areas of the vCPU with this descriptor, as its MSRs say (Documentation/virt/kvm/x86/msr.rst). Returns how many there are.
 */
unsigned shared_areas(int vcpu_fd, struct compare_range out[SHARED_MAX]);

#endif
