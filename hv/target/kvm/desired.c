/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes what the debug registers of all vCPUs must hold (struct kvm_desired), and waits until they are loaded. Each change
 * raises the generation, a number by which a vCPU sees that it must load its debug registers again.
 */
#include "hv/target/kvm/internal.h"

#define MOMENT_NS 200000     /* longest wait of kvm_wait_moved(), in ns */
#define BARRIER_NS 10000000u /* kvm_barrier() gives up after this time, in ns */

static void raise_generation(struct kvm_target *kt)
{
	atomic_fetch_add(&kt->desired.generation, 1);
}

void kvm_watch_set(struct target *t, unsigned slot, const struct target_watch *watch)
{
	struct kvm_target *kt = kvm_target(t);

	pthread_mutex_lock(&kt->lock);
	kt->desired.slots[slot].watch = *watch;
	kt->desired.slots[slot].used = true;
	raise_generation(kt);
	pthread_mutex_unlock(&kt->lock);
}

void kvm_watch_clear(struct target *t, unsigned slot)
{
	struct kvm_target *kt = kvm_target(t);

	pthread_mutex_lock(&kt->lock);
	kt->desired.slots[slot].used = false;
	raise_generation(kt);
	pthread_mutex_unlock(&kt->lock);
}

void kvm_wait_moved(struct kvm_target *kt)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += MOMENT_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&kt->moved, &kt->lock, &until);
}

static bool up_to_date(const struct kvm_cpu *cpu, uint32_t generation)
{
	return (int32_t)(atomic_load(&cpu->loaded) - generation) >= 0;
}

void kvm_watch_sync(struct target *t, unsigned self)
{
	struct kvm_target *kt = kvm_target(t);
	uint32_t generation = atomic_load(&kt->desired.generation);

	/*
	 * A vCPU sets in_guest before it compares generations (struct vm_callbacks). This thread raises the generation before
	 * it reads in_guest here. So either the vCPU sees the new generation, or this thread sees in_guest set and kicks the
	 * vCPU.
	 */
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct kvm_cpu *cpu = &kt->cpus[i];

		if (i != self && !up_to_date(cpu, generation) && atomic_load(&cpu->vcpu->in_guest))
			vcpu_kick(cpu->vcpu);
	}
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct kvm_cpu *cpu = &kt->cpus[i];

		if (i == self)
			continue;
		pthread_mutex_lock(&kt->lock);
		while (!up_to_date(cpu, generation) && atomic_load(&cpu->vcpu->in_guest) && !atomic_load(&kt->target.over))
			kvm_wait_moved(kt);
		pthread_mutex_unlock(&kt->lock);
	}
}

/*
 * Returns true if the vCPU has delivered every stop that occurred before the generation was raised to `generation`. That is so
 * if the vCPU has loaded this generation, or if it stands still: then it has no stop to deliver.
 */
static bool is_done(const struct kvm_cpu *cpu, uint32_t generation)
{
	return up_to_date(cpu, generation) || cpu->stands;
}

/*
 * Raise the generation, and wait until every other vCPU has loaded the new generation. A vCPU loads a new generation only after
 * the vCPU has handled its last stop. Unlike kvm_watch_sync(), this function also waits for a vCPU that is outside the guest,
 * because that vCPU may be about to deliver a stop.
 */
bool kvm_barrier(struct target *t, unsigned self)
{
	struct kvm_target *kt = kvm_target(t);
	uint64_t until = monotonic_ns() + BARRIER_NS;
	uint32_t generation;
	bool done = true;

	pthread_mutex_lock(&kt->lock);
	raise_generation(kt);
	generation = atomic_load(&kt->desired.generation);
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct kvm_cpu *cpu = &kt->cpus[i];

		if (i != self && atomic_load(&cpu->vcpu->in_guest))
			vcpu_kick(cpu->vcpu);
	}
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		while (i != self && !is_done(&kt->cpus[i], generation) && !atomic_load(&t->over) && monotonic_ns() < until)
			kvm_wait_moved(kt);
		done = done && (i == self || is_done(&kt->cpus[i], generation));
	}
	pthread_mutex_unlock(&kt->lock);
	return done;
}

int kvm_intercept(struct target *t, bool on, struct err *err)
{
	struct kvm_target *kt = kvm_target(t);
	uint64_t gate = 0;

	if (on && kt->method == KVM_BP_IDT_GATE) {
		struct x86_regs regs;
		uint16_t desc[8];

		if (target_peek_regs(t, 0, &regs) ||
		    target_read(t, regs.cr3, regs.cr4, regs.idt_base + 3 * sizeof(desc), desc, sizeof(desc)))
			return err_set(err, EXIT_INTERNAL, "cannot read the guest's interrupt descriptor for #BP");
		gate = desc[0] | (uint64_t)desc[3] << 16 | (uint64_t)desc[4] << 32 | (uint64_t)desc[5] << 48;
	}
	/*
	 * A debug exit needs the registers in the kvm_run page. Request them before the first debug exit can occur, but not
	 * earlier: copying them at every KVM exit costs time even when nothing is armed.
	 */
	for (unsigned i = 0; on && i < t->caps.cpus; i++)
		kt->cpus[i].vcpu->run->kvm_valid_regs = KVM_SYNC_X86_REGS | KVM_SYNC_X86_SREGS;
	pthread_mutex_lock(&kt->lock);
	kt->desired.intercept = on;
	kt->desired.gate = gate;
	raise_generation(kt);
	pthread_mutex_unlock(&kt->lock);

	kvm_watch_sync(t, TARGET_MAX_CPUS);
	return 0;
}

void kvm_debug_regs_changed(struct target *t, unsigned index)
{
	struct kvm_target *kt = kvm_target(t);

	atomic_store(&kt->cpus[index].guest_regs_unknown, true);
	pthread_mutex_lock(&kt->lock);
	raise_generation(kt);
	pthread_mutex_unlock(&kt->lock);
}
