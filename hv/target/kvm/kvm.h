/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target for a machine of Outrider's own VMM. Breakpoints and watchpoints use KVM_SET_GUEST_DEBUG, and a hold uses
 * KVM_SET_MP_STATE. The client's callbacks run on the vCPUs' own threads, in parallel.
 */
#ifndef OUTRIDER_TARGET_KVM_H
#define OUTRIDER_TARGET_KVM_H

#include "hv/target/kvm/method.h"
#include "hv/target/target.h"
#include "hv/vmm/vmm.h"

/*
 * Create the target for `vm`, before vm_run(). The target uses `vm` until kvm_target_free() but does not own it. Returns NULL
 * with `err` set if memory runs out.
 */
struct target *kvm_target_new(struct vm *vm, enum kvm_bp_method method, struct err *err);

/* Returns the callbacks for vm_run(). Owned by the target. */
const struct vm_callbacks *kvm_target_callbacks(struct target *t);

/*
 * Returns a bit (1u << index) for each vCPU whose MP state is HALTED because the target holds it, for vm_state_save(). To be
 * called while the machine stands still.
 */
unsigned kvm_target_held(struct target *t);

/*
 * Record that the machine has ended. To be called when vm_run() has returned. Every thread that waits for a vCPU in a function
 * of the target returns from that function. After the return of kvm_target_over(), no device calls the client any more, and no
 * call by a device is in progress.
 */
void kvm_target_over(struct target *t);

/* Free the target after vm_run() has returned. `t` may be NULL. */
void kvm_target_free(struct target *t);

#endif
