/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the KVM target only. The client is the user of the target, which is the detector.
 *
 * struct kvm_desired says what the debug registers of all vCPUs must hold, with a generation number that every change raises.
 * Before every entry into the guest, a vCPU compares this number with the generation that it has loaded, and loads the changes.
 * Running vCPUs are kicked for a new watch (kvm_watch_sync()), but not for a retired watch.
 *
 * The kvm_cpu_*() functions with a struct err run on the vCPU's own thread, while the vCPU is outside KVM_RUN. They return 0,
 * or -1 with `err` set.
 */
#ifndef OUTRIDER_TARGET_KVM_INTERNAL_H
#define OUTRIDER_TARGET_KVM_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/target/kvm/lost.h"
#include "hv/target/kvm/method.h"
#include "hv/target/kvm/stops.h"
#include "hv/target/target.h"
#include "hv/vmm/dma.h"
#include "hv/vmm/vmm.h"

#define KVM_GATE_SLOT 3 /* The debug register that KVM_BP_IDT_GATE takes for the #BP handler. */

/* One of the machine's watches. */
struct kvm_slot {
	bool used; /* The client has set `watch` and has not cleared it. */
	struct target_watch watch;
};

/* What the debug registers of all vCPUs must hold. Guarded by kvm_target.lock, but `generation` may be read without it. */
struct kvm_desired {
	_Atomic uint32_t generation; /* Generation of these values, raised by every change. It may wrap around. */
	bool intercept;		     /* The target intercepts breakpoints. If false, the target uses no debug register. */
	uint64_t gate;		     /* GVA of the guest's #BP handler. Only KVM_BP_IDT_GATE uses it. */
	struct kvm_slot slots[TARGET_MAX_WATCHES];
};

/* The hold of one vCPU (TARGET_HOLD). Only that vCPU's own thread uses it, except for `released`. */
struct kvm_hold {
	bool active;	      /* The vCPU is held. */
	bool timer_made;      /* `timer` exists. */
	atomic_bool released; /* Set by target_release() on any thread: the hold has ended. */
	uint64_t began_ns;    /* When the hold began (CLOCK_MONOTONIC, ns). */
	uint64_t deadline_ns; /* When the hold ends by itself (CLOCK_MONOTONIC, ns). */
	uint64_t rip, rsp;    /* The held context: its RIP and stack pointer at the stop. */
	timer_t timer;	      /* Kicks the vCPU at deadline_ns. */
};

/* The target's state of one vCPU. Used by that vCPU's own thread, unless a member's comment says otherwise. */
struct kvm_cpu {
	struct kvm_target *kt;
	struct vcpu *vcpu;

	_Atomic uint32_t loaded;		/* Generation of the loaded debug registers. Any thread reads it. */
	bool reload;				/* Load the debug registers again, even if the generation is the same. */
	bool watching[TARGET_MAX_WATCHES];	/* For each debug register: true if it holds a watch of the client. */
	uint32_t cookies[TARGET_MAX_WATCHES];	/* The cookie of the watch in each debug register. */
	uint8_t guest_slot[TARGET_MAX_WATCHES]; /* For each debug register: 1 + the number of the guest's own breakpoint in it,
						   or 0 for none. */
	/* The GVA of the breakpoint in debug register KVM_GATE_SLOT: the guest's #BP handler. */
	uint64_t gate;

	uint64_t guest_db[4];		/* The guest's own breakpoints, as last read. */
	uint64_t guest_dr7;		/* The guest's own DR7, as last read. */
	atomic_bool guest_regs_unknown; /* guest_db and guest_dr7 must be read again. Any thread sets this. */

	struct kvm_hold hold;

	int stats_fd; /* Descriptor of the vCPU's binary statistics, or -1 if KVM has none. */
	/* Offsets of the values "blocking" and "halt_wakeup" in the statistics. -1: there is no such value. */
	off_t blocking_at, wake_ups_at;

	struct x86_regs *peek; /* Where kvm_peek_regs() waits for the registers, or NULL. Guarded by kvm_target.lock. */
	bool stands; /* The vCPU waits in kvm_cpu_stand() until the machine may continue. Guarded by kvm_target.lock. */

	uint64_t stopped_at; /* Time of the debug exit that is being handled (CLOCK_MONOTONIC, ns). 0: none. */
	struct kvm_stops stops;

	/* Counters. The members of struct target_stats with these names explain them. */
	struct kvm_lost lost;
	_Atomic uint64_t stopped_ns;
	_Atomic uint64_t stale_exits;
	_Atomic uint64_t ioctls;
	_Atomic uint64_t reinjected;
};

struct kvm_target {
	struct target target; /* The first member, because kvm_target() casts a pointer to it. */
	struct vm *vm;
	struct vm_callbacks callbacks;
	struct device_observer observer; /* Called by the machine's devices. */
	enum kvm_bp_method method;
	/*
	 * Guards `desired`, changes of this struct's `stands`, and the members `peek` and `stands` of each struct kvm_cpu. Held
	 * for a short time only, and never during a callback of the client.
	 */
	pthread_mutex_t lock;
	/*
	 * Signalled when a vCPU has loaded its debug registers, has answered a peek or stands still, or when the machine has
	 * ended.
	 */
	pthread_cond_t moved;
	/* Signalled when a vCPU that stands must check whether the machine may continue, or whether a peek waits. */
	pthread_cond_t go;
	/*
	 * When target_stop() was called, or else when the machine ended (CLOCK_MONOTONIC, ns). Time after it is not counted as
	 * lost. 0: not yet.
	 */
	_Atomic uint64_t ended_ns;
	atomic_uint stands; /* Number of kvm_stand_still() calls without their kvm_go_on(). */
	struct kvm_desired desired;
	struct kvm_cpu cpus[TARGET_MAX_CPUS];
};

static inline struct kvm_target *kvm_target(struct target *t)
{
	return (struct kvm_target *)t;
}

/* ---- cpu.c ---- */

/* Make an ioctl on the vCPU and count it. Any thread may call this. Returns 0, or -1 with errno set. */
int kvm_cpu_ioctl(struct kvm_cpu *cpu, unsigned long request, void *arg);

/*
 * Tell the guest's watchdog, through kvmclock, that the vCPU was kept from running since `since_ns` (CLOCK_MONOTONIC), if that
 * is longer than 100 ms.
 */
void kvm_cpu_stood(struct kvm_cpu *cpu, uint64_t since_ns);

/*
 * To be called when the debug exit that began at stopped_at has been handled. Tells the guest's watchdog if debug exits took
 * most of the vCPU's time lately.
 */
void kvm_cpu_stop_ends(struct kvm_cpu *cpu);

/* Read and write the registers in the shared kvm_run page (KVM_CAP_SYNC_REGS). This takes no ioctl. */
void kvm_cpu_regs_get(const struct kvm_cpu *cpu, struct x86_regs *regs);
void kvm_cpu_regs_set(struct kvm_cpu *cpu, const struct x86_regs *regs);

/* ---- idle.c ---- */

/* Open and close the vCPU's statistics. If KVM has none, kvm_cpu_is_blocked() and kvm_cpu_wake_ups() return 0. */
void kvm_cpu_idle_open(struct kvm_cpu *cpu);
void kvm_cpu_idle_close(struct kvm_cpu *cpu);

/* Returns true if the vCPU sleeps in KVM until an interrupt comes. Any thread. */
bool kvm_cpu_is_blocked(const struct kvm_cpu *cpu);

/* Returns how often an interrupt woke the vCPU up from a sleep in KVM, or 0 if KVM does not count this. Any thread. */
uint64_t kvm_cpu_wake_ups(const struct kvm_cpu *cpu);

/* ---- memory.c: operations of struct target_ops ---- */

int kvm_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len);
int kvm_write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len);
int kvm_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first);
void kvm_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact);
void kvm_refetch(struct target *t, uint64_t gpa, uint8_t byte);

/* ---- desired.c: operations of struct target_ops, and a helper for peek.c and stand.c ---- */

int kvm_intercept(struct target *t, bool on, struct err *err);
void kvm_watch_set(struct target *t, unsigned slot, const struct target_watch *watch);
void kvm_watch_clear(struct target *t, unsigned slot);
void kvm_watch_sync(struct target *t, unsigned self);
bool kvm_barrier(struct target *t, unsigned self);
void kvm_debug_regs_changed(struct target *t, unsigned cpu);

/*
 * Wait for kvm_target.moved, but at most 200 us, because a vCPU that leaves the guest by itself does not signal it. The caller
 * holds kvm_target.lock.
 */
void kvm_wait_moved(struct kvm_target *kt);

/* ---- peek.c ---- */

int kvm_peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs); /* An operation of struct target_ops. */

/* If a thread waits in kvm_peek_regs() for this vCPU's registers, pass them on. The caller holds kvm_target.lock. */
int kvm_cpu_answer_peek(struct kvm_cpu *cpu, struct err *err);

/* ---- stand.c ---- */

int kvm_stand_still(struct target *t); /* kvm_stand_still() and kvm_go_on() are operations of struct target_ops. */
void kvm_go_on(struct target *t);

/*
 * Call this last before each KVM_RUN. If the machine is to stand still, KVM_RUN then returns at once, without executing
 * anything.
 */
void kvm_cpu_stand_at_entry(struct kvm_cpu *cpu);

/*
 * Serve other threads that kicked the vCPU: pass registers to kvm_peek_regs(), and wait until no caller of kvm_stand_still() is
 * left. To be called first after KVM_RUN has returned -EINTR.
 */
int kvm_cpu_stand(struct kvm_cpu *cpu, struct err *err);

/* ---- devices.c ---- */

void kvm_devices_watch(struct target *t, uint64_t filter); /* Five operations of struct target_ops. */
void kvm_devices_in_flight(struct target *t, const struct device_observer *observer);
bool kvm_devices_busy(struct target *t);
void kvm_devices_want(struct target *t, unsigned nth);
void kvm_devices_let_go(struct target *t);

/* Begin and end the forwarding of accesses of the machine's devices to the client. */
void kvm_devices_observe(struct kvm_target *kt);
void kvm_devices_ignore(struct kvm_target *kt);

/* ---- debug_regs.c ---- */

/* Load the debug registers if they are out of date. */
int kvm_cpu_debug_load(struct kvm_cpu *cpu, struct err *err);

/*
 * Inject an exception into the guest: `what` is KVM_GUESTDBG_INJECT_BP or KVM_GUESTDBG_INJECT_DB. The counter `reinjected`
 * counts the injections.
 */
int kvm_cpu_inject(struct kvm_cpu *cpu, uint32_t what, struct err *err);

/* ---- debug_exits.c ---- */

/* Handle a KVM_EXIT_DEBUG: deliver it to the client, or inject it into the guest. */
int kvm_cpu_on_debug(struct kvm_cpu *cpu, struct err *err);

/* ---- hold.c ---- */

/*
 * Carry out the client's action. `regs` are the registers that were passed to the client, which the client may have changed.
 * `dirty`: the target itself changed them, so they must be written back whatever the action is.
 */
int kvm_cpu_act(struct kvm_cpu *cpu, struct target_action action, struct x86_regs *regs, bool dirty, struct err *err);

/* Returns true if the vCPU is held and its hold has ended: by time or by a release. */
bool kvm_cpu_hold_is_over(const struct kvm_cpu *cpu);

/* End a hold for which kvm_cpu_hold_is_over() returns true: call the client's on_hold_end and carry out its action. */
int kvm_cpu_hold_end(struct kvm_cpu *cpu, struct err *err);

#endif
