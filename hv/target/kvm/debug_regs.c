/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the debug registers of one vCPU (SDM vol. 3, chapter 18; Documentation/virt/kvm/api.rst, KVM_SET_GUEST_DEBUG).
 *
 * While KVM_GUESTDBG_USE_HW_BP is on, KVM keeps the guest's own debug registers but does not load them into the processor. The
 * guest's breakpoints must still work. So enabled breakpoints of the guest are copied into debug registers that the target does
 * not use, and their hits are injected into the guest (debug_exits.c).
 */
#include <errno.h>
#include <string.h>

#include "hv/target/kvm/internal.h"

#define VECTOR_DB 1
#define DR7_EXACT (3u << 8)

/* Returns the bit of DR7 that enables a breakpoint for all tasks. */
static uint64_t dr7_enable(unsigned reg)
{
	return 2ull << (2 * reg);
}

/* Returns the position in DR7 of the four bits with a breakpoint's type and length. */
static unsigned dr7_condition_shift(unsigned reg)
{
	return 16 + 4 * reg;
}

/* Returns the first debug register that is not in the set `taken`, or 4 if all are. */
static unsigned free_register(unsigned taken)
{
	unsigned reg = 0;

	while (reg < 4 && (taken >> reg & 1))
		reg++;
	return reg;
}

/*
 * Put the guest's own breakpoints into `debug`, in debug registers that are neither in `taken` nor in `ours`. If these do not
 * suffice, use registers in `ours`, which are for watches: a window can do without a watch, but a debugger in the guest needs
 * its breakpoint. Returns `taken`, with the registers that the guest's breakpoints use added.
 */
static unsigned load_guests(struct kvm_cpu *cpu, struct kvm_guest_debug *debug, unsigned taken, unsigned ours)
{
	for (unsigned guest = 0; guest < 4; guest++) {
		unsigned reg = free_register(taken | ours);

		if (reg == 4)
			reg = free_register(taken);
		if (!x86_dr7_enabled(cpu->guest_dr7, guest) || reg == 4)
			continue;
		taken |= 1u << reg;
		cpu->guest_slot[reg] = (uint8_t)(1 + guest);
		debug->arch.debugreg[reg] = cpu->guest_db[guest];
		debug->arch.debugreg[7] |= dr7_enable(reg) | (cpu->guest_dr7 >> dr7_condition_shift(guest) & 0xf)
								     << dr7_condition_shift(reg);
	}
	return taken;
}

/* Returns the set of watches that this vCPU must load. A watch that this vCPU owns is loaded only while the vCPU is held. */
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
		debug->arch.debugreg[7] |=
			dr7_enable(i) | x86_dr7_condition(i, watch->read ? X86_DR_READWRITE : X86_DR_WRITE, watch->len);
	}
}

/*
 * Compose in `debug` what the vCPU must load, and record the use of each debug register in `cpu`. The caller holds
 * kvm_target.lock.
 */
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
		return; /* Without KVM_GUESTDBG_USE_HW_BP, KVM loads the guest's own debug registers itself. */
	taken = load_guests(cpu, debug, taken, ours);
	load_watches(cpu, debug, ours & ~taken);
	debug->control |= KVM_GUESTDBG_USE_HW_BP;
	debug->arch.debugreg[7] |= DR7_EXACT;
}

/*
 * Read the guest's own debug registers if they may have changed. KVM_GET_DEBUGREGS returns what the guest wrote: KVM keeps a
 * copy while KVM_GUESTDBG_USE_HW_BP is on, and otherwise reads the processor's registers.
 */
static int look_at_guest_regs(struct kvm_cpu *cpu, struct err *err)
{
	struct kvm_debugregs regs;

	/* Clear the flag before reading the registers, so that a change during the read is not missed. */
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
	/*
	 * compose() may already see a change that was made after `generation` was read above. But look_at_guest_regs() may have
	 * read the guest's debug registers before that change. So only `generation` is recorded below, and the vCPU loads
	 * everything again at its next entry.
	 */
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

/*
 * Withdraw an exception that KVM is about to deliver, so that a #DB can be injected. The #DB is a debug trap of the completed
 * instruction, and so comes before a fault of the next instruction (SDM vol. 3, table 6-2). That instruction faults again when
 * the #DB handler returns. KVM likewise drops an exception whose delivery was interrupted (kvm_multiple_exception()). A #DB
 * that is already pending is not withdrawn: DR6 has its causes. Returns true if an exception was withdrawn.
 */
static bool take_fault_back(struct kvm_cpu *cpu)
{
	struct kvm_vcpu_events events;

	/* Without KVM_CAP_EXCEPTION_PAYLOAD, which is off, `injected` is also set for a pending exception. */
	if (kvm_cpu_ioctl(cpu, KVM_GET_VCPU_EVENTS, &events) || !events.exception.injected || events.exception.nr == VECTOR_DB)
		return false;
	events.exception.injected = 0;
	return kvm_cpu_ioctl(cpu, KVM_SET_VCPU_EVENTS, &events) == 0;
}

int kvm_cpu_inject(struct kvm_cpu *cpu, uint32_t what, struct err *err)
{
	struct kvm_guest_debug debug;
	int rc;

	pthread_mutex_lock(&cpu->kt->lock);
	compose(cpu, &debug);
	pthread_mutex_unlock(&cpu->kt->lock);

	debug.control |= KVM_GUESTDBG_ENABLE | what;
	cpu->reload = true; /* The next load removes the injection request from KVM, and loads what changed since compose(). */
	atomic_fetch_add_explicit(&cpu->reinjected, 1, memory_order_relaxed);
	/*
	 * KVM refuses with EBUSY if another exception is pending. A refused #BP needs nothing more: RIP is still at the INT3,
	 * which the guest executes again. A refused #DB would be lost, and a debugger in the guest may wait for it, so make
	 * room and try again.
	 */
	rc = kvm_cpu_ioctl(cpu, KVM_SET_GUEST_DEBUG, &debug);
	if (rc && errno == EBUSY && what == KVM_GUESTDBG_INJECT_DB && take_fault_back(cpu))
		rc = kvm_cpu_ioctl(cpu, KVM_SET_GUEST_DEBUG, &debug);
	if (rc && errno != EBUSY)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: handing an exception back to the guest: %s", cpu->vcpu->index,
			       strerror(errno));
	return 0;
}
