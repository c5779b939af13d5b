/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A KVM that records the calls of the KVM target, for its tests. It replaces the ioctls that the target makes on vCPUs, and the
 * functions of hv/vmm that the target calls.
 *
 * A test either takes the place of the VMM's vCPU threads and chooses each exit (fake_enter() and the functions after it), or
 * calls fake_cpu_start() to run a vCPU in a thread, which enters and leaves the guest by itself.
 */
#ifndef OUTRIDER_TESTS_FAKE_KVM_H
#define OUTRIDER_TESTS_FAKE_KVM_H

#include <linux/kvm.h>

#include "hv/target/kvm/kvm.h"
#include "hv/vmm/dma.h"
#include "tests/unit/target/fake_target.h"

struct fake_vcpu {
	struct vcpu vcpu;
	struct kvm_guest_debug debug;	/* The argument of the last KVM_SET_GUEST_DEBUG. */
	unsigned debug_sets;		/* How often KVM_SET_GUEST_DEBUG was called. */
	struct kvm_debugregs debugregs; /* The guest's own debug registers. */
	struct kvm_vcpu_events events;	/* With an exception in them, no other can be injected. */
	uint32_t mp_state;		/* The argument of the last KVM_SET_MP_STATE. */
	struct kvm_regs regs;		/* What KVM_GET_REGS returns. */
	struct kvm_sregs sregs;		/* What KVM_GET_SREGS returns. */
	unsigned clock_controls;	/* How often KVM_KVMCLOCK_CTRL was called. */

	/* What follows is for vCPUs that fake_cpu_start() has started. */
	pthread_t thread;
	atomic_bool ends;	       /* The thread is to end. */
	atomic_bool kicked;	       /* A kick's signal has come, and no KVM_RUN has returned for it yet. */
	atomic_bool traps;	       /* The next instruction is an INT3. */
	_Atomic uint64_t instructions; /* How many instructions the guest has executed. Each fourth is a read from a port. */
	bool reads_port; /* The vCPU left KVM_RUN for such a read, and the next KVM_RUN has to complete the read. */
};

struct vm {
	struct fake_target *memory; /* Only its RAM and page tables are used. */
	struct ram ram;		    /* The same RAM, for `dma`. */
	struct dma dma;
	bool notified; /* The driver notified a device, and the device has not begun to serve the notification. */
	uint64_t cr3;  /* GPA of an empty top-level page table. */
	unsigned cpus;
	int check_extension; /* The answer to KVM_CHECK_EXTENSION. */
	struct fake_vcpu cpu[TARGET_MAX_CPUS];
	unsigned stops; /* How often vm_stop() was called. */

	struct target *target;
	struct target_client client;	  /* fake_kvm_new() sets it. Its callbacks fill in and use what follows. */
	struct target_action answer;	  /* To a stop. With TARGET_RESUME_REGS, 0x1000 is added to each general register. */
	struct target_action hold_answer; /* To the end of a hold. */
	unsigned breakpoints, watches, hold_ends; /* How often each callback was called. */
	unsigned last_cpu;			  /* The vCPU of the last call. */
	struct x86_regs last_regs;		  /* The registers of the last call. */
	uint32_t cookies[TARGET_MAX_WATCHES];	  /* The cookies of the last watchpoint. */
	unsigned cookie_count;
};

/* Make the machine. Only one can exist at a time. Returns NULL when memory runs out. */
struct vm *fake_kvm_new(unsigned cpus, enum kvm_bp_method method);
void fake_kvm_free(struct vm *vm);

/* Run a vCPU in a thread, as the VMM does, and end that thread. A test must not call the functions below for a running vCPU. */
void fake_cpu_start(struct vm *vm, unsigned cpu);
void fake_cpu_end(struct vm *vm, unsigned cpu);

/* What the vCPU's thread does around KVM_RUN. All of these fail the test if a callback fails. */
void fake_enter(struct vm *vm, unsigned cpu);
void fake_kick_exit(struct vm *vm, unsigned cpu);
void fake_debug_exit(struct vm *vm, unsigned cpu, unsigned exception, uint64_t dr6);

/* The registers at the next KVM exits. */
struct kvm_regs *fake_regs(struct vm *vm, unsigned cpu);

/* The control bits of the last KVM_SET_GUEST_DEBUG. */
static inline uint32_t fake_control(const struct vm *vm, unsigned cpu)
{
	return vm->cpu[cpu].debug.control;
}

#endif
