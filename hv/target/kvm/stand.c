/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes all vCPUs stand still.
 *
 * kvm_target.stands counts the callers that want the machine to stand still. A vCPU sets in_guest before it reads this count,
 * just before KVM_RUN. A caller raises the count before it reads in_guest. So either the vCPU sees the count and sets
 * immediate_exit in its kvm_run page, or the caller sees in_guest and kicks the vCPU, and the handler of the kick signal sets
 * immediate_exit. Either way KVM_RUN returns -EINTR at once, and the vCPU waits in its on_kick callback.
 *
 * The vCPU waits in the callback and not before KVM_RUN, because only a KVM_RUN that returned -EINTR has completed the last KVM
 * exit: the register that a port or MMIO read fills, and the registers in the kvm_run page that the target changed
 * (Documentation/virt/kvm/api.rst, "kvm_run structure" and KVM_CAP_SYNC_REGS). So ioctls on a vCPU that stands read a complete
 * state.
 */
#include "hv/target/kvm/internal.h"

/*
 * Returns true if every vCPU stands. A vCPU stands while it waits in kvm_cpu_stand(). A vCPU without a thread stands, too: if
 * its thread starts now, that thread sees kvm_target.stands before the vCPU executes anything.
 */
static bool all_stand(const struct kvm_target *kt)
{
	for (unsigned i = 0; i < kt->target.caps.cpus; i++) {
		if (!kt->cpus[i].stands && atomic_load(&kt->cpus[i].vcpu->tid))
			return false;
	}
	return true;
}

/* Undo one kvm_stand_still(). The caller holds kvm_target.lock. */
static void end_stand(struct kvm_target *kt)
{
	if (atomic_fetch_sub(&kt->stands, 1) == 1)
		pthread_cond_broadcast(&kt->go);
}

int kvm_stand_still(struct target *t)
{
	struct kvm_target *kt = kvm_target(t);
	int ret = 0;

	pthread_mutex_lock(&kt->lock);
	atomic_fetch_add(&kt->stands, 1);
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct vcpu *vcpu = kt->cpus[i].vcpu;

		if (atomic_load(&vcpu->in_guest))
			vcpu_kick(vcpu);
	}
	while (!all_stand(kt) && !atomic_load(&t->over))
		kvm_wait_moved(kt);
	if (atomic_load(&t->over)) {
		end_stand(kt);
		ret = -1;
	}
	pthread_mutex_unlock(&kt->lock);
	return ret;
}

void kvm_go_on(struct target *t)
{
	struct kvm_target *kt = kvm_target(t);

	pthread_mutex_lock(&kt->lock);
	end_stand(kt);
	pthread_mutex_unlock(&kt->lock);
}

void kvm_cpu_stand_at_entry(struct kvm_cpu *cpu)
{
	if (atomic_load(&cpu->kt->stands))
		*(volatile uint8_t *)&cpu->vcpu->run->immediate_exit = 1;
}

int kvm_cpu_stand(struct kvm_cpu *cpu, struct err *err)
{
	struct kvm_target *kt = cpu->kt;
	uint64_t began_ns = 0;
	int ret;

	pthread_mutex_lock(&kt->lock);
	while ((ret = kvm_cpu_answer_peek(cpu, err)) == 0 && atomic_load(&kt->stands)) {
		if (!cpu->stands) {
			began_ns = monotonic_ns();
			cpu->stands = true;
			pthread_cond_broadcast(&kt->moved);
		}
		pthread_cond_wait(&kt->go, &kt->lock);
	}
	cpu->stands = false;
	pthread_mutex_unlock(&kt->lock);
	if (began_ns)
		kvm_cpu_stood(cpu, began_ns);
	return ret;
}
