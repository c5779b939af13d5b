/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug registers and debug exits of one vCPU (SDM vol. 3, chapter 18; Documentation/virt/kvm/api.rst, KVM_SET_GUEST_DEBUG).
 *
 * While KVM_GUESTDBG_USE_HW_BP is on, the guest's own breakpoints are kept by KVM but not loaded. What the guest set must still
 * work, so its enabled registers are copied into those that we leave free, and their hits are handed back to it.
 */
#include <errno.h>
#include <string.h>

#include "hv/target/kvm/internal.h"

#define DR6_STEP (1u << 14)
#define DR6_TASK_SWITCH (1u << 15)
#define DR6_ACTIVE_LOW 0xffff0ff0u
#define DR7_EXACT (3u << 8)

static uint64_t dr7_enable(unsigned reg)
{
	return 2ull << (2 * reg);
}

static uint64_t dr7_type(unsigned reg, unsigned rw, unsigned len)
{
	static const uint8_t len_bits[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};

	return (uint64_t)(rw | len_bits[len] << 2) << (16 + 4 * reg);
}

static bool guest_enabled(const struct kvm_cpu *cpu, unsigned reg)
{
	return cpu->guest_dr7 >> (2 * reg) & 3;
}

/* The first register not in `taken`, or 4. */
static unsigned free_register(unsigned taken)
{
	unsigned reg = 0;

	while (reg < 4 && (taken >> reg & 1))
		reg++;
	return reg;
}

/*
 * The guest's breakpoints go into registers we do not use, and when those are used up into those of our watches: a window can
 * do without a watch, a debugger in the guest cannot. Returns all registers taken.
 */
static unsigned load_guests(struct kvm_cpu *cpu, struct kvm_guest_debug *debug, unsigned taken, unsigned ours)
{
	for (unsigned guest = 0; guest < 4; guest++) {
		unsigned reg = free_register(taken | ours);

		if (reg == 4)
			reg = free_register(taken);
		if (!guest_enabled(cpu, guest) || reg == 4)
			continue;
		taken |= 1u << reg;
		cpu->guest_slot[reg] = (uint8_t)(1 + guest);
		debug->arch.debugreg[reg] = cpu->guest_db[guest];
		debug->arch.debugreg[7] |= dr7_enable(reg) | (cpu->guest_dr7 >> (16 + 4 * guest) & 0xf) << (16 + 4 * reg);
	}
	return taken;
}

/* The watch slots this CPU should have loaded. */
static unsigned wanted_watches(const struct kvm_cpu *cpu)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < cpu->kt->target.caps.watches; i++) {
		const struct kvm_slot *slot = &cpu->kt->desired.slots[i];

		if (slot->used && (slot->watch.owner != cpu->vcpu->index || cpu->hold.active))
			wanted |= 1u << i;
	}
	return wanted;
}

static void load_watches(struct kvm_cpu *cpu, struct kvm_guest_debug *debug, unsigned slots)
{
	for (unsigned i = 0; i < TARGET_MAX_WATCHES; i++) {
		const struct target_watch *watch = &cpu->kt->desired.slots[i].watch;

		if (!(slots >> i & 1))
			continue;
		cpu->watching[i] = true;
		cpu->cookies[i] = watch->cookie;
		debug->arch.debugreg[i] = watch->gva;
		debug->arch.debugreg[7] |= dr7_enable(i) | dr7_type(i, watch->read ? 3 : 1, watch->len);
	}
}

/* Fill `debug` from the desired state; kt->lock held. */
static void compose(struct kvm_cpu *cpu, struct kvm_guest_debug *debug)
{
	const struct kvm_desired *want = &cpu->kt->desired;
	unsigned taken = 0, ours;

	memset(debug, 0, sizeof(*debug));
	memset(cpu->watching, 0, sizeof(cpu->watching));
	memset(cpu->guest_slot, 0, sizeof(cpu->guest_slot));
	if (!want->intercept)
		return;

	debug->control = KVM_GUESTDBG_ENABLE;
	if (cpu->kt->method == KVM_BP_INTERCEPT) {
		debug->control |= KVM_GUESTDBG_USE_SW_BP;
	} else {
		taken |= 1u << KVM_GATE_SLOT;
		cpu->gate = want->gate;
		debug->arch.debugreg[KVM_GATE_SLOT] = want->gate;
		debug->arch.debugreg[7] |= dr7_enable(KVM_GATE_SLOT);
	}
	ours = wanted_watches(cpu);
	if (!taken && !ours)
		return; /* the guest's own are in the processor, without our help */
	taken = load_guests(cpu, debug, taken, ours);
	load_watches(cpu, debug, ours & ~taken);
	debug->control |= KVM_GUESTDBG_USE_HW_BP;
	debug->arch.debugreg[7] |= DR7_EXACT;
}

/* While KVM_GUESTDBG_USE_HW_BP is on, KVM keeps what the guest wrote; else the guest's are in the processor and KVM reads them.
 */
static int look_at_guest_regs(struct kvm_cpu *cpu, struct err *err)
{
	struct kvm_debugregs regs;

	/* Cleared before the look: what changes meanwhile is looked at again. */
	if (!atomic_exchange(&cpu->guest_regs_unknown, false))
		return 0;
	if (kvm_cpu_ioctl(cpu, KVM_GET_DEBUGREGS, &regs))
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM_GET_DEBUGREGS: %s", cpu->vcpu->index, strerror(errno));
	memcpy(cpu->guest_db, regs.db, sizeof(cpu->guest_db));
	cpu->guest_dr7 = regs.dr7;
	return 0;
}

int kvm_cpu_debug_load(struct kvm_cpu *cpu, struct err *err)
{
	struct kvm_target *kt = cpu->kt;
	struct kvm_guest_debug debug;
	uint32_t generation = atomic_load(&kt->desired.generation);

	if (generation == atomic_load(&cpu->loaded) && !cpu->reload)
		return 0;

	if (look_at_guest_regs(cpu, err))
		return -1;
	/* What comes after `generation` was read is loaded too, or the next time: in between it may have been looked at too
	 * early. */
	pthread_mutex_lock(&kt->lock);
	compose(cpu, &debug);
	pthread_mutex_unlock(&kt->lock);

	if (kvm_cpu_ioctl(cpu, KVM_SET_GUEST_DEBUG, &debug))
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM_SET_GUEST_DEBUG: %s", cpu->vcpu->index, strerror(errno));
	cpu->reload = false;

	pthread_mutex_lock(&kt->lock);
	atomic_store(&cpu->loaded, generation);
	pthread_cond_broadcast(&kt->moved);
	pthread_mutex_unlock(&kt->lock);
	return 0;
}

static int inject(struct kvm_cpu *cpu, uint32_t what, struct err *err)
{
	struct kvm_guest_debug debug;

	pthread_mutex_lock(&cpu->kt->lock);
	compose(cpu, &debug);
	pthread_mutex_unlock(&cpu->kt->lock);

	debug.control |= KVM_GUESTDBG_ENABLE | what;
	cpu->reload = true; /* drops the one-shot request again, and whatever changed since */
	atomic_fetch_add_explicit(&cpu->reinjected, 1, memory_order_relaxed);
	if (kvm_cpu_ioctl(cpu, KVM_SET_GUEST_DEBUG, &debug) && errno != EBUSY)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: handing an exception back to the guest: %s", cpu->vcpu->index,
			       strerror(errno));
	return 0;
}

static int inject_bp(struct kvm_cpu *cpu, struct err *err)
{
	return inject(cpu, KVM_GUESTDBG_INJECT_BP, err);
}

/* Hand the guest its own #DB, with DR6 as the processor would have left it. */
static int inject_db(struct kvm_cpu *cpu, uint64_t causes, struct err *err)
{
	struct kvm_debugregs regs;

	if (kvm_cpu_ioctl(cpu, KVM_GET_DEBUGREGS, &regs))
		goto fail;
	/* In #DB and NMI handlers Linux turns its breakpoints off for a while (local_db_save), which the copies in our
	 * registers miss. */
	for (unsigned i = 0; i < 4; i++) {
		if (!(regs.dr7 >> (2 * i) & 3))
			causes &= ~(1ull << i);
	}
	if (!causes)
		return 0;
	regs.dr6 = DR6_ACTIVE_LOW | causes;
	if (kvm_cpu_ioctl(cpu, KVM_SET_DEBUGREGS, &regs))
		goto fail;
	return inject(cpu, KVM_GUESTDBG_INJECT_DB, err);
fail:
	return err_set(err, EXIT_INTERNAL, "vCPU %u: debug registers: %s", cpu->vcpu->index, strerror(errno));
}

/* What of this exit's DR6 is for the client (cookies, counted in the result) and what for the guest. */
static unsigned sort_causes(const struct kvm_cpu *cpu, uint64_t dr6, uint32_t cookies[TARGET_MAX_WATCHES], uint64_t *guest)
{
	unsigned n = 0;

	*guest = dr6 & (DR6_STEP | DR6_TASK_SWITCH);
	for (unsigned i = 0; i < TARGET_MAX_WATCHES; i++) {
		if (!(dr6 >> i & 1))
			continue;
		if (cpu->guest_slot[i])
			*guest |= 1ull << (cpu->guest_slot[i] - 1);
		else if (cpu->watching[i])
			cookies[n++] = cpu->cookies[i];
	}
	return n;
}

static void count_stale(struct kvm_cpu *cpu)
{
	atomic_fetch_add_explicit(&cpu->stale_exits, 1, memory_order_relaxed);
}

/* #BP intercepted: RIP still points at the INT3. */
static int on_intercepted_bp(struct kvm_cpu *cpu, struct x86_regs *regs, struct err *err)
{
	const struct target_client *client = cpu->kt->target.client;
	struct target_action action = {.kind = TARGET_NOT_MINE};

	if (client && !x86_user_mode(regs))
		action = client->on_breakpoint(client->ctx, cpu->vcpu->index, regs);
	if (action.kind == TARGET_NOT_MINE)
		return inject_bp(cpu, err);
	return kvm_cpu_act(cpu, action, regs, false, err);
}

/* The frame that the delivery of #BP pushed (SDM vol. 3, 6.14.2): no error code. */
struct exception_frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

/* Stopped at the first instruction of the guest's #BP handler: find out whose INT3 it was and undo the delivery if not its own.
 */
static int on_gate(struct kvm_cpu *cpu, struct x86_regs *regs, struct err *err)
{
	const struct target_client *client = cpu->kt->target.client;
	struct target_action action = {.kind = TARGET_NOT_MINE};
	struct x86_regs before = *regs;
	struct exception_frame frame;

	if (target_read(&cpu->kt->target, regs->cr3, regs->cr4, regs->gpr[X86_RSP], &frame, sizeof(frame)) || (frame.cs & 3))
		goto guests_own;
	before.rip = frame.rip - 1;
	before.rflags = frame.rflags & ~X86_RFLAGS_RF;
	before.gpr[X86_RSP] = frame.rsp;
	before.cs = (uint16_t)frame.cs;
	before.ss = (uint16_t)frame.ss;
	if (client)
		action = client->on_breakpoint(client->ctx, cpu->vcpu->index, &before);
	if (action.kind != TARGET_NOT_MINE)
		return kvm_cpu_act(cpu, action, &before, true, err);
guests_own:
	regs->rflags |= X86_RFLAGS_RF; /* or the execute breakpoint would stop it here again */
	kvm_cpu_regs_set(cpu, regs);
	atomic_fetch_add_explicit(&cpu->reinjected, 1, memory_order_relaxed);
	return 0;
}

static int on_watch(struct kvm_cpu *cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n, struct err *err)
{
	const struct target_client *client = cpu->kt->target.client;
	struct target_action action = {.kind = TARGET_NOT_MINE};

	if (client)
		action = client->on_watch(client->ctx, cpu->vcpu->index, regs, cookies, n);
	if (action.kind == TARGET_NOT_MINE)
		count_stale(cpu);
	return kvm_cpu_act(cpu, action, regs, false, err);
}

int kvm_cpu_on_debug(struct kvm_cpu *cpu, struct err *err)
{
	const struct kvm_debug_exit_arch *exit = &cpu->vcpu->run->debug.arch;
	uint32_t cookies[TARGET_MAX_WATCHES];
	struct x86_regs regs;
	uint64_t guest;
	unsigned n;

	kvm_cpu_regs_get(cpu, &regs);
	if (exit->exception == 3)
		return on_intercepted_bp(cpu, &regs, err);
	if (cpu->kt->method == KVM_BP_IDT_GATE && (exit->dr6 >> KVM_GATE_SLOT & 1) && regs.rip == cpu->gate)
		return on_gate(cpu, &regs, err);

	n = sort_causes(cpu, exit->dr6, cookies, &guest);
	if (n && on_watch(cpu, &regs, cookies, n, err))
		return -1;
	return guest ? inject_db(cpu, guest, err) : 0;
}
