/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KVM target (kvm.h): creates and frees the target, and handles the events of a vCPU's thread that the VMM passes on
 * (struct vm_callbacks).
 */
#include "hv/target/kvm/kvm.h"

#include <stdlib.h>

#include "hv/target/kvm/internal.h"

/* ---- one CPU ---- */

static void kvm_release(struct target *t, unsigned cpu)
{
	struct kvm_target *kt = kvm_target(t);

	atomic_store(&kt->cpus[cpu].hold.released, true);
	if (atomic_load(&kt->cpus[cpu].vcpu->in_guest))
		vcpu_kick(kt->cpus[cpu].vcpu);
}

static bool kvm_idle(struct target *t, unsigned index)
{
	return kvm_cpu_is_blocked(&kvm_target(t)->cpus[index]);
}

static uint64_t kvm_wake_ups(struct target *t, unsigned index)
{
	return kvm_cpu_wake_ups(&kvm_target(t)->cpus[index]);
}

/* Returns the current time, or the time of the machine's end if that is earlier: no time counts as lost after the end. */
static uint64_t moment(const struct kvm_target *kt)
{
	uint64_t ended = atomic_load(&kt->ended_ns);

	return ended ? ended : monotonic_ns();
}

static void note_end(struct kvm_target *kt)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&kt->ended_ns, &none, monotonic_ns());
}

static void kvm_stats(struct target *t, struct target_stats *out)
{
	struct kvm_target *kt = kvm_target(t);
	uint64_t now = moment(kt);

	*out = (struct target_stats){0};
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		const struct kvm_cpu *cpu = &kt->cpus[i];

		out->exits += atomic_load(&cpu->vcpu->exits);
		out->debug_exits += atomic_load(&cpu->vcpu->debug_exits);
		out->kicks += atomic_load(&cpu->vcpu->kicks);
		out->stale_exits += atomic_load(&cpu->stale_exits);
		out->ioctls += atomic_load(&cpu->ioctls);
		out->reinjected += atomic_load(&cpu->reinjected);
		out->stopped_ns += atomic_load(&cpu->stopped_ns);
		out->lost_ns += kvm_lost_ns(&cpu->lost, now);
	}
}

static void kvm_stop(struct target *t)
{
	note_end(kvm_target(t));
	vm_stop(kvm_target(t)->vm);
}

static const struct target_ops kvm_ops = {
	.stand_still = kvm_stand_still,
	.go_on = kvm_go_on,
	.read_phys = kvm_read_phys,
	.write_phys = kvm_write_phys,
	.plant = kvm_plant,
	.unplant = kvm_unplant,
	.refetch = kvm_refetch,
	.intercept = kvm_intercept,
	.watch_set = kvm_watch_set,
	.watch_clear = kvm_watch_clear,
	.watch_sync = kvm_watch_sync,
	.barrier = kvm_barrier,
	.release = kvm_release,
	.peek_regs = kvm_peek_regs,
	.debug_regs_changed = kvm_debug_regs_changed,
	.idle = kvm_idle,
	.wake_ups = kvm_wake_ups,
	.devices_watch = kvm_devices_watch,
	.devices_in_flight = kvm_devices_in_flight,
	.devices_busy = kvm_devices_busy,
	.devices_want = kvm_devices_want,
	.devices_let_go = kvm_devices_let_go,
	.stats = kvm_stats,
	.stop = kvm_stop,
};

/* ---- the VMM's callbacks ---- */

static int before_entry(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct kvm_target *kt = ctx;
	struct kvm_cpu *cpu = &kt->cpus[vcpu->index];

	/*
	 * Check for the end of a hold here too: if an interrupt handler on the held vCPU causes a conflict, the client
	 * releases the vCPU on the vCPU's own thread, without a kick.
	 */
	if (kvm_cpu_hold_is_over(cpu) && kvm_cpu_hold_end(cpu, err))
		return -1;
	if (kvm_cpu_debug_load(cpu, err))
		return -1;
	kvm_cpu_stand_at_entry(cpu);
	if (cpu->stopped_at)
		kvm_cpu_stop_ends(cpu);
	/*
	 * A held vCPU enters the guest only to take interrupts. The held context makes no progress meanwhile, so this time is
	 * still counted as lost.
	 */
	if (kvm_lost_goes_on(&cpu->lost) && !cpu->hold.active)
		kvm_lost_end(&cpu->lost, moment(kt));
	return 0;
}

static int on_debug(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct kvm_target *kt = ctx;
	struct kvm_cpu *cpu = &kt->cpus[vcpu->index];

	cpu->stopped_at = monotonic_ns();
	kvm_lost_begin(&cpu->lost, moment(kt));
	return kvm_cpu_on_debug(cpu, err);
}

static int on_kick(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct kvm_target *kt = ctx;
	struct kvm_cpu *cpu = &kt->cpus[vcpu->index];

	kvm_lost_begin(&cpu->lost, moment(kt));
	if (kvm_cpu_stand(cpu, err))
		return -1;
	return kvm_cpu_hold_is_over(cpu) ? kvm_cpu_hold_end(cpu, err) : 0;
}

struct target *kvm_target_new(struct vm *vm, enum kvm_bp_method method, struct err *err)
{
	struct kvm_target *kt = calloc(1, sizeof(*kt));
	pthread_condattr_t attr;

	if (!kt) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	kt->vm = vm;
	kt->method = method;
	kt->callbacks =
		(struct vm_callbacks){.before_entry = before_entry, .on_debug = on_debug, .on_kick = on_kick, .ctx = kt};
	kt->target.ops = &kvm_ops;
	kt->target.caps = (struct target_caps){
		.cpus = vm_cpu_count(vm),
		.watches = method == KVM_BP_INTERCEPT ? 4 : KVM_GATE_SLOT,
		.irq_while_held = true,
		.parallel = true,
		.devices = true,
	};
	kvm_devices_observe(kt);
	pthread_mutex_init(&kt->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&kt->moved, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&kt->go, NULL);
	for (unsigned i = 0; i < kt->target.caps.cpus; i++) {
		kt->cpus[i].kt = kt;
		kt->cpus[i].vcpu = vm_vcpu(vm, i);
		kt->cpus[i].guest_regs_unknown = true;
		kvm_cpu_idle_open(&kt->cpus[i]);
	}
	return &kt->target;
}

const struct vm_callbacks *kvm_target_callbacks(struct target *t)
{
	return &kvm_target(t)->callbacks;
}

void kvm_target_over(struct target *t)
{
	struct kvm_target *kt = kvm_target(t);

	note_end(kt);
	pthread_mutex_lock(&kt->lock);
	atomic_store(&kt->target.over, true);
	pthread_cond_broadcast(&kt->moved);
	pthread_mutex_unlock(&kt->lock);
	kvm_devices_ignore(kt);
}

void kvm_target_free(struct target *t)
{
	struct kvm_target *kt = kvm_target(t);

	if (!t)
		return;
	kvm_devices_ignore(kt);
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		if (kt->cpus[i].hold.timer_made)
			timer_delete(kt->cpus[i].hold.timer);
		kvm_cpu_idle_close(&kt->cpus[i]);
	}
	pthread_cond_destroy(&kt->go);
	pthread_cond_destroy(&kt->moved);
	pthread_mutex_destroy(&kt->lock);
	free(kt);
}
