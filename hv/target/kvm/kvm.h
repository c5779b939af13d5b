/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target behind our own VMM: breakpoints, watchpoints and holds through KVM_SET_GUEST_DEBUG and KVM_SET_MP_STATE. */
#ifndef OUTRIDER_TARGET_KVM_H
#define OUTRIDER_TARGET_KVM_H

#include "hv/target/target.h"
#include "hv/vmm/vmm.h"

/* How a guest INT3 reaches us; chosen by probe_host(). */
enum kvm_bp_method {
	KVM_BP_INTERCEPT, /* KVM_GUESTDBG_USE_SW_BP */
	/*
	 * Where the #BP intercept is broken (nested SVM under QEMU's TCG): an execute debug register on the target of IDT
	 * gate 3. The CPU stops at the handler's first instruction with the frame on its stack; we pop it, and the exception
	 * never happened. Costs one of the four debug registers.
	 */
	KVM_BP_IDT_GATE,
};

/* Needs `vm` until kvm_target_free(). Pass kvm_target_hooks() to vm_run(). */
struct target *kvm_target_new(struct vm *vm, enum kvm_bp_method method, struct err *err);
const struct vm_hooks *kvm_target_hooks(struct target *t);

/* The machine is over: whoever waits for a CPU is let go. */
void kvm_target_over(struct target *t);
void kvm_target_free(struct target *t);

#endif
