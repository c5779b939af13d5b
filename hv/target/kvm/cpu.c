/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counted ioctls on a vCPU, access to its registers, and notices to the guest's watchdog that the vCPU was stopped
 * (internal.h).
 */
#include <sys/ioctl.h>

#include "hv/target/kvm/internal.h"

#define LONG_NS 100000000u /* A stop longer than this, in ns, may trigger a guest's watchdog. */

int kvm_cpu_ioctl(struct kvm_cpu *cpu, unsigned long request, void *arg)
{
	atomic_fetch_add_explicit(&cpu->ioctls, 1, memory_order_relaxed);
	return ioctl(cpu->vcpu->fd, request, arg) < 0 ? -1 : 0;
}

void kvm_cpu_stood(struct kvm_cpu *cpu, uint64_t since_ns)
{
	/*
	 * Ignore a failure: KVM refuses if the guest does not use kvmclock, through which its watchdog would learn of the stop.
	 */
	if (monotonic_ns() - since_ns > LONG_NS)
		kvm_cpu_ioctl(cpu, KVM_KVMCLOCK_CTRL, NULL);
}

void kvm_cpu_stop_ends(struct kvm_cpu *cpu)
{
	uint64_t now = monotonic_ns();

	atomic_fetch_add_explicit(&cpu->stopped_ns, now - cpu->stopped_at, memory_order_relaxed);
	if (kvm_stops_add(&cpu->stops, cpu->stopped_at, now))
		kvm_cpu_ioctl(cpu, KVM_KVMCLOCK_CTRL, NULL);
	cpu->stopped_at = 0;
}

void kvm_cpu_regs_get(const struct kvm_cpu *cpu, struct x86_regs *regs)
{
	const struct kvm_regs *r = &cpu->vcpu->run->s.regs.regs;
	const struct kvm_sregs *s = &cpu->vcpu->run->s.regs.sregs;

	*regs = (struct x86_regs){
		.gpr = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi, r->r8, r->r9, r->r10, r->r11, r->r12,
			r->r13, r->r14, r->r15},
		.rip = r->rip,
		.rflags = r->rflags,
		.cr0 = s->cr0,
		.cr3 = s->cr3,
		.cr4 = s->cr4,
		.efer = s->efer,
		.fs_base = s->fs.base,
		.gs_base = s->gs.base,
		.idt_base = s->idt.base,
		.cs = s->cs.selector,
		.ss = s->ss.selector,
	};
}

void kvm_cpu_regs_set(struct kvm_cpu *cpu, const struct x86_regs *regs)
{
	const uint64_t *g = regs->gpr;

	cpu->vcpu->run->s.regs.regs = (struct kvm_regs){
		.rax = g[0],
		.rcx = g[1],
		.rdx = g[2],
		.rbx = g[3],
		.rsp = g[4],
		.rbp = g[5],
		.rsi = g[6],
		.rdi = g[7],
		.r8 = g[8],
		.r9 = g[9],
		.r10 = g[10],
		.r11 = g[11],
		.r12 = g[12],
		.r13 = g[13],
		.r14 = g[14],
		.r15 = g[15],
		.rip = regs->rip,
		.rflags = regs->rflags,
	};
	cpu->vcpu->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
}
