/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles debug exits of one vCPU. Decides whether the cause of an exit is a breakpoint or watch of the target's client (the
 * detector) or the guest's own, and delivers the exit to the client or to the guest (SDM vol. 3, chapter 18;
 * Documentation/virt/kvm/api.rst, KVM_SET_GUEST_DEBUG).
 */
#include <errno.h>
#include <string.h>

#include "hv/target/kvm/internal.h"

#define VECTOR_BP 3
#define DR6_STEP (1u << 14)
#define DR6_TASK_SWITCH (1u << 15)
#define DR6_ACTIVE_LOW 0xffff0ff0u /* Bits of DR6 that are 1 unless their cause has occurred. */

/* Inject the guest's own #DB for `causes`, a set of DR6 bits, with DR6 as the processor would have set it. */
static int inject_db(struct kvm_cpu *cpu, uint64_t causes, struct err *err)
{
	struct kvm_debugregs regs;

	if (kvm_cpu_ioctl(cpu, KVM_GET_DEBUGREGS, &regs))
		goto fail;
	/*
	 * Drop hits of breakpoints that the guest has disabled meanwhile. Linux disables its breakpoints in #DB and NMI
	 * handlers (local_db_save), but the target's copies of these breakpoints stay enabled.
	 */
	for (unsigned i = 0; i < 4; i++) {
		if (!x86_dr7_enabled(regs.dr7, i))
			causes &= ~(1ull << i);
	}
	if (!causes)
		return 0;
	regs.dr6 = DR6_ACTIVE_LOW | causes;
	if (kvm_cpu_ioctl(cpu, KVM_SET_DEBUGREGS, &regs))
		goto fail;
	return kvm_cpu_inject(cpu, KVM_GUESTDBG_INJECT_DB, err);
fail:
	return err_set(err, EXIT_INTERNAL, "vCPU %u: debug registers: %s", cpu->vcpu->index, strerror(errno));
}

/*
 * Sort the causes in `dr6`. Write the cookies of the client's watches to `cookies`, and return their number. Set *guest to the
 * guest's own causes, as bits of the DR6 that the guest is to see.
 */
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

/* Handle a #BP that KVM intercepted. RIP still points at the INT3. */
static int on_intercepted_bp(struct kvm_cpu *cpu, struct x86_regs *regs, struct err *err)
{
	const struct target_client *client = cpu->kt->target.client;
	struct target_action action = {.kind = TARGET_NOT_MINE};

	if (client && !x86_user_mode(regs))
		action = client->on_breakpoint(client->ctx, cpu->vcpu->index, regs);
	if (action.kind == TARGET_NOT_MINE)
		return kvm_cpu_inject(cpu, KVM_GUESTDBG_INJECT_BP, err);
	return kvm_cpu_act(cpu, action, regs, false, err);
}

/* The frame that the delivery of #BP pushed onto the stack (SDM vol. 3, 6.14.2). #BP has no error code. */
struct exception_frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

/*
 * Handle a stop at the first instruction of the guest's #BP handler. If the INT3 is the client's, undo the delivery of the
 * exception: restore the registers that the CPU had at the INT3. If the INT3 is the guest's own, let the handler run.
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
	regs->rflags |= X86_RFLAGS_RF; /* Without RF the execute breakpoint would stop the vCPU here again. */
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
	if (exit->exception == VECTOR_BP)
		return on_intercepted_bp(cpu, &regs, err);
	if (cpu->kt->method == KVM_BP_IDT_GATE && (exit->dr6 >> KVM_GATE_SLOT & 1) && regs.rip == cpu->gate)
		return on_gate(cpu, &regs, err);

	n = sort_causes(cpu, exit->dr6, cookies, &guest);
	if (n && on_watch(cpu, &regs, cookies, n, err))
		return -1;
	return guest ? inject_db(cpu, guest, err) : 0;
}
