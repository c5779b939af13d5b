/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/target/kvm/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define BARRIER_NS 10000000u

int cpu_ioctl(struct cpu *cpu, unsigned long request, void *arg)
{
	atomic_fetch_add_explicit(&cpu->ioctls, 1, memory_order_relaxed);
	return ioctl(cpu->vcpu->fd, request, arg) < 0 ? -1 : 0;
}

int cpu_act(struct cpu *cpu, struct target_action action, struct x86_regs *regs, bool dirty, struct err *err)
{
	if (dirty || action.kind == TARGET_RESUME_REGS)
		cpu_regs_set(cpu, regs);
	if (action.kind == TARGET_HOLD)
		return cpu_hold_begin(cpu, regs, action.hold_ns, err);
	return 0;
}

/* ---- guest memory ---- */

static int kvm_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	const void *ram = vm_ram(kvm_target(t)->vm, gpa, len);

	if (!ram)
		return -1;
	/* One load for what the guest may write with one store, so that a value is never read half old, half new. */
	if (len == 8 && !(gpa & 7)) {
		uint64_t value = __atomic_load_n((const uint64_t *)ram, __ATOMIC_RELAXED);

		memcpy(buf, &value, sizeof(value));
	} else if (len == 4 && !(gpa & 3)) {
		uint32_t value = __atomic_load_n((const uint32_t *)ram, __ATOMIC_RELAXED);

		memcpy(buf, &value, sizeof(value));
	} else {
		memcpy(buf, ram, len);
	}
	return 0;
}

static int kvm_write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len)
{
	void *ram = vm_ram(kvm_target(t)->vm, gpa, len);

	if (!ram)
		return -1;
	memcpy(ram, buf, len);
	return 0;
}

/* Atomically, and only if the byte is `expect`: the guest patches its text too. 0, 1: it was another one, -1: not RAM. */
static int swap_byte(struct target *t, uint64_t gpa, uint8_t expect, uint8_t value)
{
	uint8_t *ram = vm_ram(kvm_target(t)->vm, gpa, 1);

	if (!ram)
		return -1;
	return __atomic_compare_exchange_n(ram, &expect, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 0 : 1;
}

/* ---- breakpoints: INT3s in the guest's text ---- */

static int kvm_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	(void)gva;
	return swap_byte(t, gpa, first, X86_INT3);
}

static void kvm_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	(void)gva;
	if (intact)
		swap_byte(t, gpa, X86_INT3, first);
}

/* An emulated CPU (the labs') that has decoded the INT3 and missed that it went can keep it for good. A write makes it look. */
static void kvm_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	swap_byte(t, gpa, byte, byte);
}

/* ---- debug registers, machine-wide ---- */

static void changed(struct kvm_target *kt)
{
	atomic_fetch_add(&kt->desired.generation, 1);
}

static void kvm_watch_set(struct target *t, unsigned slot, const struct target_watch *watch)
{
	struct kvm_target *kt = kvm_target(t);

	pthread_mutex_lock(&kt->lock);
	kt->desired.slots[slot].watch = *watch;
	kt->desired.slots[slot].used = true;
	changed(kt);
	pthread_mutex_unlock(&kt->lock);
}

static void kvm_watch_clear(struct target *t, unsigned slot)
{
	struct kvm_target *kt = kvm_target(t);

	pthread_mutex_lock(&kt->lock);
	kt->desired.slots[slot].used = false;
	changed(kt);
	pthread_mutex_unlock(&kt->lock);
}

/* Wait a moment for `moved`; kt->lock held. Timed, since a vCPU that leaves the guest on its own does not announce it. */
static void wait_moved(struct kvm_target *kt)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 200000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&kt->moved, &kt->lock, &until);
}

static bool up_to_date(const struct cpu *cpu, uint32_t generation)
{
	return (int32_t)(atomic_load(&cpu->loaded) - generation) >= 0;
}

static void kvm_watch_sync(struct target *t, unsigned self)
{
	struct kvm_target *kt = kvm_target(t);
	uint32_t generation = atomic_load(&kt->desired.generation);

	/*
	 * in_guest is set before a vCPU compares generations (struct vm_hooks), and the generation was changed before in_guest
	 * is read here: either it sees the new generation by itself or we see it inside and kick.
	 */
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct cpu *cpu = &kt->cpus[i];

		if (i != self && !up_to_date(cpu, generation) && atomic_load(&cpu->vcpu->in_guest))
			vcpu_kick(cpu->vcpu);
	}
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct cpu *cpu = &kt->cpus[i];

		if (i == self)
			continue;
		pthread_mutex_lock(&kt->lock);
		while (!up_to_date(cpu, generation) && atomic_load(&cpu->vcpu->in_guest) && !atomic_load(&kt->target.over))
			wait_moved(kt);
		pthread_mutex_unlock(&kt->lock);
	}
}

/*
 * A CPU loads a new generation only after it has handled what it last stopped for. Unlike for watch_sync(), being outside the
 * guest is not enough: it may be about to tell us something.
 */
static void kvm_barrier(struct target *t, unsigned self)
{
	struct kvm_target *kt = kvm_target(t);
	uint64_t until = monotonic_ns() + BARRIER_NS;
	uint32_t generation;

	pthread_mutex_lock(&kt->lock);
	changed(kt);
	generation = atomic_load(&kt->desired.generation);
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		struct cpu *cpu = &kt->cpus[i];

		if (i != self && atomic_load(&cpu->vcpu->in_guest))
			vcpu_kick(cpu->vcpu);
	}
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		while (i != self && !up_to_date(&kt->cpus[i], generation) && !atomic_load(&t->over) && monotonic_ns() < until)
			wait_moved(kt);
	}
	pthread_mutex_unlock(&kt->lock);
}

static int kvm_intercept(struct target *t, bool on, struct err *err)
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
	/* Before any debug exit can come, and only then: registers with every exit have a price when nothing is armed. */
	for (unsigned i = 0; on && i < t->caps.cpus; i++)
		kt->cpus[i].vcpu->run->kvm_valid_regs = KVM_SYNC_X86_REGS | KVM_SYNC_X86_SREGS;
	pthread_mutex_lock(&kt->lock);
	kt->desired.intercept = on;
	kt->desired.gate = gate;
	changed(kt);
	pthread_mutex_unlock(&kt->lock);

	kvm_watch_sync(t, TARGET_MAX_CPUS);
	return 0;
}

/* ---- one CPU ---- */

static void kvm_release(struct target *t, unsigned cpu)
{
	struct kvm_target *kt = kvm_target(t);

	atomic_store(&kt->cpus[cpu].hold.released, true);
	if (atomic_load(&kt->cpus[cpu].vcpu->in_guest))
		vcpu_kick(kt->cpus[cpu].vcpu);
}

static int kvm_peek_regs(struct target *t, unsigned index, struct x86_regs *regs)
{
	struct kvm_target *kt = kvm_target(t);
	struct cpu *cpu = &kt->cpus[index];
	int ret;

	pthread_mutex_lock(&kt->lock);
	while (cpu->peek && !atomic_load(&kt->target.over)) /* somebody else's */
		wait_moved(kt);
	cpu->peek = regs;
	while (cpu->peek == regs && !atomic_load(&kt->target.over)) {
		if (atomic_load(&cpu->vcpu->in_guest))
			vcpu_kick(cpu->vcpu);
		wait_moved(kt);
	}
	ret = cpu->peek == regs ? -1 : 0;
	if (ret)
		cpu->peek = NULL;
	pthread_mutex_unlock(&kt->lock);
	return ret;
}

static void kvm_debug_regs_changed(struct target *t, unsigned index)
{
	struct kvm_target *kt = kvm_target(t);

	atomic_store(&kt->cpus[index].guest_regs_unknown, true);
	pthread_mutex_lock(&kt->lock);
	changed(kt);
	pthread_mutex_unlock(&kt->lock);
}

static bool kvm_idle(struct target *t, unsigned index)
{
	return cpu_is_blocked(&kvm_target(t)->cpus[index]);
}

static void kvm_stats(struct target *t, struct target_stats *out)
{
	struct kvm_target *kt = kvm_target(t);

	*out = (struct target_stats){0};
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		const struct cpu *cpu = &kt->cpus[i];

		out->exits += atomic_load(&cpu->vcpu->exits);
		out->debug_exits += atomic_load(&cpu->vcpu->debug_exits);
		out->kicks += atomic_load(&cpu->vcpu->kicks);
		out->stale_exits += atomic_load(&cpu->stale_exits);
		out->ioctls += atomic_load(&cpu->ioctls);
		out->reinjected += atomic_load(&cpu->reinjected);
	}
}

static void kvm_stop(struct target *t)
{
	vm_stop(kvm_target(t)->vm);
}

static const struct target_ops kvm_ops = {
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
	.stats = kvm_stats,
	.stop = kvm_stop,
};

/* ---- the VMM's hooks ---- */

static int answer_peek(struct cpu *cpu, struct err *err)
{
	struct kvm_target *kt = cpu->kt;
	struct kvm_run *run = cpu->vcpu->run;

	pthread_mutex_lock(&kt->lock);
	if (cpu->peek) {
		if (cpu_ioctl(cpu, KVM_GET_REGS, &run->s.regs.regs) || cpu_ioctl(cpu, KVM_GET_SREGS, &run->s.regs.sregs)) {
			pthread_mutex_unlock(&kt->lock);
			return err_set(err, EXIT_INTERNAL, "vCPU %u: reading registers: %s", cpu->vcpu->index, strerror(errno));
		}
		cpu_regs_get(cpu, cpu->peek);
		cpu->peek = NULL;
		pthread_cond_broadcast(&kt->moved);
	}
	pthread_mutex_unlock(&kt->lock);
	return 0;
}

static int before_entry(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct kvm_target *kt = ctx;
	struct cpu *cpu = &kt->cpus[vcpu->index];

	/* A conflict met by the held CPU's own interrupt handler releases it without a kick. */
	if (cpu_hold_is_over(cpu) && cpu_hold_end(cpu, err))
		return -1;
	return cpu_debug_load(cpu, err);
}

static int on_debug(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct kvm_target *kt = ctx;

	return cpu_on_debug(&kt->cpus[vcpu->index], err);
}

static int on_kick(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct kvm_target *kt = ctx;
	struct cpu *cpu = &kt->cpus[vcpu->index];

	if (answer_peek(cpu, err))
		return -1;
	return cpu_hold_is_over(cpu) ? cpu_hold_end(cpu, err) : 0;
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
	kt->hooks = (struct vm_hooks){.before_entry = before_entry, .on_debug = on_debug, .on_kick = on_kick, .ctx = kt};
	kt->target.ops = &kvm_ops;
	kt->target.caps = (struct target_caps){
		.cpus = vm_cpu_count(vm),
		.watches = method == KVM_BP_INTERCEPT ? 4 : GATE_SLOT,
		.irq_while_held = true,
		.parallel = true,
	};
	pthread_mutex_init(&kt->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&kt->moved, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned i = 0; i < kt->target.caps.cpus; i++) {
		kt->cpus[i].kt = kt;
		kt->cpus[i].vcpu = vm_vcpu(vm, i);
		kt->cpus[i].guest_regs_unknown = true;
		cpu_stats_open(&kt->cpus[i]);
	}
	return &kt->target;
}

const struct vm_hooks *kvm_target_hooks(struct target *t)
{
	return &kvm_target(t)->hooks;
}

void kvm_target_over(struct target *t)
{
	struct kvm_target *kt = kvm_target(t);

	pthread_mutex_lock(&kt->lock);
	atomic_store(&kt->target.over, true);
	pthread_cond_broadcast(&kt->moved);
	pthread_mutex_unlock(&kt->lock);
}

void kvm_target_free(struct target *t)
{
	struct kvm_target *kt = kvm_target(t);

	if (!t)
		return;
	for (unsigned i = 0; i < t->caps.cpus; i++) {
		if (kt->cpus[i].hold.timer_made)
			timer_delete(kt->cpus[i].hold.timer);
		cpu_stats_close(&kt->cpus[i]);
	}
	pthread_cond_destroy(&kt->moved);
	pthread_mutex_destroy(&kt->lock);
	free(kt);
}
