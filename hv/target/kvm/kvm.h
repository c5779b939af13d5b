/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target for a machine of our own VMM. It makes breakpoints and watchpoints with KVM_SET_GUEST_DEBUG and holds a vCPU with
 * KVM_SET_MP_STATE. The client's callbacks run on the vCPUs' own threads, in parallel.
 */
#ifndef OUTRIDER_TARGET_KVM_H
#define OUTRIDER_TARGET_KVM_H

#include "hv/target/kvm/method.h"
#include "hv/target/target.h"
#include "hv/vmm/vmm.h"

/*
 * Make the target for `vm`, before vm_run(). The target uses `vm` until kvm_target_free() but does not own it. Returns NULL
 * with `err` set when memory runs out.
 */
struct target *kvm_target_new(struct vm *vm, enum kvm_bp_method method, struct err *err);

/* The hooks to be given to vm_run(). They belong to the target. */
const struct vm_hooks *kvm_target_hooks(struct target *t);

/*
 * The vCPUs that the target has put into the MP state HALTED to hold them: a bit (1u << index) for each, as vm_state_save()
 * wants it. To be called while the machine stands still.
 */
unsigned kvm_target_held(struct target *t);

/*
 * Say that vm_run() has returned. Every thread that waits for a vCPU in a function of the target returns from it. When this
 * function returns, no device is in a callback of the client's, and none will be.
 */
void kvm_target_over(struct target *t);

/* Free the target after vm_run() has returned. NULL is allowed. */
void kvm_target_free(struct target *t);

#endif
