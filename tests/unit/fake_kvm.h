/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A KVM that remembers what it was told, for tests of the KVM backend: the ioctls that backend makes on vCPUs, and the few
 * functions of hv/vmm that it calls, in place of the real ones. A test is the VMM's vCPU thread: it says what each exit was.
 */
#ifndef OUTRIDER_TESTS_FAKE_KVM_H
#define OUTRIDER_TESTS_FAKE_KVM_H

#include <linux/kvm.h>

#include "hv/target/kvm/kvm.h"
#include "tests/unit/fake_target.h"

struct fake_vcpu {
	struct vcpu vcpu;
	struct kvm_guest_debug debug; /* as last set */
	unsigned debug_sets;
	struct kvm_debugregs debugregs; /* the guest's own */
	uint32_t mp_state;
	struct kvm_regs regs; /* what KVM_GET_REGS and KVM_GET_SREGS say */
	struct kvm_sregs sregs;
};

struct vm {
	struct fake_target *memory; /* RAM and page tables only */
	uint64_t cr3;
	unsigned cpus;
	int check_extension; /* the answer to KVM_CHECK_EXTENSION */
	struct fake_vcpu cpu[TARGET_MAX_CPUS];
	unsigned stops;

	struct target *target;
	struct target_client client; /* set by fake_kvm_new(); its answers are below */
	struct target_action answer; /* with TARGET_RESUME_REGS, 0x1000 is added to each general register */
	struct target_action hold_answer;
	unsigned breakpoints, watches, hold_ends; /* calls */
	unsigned last_cpu;
	struct x86_regs last_regs;
	uint32_t cookies[TARGET_MAX_WATCHES];
	unsigned cookie_count;
};

/* One at a time. NULL: out of memory. */
struct vm *fake_kvm_new(unsigned cpus, enum kvm_bp_method method);
void fake_kvm_free(struct vm *vm);

/* What the vCPU's thread does around KVM_RUN. All fail the test if a hook fails. */
void fake_enter(struct vm *vm, unsigned cpu);
void fake_kick_exit(struct vm *vm, unsigned cpu);
void fake_debug_exit(struct vm *vm, unsigned cpu, unsigned exception, uint64_t dr6);

/* The registers of the next exits. */
struct kvm_regs *fake_regs(struct vm *vm, unsigned cpu);

/* The control bits of the last KVM_SET_GUEST_DEBUG. */
static inline uint32_t fake_control(const struct vm *vm, unsigned cpu)
{
	return vm->cpu[cpu].debug.control;
}

#endif
