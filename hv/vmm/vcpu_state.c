/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets a vCPU's registers at the start, as the boot protocol requires, and describes its registers for the user at the end. */
#include <errno.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hv/base/x86.h"
#include "hv/vmm/cpuid.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/machine.h"
#include "hv/vmm/one_msr.h"

enum {
	MSR_MISC_ENABLE = 0x1a0,
	MSR_MTRR_BASE0 = 0x200,
	MSR_MTRR_MASK0 = 0x201,
	MSR_MTRR_DEF_TYPE = 0x2ff,
};

enum { MTRR_UC = 0, MTRR_WB = 6, MTRR_ENABLE = 1 << 11, MTRR_VALID = 1 << 11 };
enum { CR0_PE = 1, CR0_ET = 1 << 4, CR0_NE = 1 << 5, CR4_PAE = 1 << 5, EFER_LME = 1 << 8, EFER_LMA = 1 << 10 };
#define CR0_PG (1ull << 31)
#define RESET_RIP 0xfff0

static int set_cpuid(struct vm *vm, unsigned index, struct cpuid_table *table, struct err *err)
{
	uint64_t top = vm->ram.high ? RAM_HOLE_END + vm->ram.high : vm->ram.low;
	unsigned bits;

	if (cpuid_supported(vm->kvm_fd, table, err) < 0)
		return -1;
	bits = cpuid_phys_bits(table);
	if (bits < 64 && top > 1ull << bits)
		return err_set(err, EXIT_USAGE, "%llu GiB of memory: this host's CPU addresses %u bits; give less",
			       (unsigned long long)(top >> 30), bits);
	cpuid_for_cpu(table, index, vm->cpus, ioctl(vm->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_TSC_DEADLINE_TIMER) > 0);
	if (ioctl(vm->vcpu[index].fd, KVM_SET_CPUID2, table) < 0)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM_SET_CPUID2 failed: %s", index, strerror(errno));
	return 0;
}

static int set_msr(struct vcpu *vcpu, uint32_t msr, uint64_t value, struct err *err)
{
	struct one_msr m = {.nmsrs = 1, .entry = {.index = msr, .data = value}};

	if (ioctl(vcpu->fd, KVM_SET_MSRS, &m) != 1)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM refuses 0x%llx in MSR 0x%x", vcpu->index,
			       (unsigned long long)value, msr);
	return 0;
}

static uint64_t get_msr(struct vcpu *vcpu, uint32_t msr)
{
	struct one_msr m = {.nmsrs = 1, .entry = {.index = msr}};

	return ioctl(vcpu->fd, KVM_GET_MSRS, &m) == 1 ? m.entry.data : 0;
}

/*
 * Set the MSRs as firmware leaves them: RAM is write-back, the RAM hole is uncached, and fast string instructions are on (SDM
 * vol. 3, 12.11; vol. 4).
 */
static int set_msrs(struct vcpu *vcpu, struct cpuid_table *cpuid, struct err *err)
{
	uint64_t phys_mask = (1ull << cpuid_phys_bits(cpuid)) - 1;

	if (set_msr(vcpu, MSR_MTRR_BASE0, RAM_HOLE_START | MTRR_UC, err) < 0 ||
	    set_msr(vcpu, MSR_MTRR_MASK0, (~(RAM_HOLE_END - RAM_HOLE_START - 1) & phys_mask) | MTRR_VALID, err) < 0 ||
	    set_msr(vcpu, MSR_MTRR_DEF_TYPE, MTRR_ENABLE | MTRR_WB, err) < 0)
		return -1;
	if (cpuid_is_intel(cpuid) && set_msr(vcpu, MSR_MISC_ENABLE, get_msr(vcpu, MSR_MISC_ENABLE) | 1, err) < 0)
		return -1;
	return 0;
}

static struct kvm_segment flat_segment(uint16_t selector, uint8_t type, bool code64)
{
	return (struct kvm_segment){
		.selector = selector,
		.limit = 0xffffffff,
		.type = type,
		.present = 1,
		.s = 1,
		.g = 1,
		.l = code64,
		.db = !code64,
	};
}

static void enter_sregs(struct kvm_sregs *sregs, enum boot_mode mode)
{
	bool long_mode = mode == BOOT_LINUX64;
	struct kvm_segment data = flat_segment(BOOT_DATA_SEL, 3, false);

	sregs->cs = flat_segment(long_mode ? BOOT_CODE64_SEL : BOOT_CODE32_SEL, 11, long_mode);
	sregs->ds = sregs->es = sregs->fs = sregs->gs = sregs->ss = data;
	sregs->gdt.base = BOOT_GDT_GPA;
	sregs->gdt.limit = BOOT_CODE32_SEL + 7;
	sregs->idt.base = 0;
	sregs->idt.limit = 0;
	sregs->cr0 = CR0_PE | CR0_ET | CR0_NE;
	if (!long_mode)
		return;
	sregs->cr0 |= CR0_PG;
	sregs->cr3 = BOOT_PAGE_TABLES_GPA;
	sregs->cr4 = CR4_PAE;
	sregs->efer = EFER_LME | EFER_LMA;
}

static int set_registers(struct vcpu *vcpu, const struct boot_entry *entry, struct err *err)
{
	struct kvm_regs regs = {
		.rip = entry->rip,
		.rflags = 2,
		.rsp = BOOT_STACK_GPA,
		.rsi = entry->params,
		.rbx = entry->mode == BOOT_PVH32 ? entry->params : 0,
	};
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs) < 0)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM_GET_SREGS failed: %s", vcpu->index, strerror(errno));
	enter_sregs(&sregs, entry->mode);
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs) < 0 || ioctl(vcpu->fd, KVM_SET_REGS, &regs) < 0)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM refuses the boot registers: %s", vcpu->index, strerror(errno));
	return 0;
}

int vcpu_reset(struct vm *vm, unsigned index, const struct boot_entry *entry, struct err *err)
{
	struct cpuid_table cpuid;

	if (set_cpuid(vm, index, &cpuid, err) < 0 || set_msrs(&vm->vcpu[index], &cpuid, err) < 0)
		return -1;
	return index == 0 ? set_registers(&vm->vcpu[index], entry, err) : 0;
}

/* Describe the KVM exit in kvm_run. */
static int describe_exit(const struct kvm_run *run, char *buf, size_t size)
{
	switch (run->exit_reason) {
	case KVM_EXIT_INTERNAL_ERROR:
		return snprintf(buf, size, "suberror %u (0x%llx 0x%llx) ", run->internal.suberror,
				run->internal.ndata > 0 ? run->internal.data[0] : 0ull,
				run->internal.ndata > 1 ? run->internal.data[1] : 0ull);
	case KVM_EXIT_FAIL_ENTRY:
		return snprintf(buf, size, "hardware reason 0x%llx ", run->fail_entry.hardware_entry_failure_reason);
	case KVM_EXIT_SHUTDOWN:
		return 0;
	default:
		return snprintf(buf, size, "exit reason %u ", run->exit_reason);
	}
}

void vcpu_describe(struct vcpu *vcpu, char *buf, size_t size)
{
	int n = describe_exit(vcpu->run, buf, size);
	struct kvm_sregs s;
	struct kvm_regs r;

	buf += n;
	size -= (size_t)n;
	if (ioctl(vcpu->fd, KVM_GET_REGS, &r) < 0 || ioctl(vcpu->fd, KVM_GET_SREGS, &s) < 0) {
		snprintf(buf, size, "registers not readable");
		return;
	}
	/*
	 * Under SVM, a shutdown leaves the CPU's state undefined (APM vol. 2, 15.14.3), so kvm_amd has reset the registers
	 * before this exit.
	 */
	if (vcpu->run->exit_reason == KVM_EXIT_SHUTDOWN && r.rip == RESET_RIP && !(s.cr0 & CR0_PE)) {
		snprintf(buf, size, "AMD-V does not keep its state");
		return;
	}
	snprintf(buf, size,
		 "rip 0x%llx rsp 0x%llx rflags 0x%llx cs 0x%x cr0 0x%llx cr2 0x%llx cr3 0x%llx cr4 0x%llx efer 0x%llx "
		 "rax 0x%llx rbx 0x%llx rcx 0x%llx rdx 0x%llx rsi 0x%llx rdi 0x%llx",
		 r.rip, r.rsp, r.rflags, s.cs.selector, s.cr0, s.cr2, s.cr3, s.cr4, s.efer, r.rax, r.rbx, r.rcx, r.rdx, r.rsi,
		 r.rdi);
}
