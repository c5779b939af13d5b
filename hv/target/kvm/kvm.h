/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target behind our own VMM: breakpoints, watchpoints and holds through KVM_SET_GUEST_DEBUG and KVM_SET_MP_STATE. */
#ifndef OUTRIDER_TARGET_KVM_H
#define OUTRIDER_TARGET_KVM_H

#include "hv/target/kvm/method.h"
#include "hv/target/target.h"
#include "hv/vmm/vmm.h"

/* Needs `vm` until kvm_target_free(). Pass kvm_target_hooks() to vm_run(). */
struct target *kvm_target_new(struct vm *vm, enum kvm_bp_method method, struct err *err);
const struct vm_hooks *kvm_target_hooks(struct target *t);

/* The machine is over: whoever waits for a CPU is let go. */
void kvm_target_over(struct target *t);
void kvm_target_free(struct target *t);

#endif
