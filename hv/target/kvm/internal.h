/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the KVM backend only.
 *
 * What each vCPU's debug registers should hold is kept in one place, struct desired, with a generation number; a vCPU compares
 * before every entry and loads what changed. Whoever changes it decides whether to kick (a new watch) or not (a retired one).
 */
#ifndef OUTRIDER_TARGET_KVM_INTERNAL_H
#define OUTRIDER_TARGET_KVM_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/target/kvm/kvm.h"

#define GATE_SLOT 3 /* the debug register the IDT-gate method takes */

struct slot {
	bool used;
	struct target_watch watch;
};

struct desired {
	_Atomic uint32_t generation;
	bool intercept;
	uint64_t gate; /* GVA of the #BP handler, IDT-gate method only */
	struct slot slots[TARGET_MAX_WATCHES];
};

struct hold {
	bool active;
	bool timer_made;
	atomic_bool released;
	uint64_t began_ns, deadline_ns; /* CLOCK_MONOTONIC */
	uint64_t rip, rsp;		/* where the held context stands */
	timer_t timer;
};

struct cpu {
	struct kvm_target *kt;
	struct vcpu *vcpu;
	_Atomic uint32_t loaded;		/* generation its debug registers reflect */
	bool reload;				/* its own part (guest registers, hold) changed */
	bool watching[TARGET_MAX_WATCHES];	/* a watch is loaded in that register, */
	uint32_t cookies[TARGET_MAX_WATCHES];	/* this one */
	uint8_t guest_slot[TARGET_MAX_WATCHES]; /* 1 + the guest's own register loaded there; 0: not the guest's */
	uint64_t gate;				/* as loaded */
	uint64_t guest_db[4], guest_dr7;	/* the guest's own breakpoints, as last seen */
	atomic_bool guest_regs_unknown;		/* they changed since, or were never looked at */
	struct hold hold;
	int stats_fd; /* -1: none */
	off_t blocking_at;
	struct x86_regs *peek; /* where a peek wants the registers; under kt->lock */
	_Atomic uint64_t stale_exits, ioctls, reinjected;
};

struct kvm_target {
	struct target target;
	struct vm *vm;
	struct vm_hooks hooks;
	enum kvm_bp_method method;
	pthread_mutex_t lock; /* guards desired and peeks; held for a few instructions only */
	pthread_cond_t moved; /* a CPU loaded its debug registers, answered a peek, or the machine is over */
	struct desired desired;
	struct cpu cpus[TARGET_MAX_CPUS];
};

static inline struct kvm_target *kvm_target(struct target *t)
{
	return (struct kvm_target *)t;
}

/* A vCPU ioctl from its own thread, counted. 0 or -1 with errno. */
int cpu_ioctl(struct cpu *cpu, unsigned long request, void *arg);

/* regs.c: the register file through the shared kvm_run page (KVM_CAP_SYNC_REGS), so without ioctls. */
void cpu_regs_get(const struct cpu *cpu, struct x86_regs *regs);
void cpu_regs_set(struct cpu *cpu, const struct x86_regs *regs);

/* debug.c */
int cpu_debug_load(struct cpu *cpu, struct err *err);
int cpu_on_debug(struct cpu *cpu, struct err *err);
int cpu_inject_bp(struct cpu *cpu, struct err *err);

/* idle.c */
void cpu_stats_open(struct cpu *cpu);
void cpu_stats_close(struct cpu *cpu);
bool cpu_is_blocked(const struct cpu *cpu);

/* hold.c */
int cpu_hold_begin(struct cpu *cpu, const struct x86_regs *regs, uint64_t hold_ns, struct err *err);
bool cpu_hold_is_over(const struct cpu *cpu);
int cpu_hold_end(struct cpu *cpu, struct err *err);

/* kvm.c: carry out what the client said. `regs` are the (possibly changed) registers; `dirty` if we changed them ourselves. */
int cpu_act(struct cpu *cpu, struct target_action action, struct x86_regs *regs, bool dirty, struct err *err);

#endif
