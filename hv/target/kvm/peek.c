/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the registers of a running vCPU: the vCPU's own thread reads them and passes them to the waiting thread. */
#include <errno.h>
#include <string.h>

#include "hv/target/kvm/internal.h"

int kvm_peek_regs(struct target *t, unsigned index, struct x86_regs *regs)
{
	struct kvm_target *kt = kvm_target(t);
	struct kvm_cpu *cpu = &kt->cpus[index];
	int ret;

	pthread_mutex_lock(&kt->lock);
	while (cpu->peek && !atomic_load(&kt->target.over)) /* Another thread waits for the vCPU's registers: let it finish. */
		kvm_wait_moved(kt);
	cpu->peek = regs;
	if (cpu->stands)
		pthread_cond_broadcast(&kt->go);
	while (cpu->peek == regs && !atomic_load(&kt->target.over)) {
		if (atomic_load(&cpu->vcpu->in_guest))
			vcpu_kick(cpu->vcpu);
		kvm_wait_moved(kt);
	}
	ret = cpu->peek == regs ? -1 : 0;
	if (ret)
		cpu->peek = NULL;
	pthread_mutex_unlock(&kt->lock);
	return ret;
}

int kvm_cpu_answer_peek(struct kvm_cpu *cpu, struct err *err)
{
	struct kvm_run *run = cpu->vcpu->run;

	if (!cpu->peek)
		return 0;
	if (kvm_cpu_ioctl(cpu, KVM_GET_REGS, &run->s.regs.regs) || kvm_cpu_ioctl(cpu, KVM_GET_SREGS, &run->s.regs.sregs))
		return err_set(err, EXIT_INTERNAL, "vCPU %u: reading registers: %s", cpu->vcpu->index, strerror(errno));
	kvm_cpu_regs_get(cpu, cpu->peek);
	cpu->peek = NULL;
	pthread_cond_broadcast(&cpu->kt->moved);
	return 0;
}
