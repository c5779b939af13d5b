/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries out the actions on a vCPU that the target's client (the detector) asks for. The main one is to hold the vCPU without
 * harm to the guest.
 *
 * A held vCPU is put into the halted state at the breakpoint, and its thread enters KVM_RUN. The thread then sleeps in KVM, and
 * wakes exactly when an interrupt is pending that the vCPU can take. The interrupt handler runs and returns to the INT3; the
 * vCPU hits the INT3 again, and the hold continues. So the held vCPU still handles an IPI for which another vCPU waits, and a
 * race between an interrupt handler and the held task can be seen. If the held context has interrupts off, only an NMI wakes
 * the vCPU.
 *
 * Each vCPU has a timer, whose signal ends the hold. target_release() ends the hold by a kick.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "hv/target/kvm/internal.h"
#include "hv/target/kvm/kvm.h"

static int set_mp_state(struct kvm_cpu *cpu, uint32_t state, struct err *err)
{
	struct kvm_mp_state mp = {.mp_state = state};

	if (kvm_cpu_ioctl(cpu, KVM_SET_MP_STATE, &mp))
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM_SET_MP_STATE: %s", cpu->vcpu->index, strerror(errno));
	return 0;
}

/* Create the vCPU's timer. It sends the kick signal to the calling thread, which must be the vCPU's. */
static int make_timer(struct kvm_cpu *cpu, struct err *err)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = vcpu_kick_signal(),
		._sigev_un._tid = gettid(),
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &cpu->hold.timer))
		return err_set(err, EXIT_INTERNAL, "vCPU %u: timer_create: %s", cpu->vcpu->index, strerror(errno));
	cpu->hold.timer_made = true;
	return 0;
}

static void set_timer(struct kvm_cpu *cpu, uint64_t deadline_ns)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(deadline_ns / 1000000000u), .tv_nsec = (long)(deadline_ns % 1000000000u)},
	};

	timer_settime(cpu->hold.timer, TIMER_ABSTIME, &when, NULL);
}

bool kvm_cpu_hold_is_over(const struct kvm_cpu *cpu)
{
	return cpu->hold.active && (atomic_load(&cpu->hold.released) || monotonic_ns() >= cpu->hold.deadline_ns);
}

static int begin(struct kvm_cpu *cpu, const struct x86_regs *regs, uint64_t hold_ns, struct err *err)
{
	struct kvm_hold *hold = &cpu->hold;

	/*
	 * If the held context hits its INT3 again after an interrupt, continue the hold: the timer still runs, and an earlier
	 * release still ends the hold. If another context is to be held, begin a new hold, even if the old hold was released
	 * and its on_hold_end has not been called yet.
	 */
	if (hold->active && (hold->rip != regs->rip || hold->rsp != regs->gpr[X86_RSP])) {
		hold->active = false;
		atomic_store(&hold->released, false);
	}
	if (!hold->active) {
		hold->began_ns = monotonic_ns();
		hold->deadline_ns = hold->began_ns + hold_ns;
		if (!hold->timer_made && make_timer(cpu, err))
			return -1;
		hold->active = true;
		cpu->reload = true;
		set_timer(cpu, hold->deadline_ns);
	}
	hold->rip = regs->rip;
	hold->rsp = regs->gpr[X86_RSP];
	return set_mp_state(cpu, KVM_MP_STATE_HALTED, err);
}

/*
 * Returns true if the vCPU is halted because the target holds it. If the held vCPU has left the held context for an interrupt,
 * the guest itself may have halted the vCPU by a HLT. If the vCPU has returned and is about to hit the INT3 again, it is
 * runnable, and either result is right.
 */
static bool is_halted_by_us(const struct kvm_cpu *cpu)
{
	struct x86_regs regs;

	kvm_cpu_regs_get(cpu, &regs);
	return cpu->hold.active && regs.rip == cpu->hold.rip && regs.gpr[X86_RSP] == cpu->hold.rsp;
}

unsigned kvm_target_held(struct target *t)
{
	const struct kvm_target *kt = kvm_target(t);
	unsigned held = 0;

	for (unsigned i = 0; i < t->caps.cpus; i++)
		if (is_halted_by_us(&kt->cpus[i]))
			held |= 1u << i;
	return held;
}

int kvm_cpu_act(struct kvm_cpu *cpu, struct target_action action, struct x86_regs *regs, bool dirty, struct err *err)
{
	if (dirty || action.kind == TARGET_RESUME_REGS)
		kvm_cpu_regs_set(cpu, regs);
	if (action.kind == TARGET_HOLD)
		return begin(cpu, regs, action.hold_ns, err);
	return 0;
}

int kvm_cpu_hold_end(struct kvm_cpu *cpu, struct err *err)
{
	const struct target_client *client = cpu->kt->target.client;
	struct kvm_hold *hold = &cpu->hold;
	struct target_action action;
	struct x86_regs regs;
	uint64_t now;

	kvm_cpu_regs_get(cpu, &regs);
	/*
	 * Clear `released` now, and not when the next hold begins. The client decides on the next hold in a callback, and
	 * another of its threads may release that hold before the hold begins. Clearing `released` then would lose the release.
	 */
	atomic_store(&hold->released, false);
	action = client->on_hold_end(client->ctx, cpu->vcpu->index, &regs);
	now = monotonic_ns();
	if (action.kind == TARGET_HOLD) {
		/* Change only the deadline: the vCPU is still halted, or runs an interrupt handler that returns to the INT3. */
		hold->deadline_ns = now + action.hold_ns;
		set_timer(cpu, hold->deadline_ns);
		return 0;
	}
	if (now < hold->deadline_ns)
		set_timer(cpu, 0); /* A time of 0 disarms the timer. */
	kvm_cpu_stood(cpu, hold->began_ns);
	hold->active = false;
	cpu->reload = true;

	/*
	 * Make the vCPU runnable only if it is still in the held context. In another context the vCPU runs already, or the
	 * guest halted it by a HLT that must not end here.
	 */
	if (regs.rip == hold->rip && regs.gpr[X86_RSP] == hold->rsp && set_mp_state(cpu, KVM_MP_STATE_RUNNABLE, err))
		return -1;
	return kvm_cpu_act(cpu, action, &regs, false, err);
}
