// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and sets all registers of a CPU of a copy, for debuggers. */
#include "hv/replay/copy_cpu.h"

#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hv/vmm/one_msr.h"

#define MSR_KERNEL_GS_BASE 0xc0000102u
/* Offsets in the FXSAVE area, and bits of XSTATE_BV, which follows that area (SDM vol. 1, 10.5.1 and 13.4.2). */
#define FX_MXCSR 24
#define FX_REGISTERS 32
#define FX_END 416
#define XSTATE_X87 1u
#define XSTATE_SSE 2u

static int fails(const char *call, unsigned cpu, struct err *err)
{
	return err_set(err, EXIT_INTERNAL, "copy: CPU %u: %s: %s", cpu, call, strerror(errno));
}

static void take_special(const struct kvm_sregs *s, struct replay_cpu *out)
{
	copy_special_regs(s, &out->regs);
	out->ds = s->ds.selector;
	out->es = s->es.selector;
	out->fs = s->fs.selector;
	out->gs = s->gs.selector;
	out->cr2 = s->cr2;
	out->cr8 = s->cr8;
}

int copy_get_cpu(struct copy *c, unsigned cpu, struct replay_cpu *out, struct err *err)
{
	const struct copy_ops ops = copy_steps(c);
	int fd = vm_vcpu(c->vm, cpu)->fd;
	struct kvm_sregs sregs;
	struct kvm_xsave xsave;

	*out = (struct replay_cpu){0};
	ops.regs(ops.ctx, cpu, &out->regs);
	if (c->err.code != EXIT_OK)
		return err_set(err, c->err.code, "%s", c->err.text);
	if (ioctl(fd, KVM_GET_SREGS, &sregs) < 0)
		return fails("KVM_GET_SREGS", cpu, err);
	if (ioctl(fd, KVM_GET_XSAVE, &xsave) < 0)
		return fails("KVM_GET_XSAVE", cpu, err);
	if (!one_msr_get(fd, MSR_KERNEL_GS_BASE, &out->kernel_gs_base))
		return fails("KVM_GET_MSRS", cpu, err);
	take_special(&sregs, out);
	/* The XSAVE area begins with the FXSAVE area (SDM vol. 1, 13.4.1). */
	memcpy(out->fx, xsave.region, sizeof(out->fx));
	return 0;
}

/*
 * Copy the x87 and SSE state from an FXSAVE area into an XSAVE area. Leave out MXCSR_MASK, and the bytes that are reserved or
 * available to software (table 10-2).
 */
static void set_fx(struct kvm_xsave *xsave, const uint8_t fx[REPLAY_FXSAVE])
{
	uint8_t *area = (uint8_t *)xsave->region;

	memcpy(area, fx, FX_MXCSR);
	memcpy(area + FX_MXCSR, fx + FX_MXCSR, 2); /* the upper half of MXCSR is reserved, and stays 0 */
	memcpy(area + FX_REGISTERS, fx + FX_REGISTERS, FX_END - FX_REGISTERS);
	area[REPLAY_FXSAVE] |= XSTATE_X87 | XSTATE_SSE;
}

int copy_set_cpu(struct copy *c, unsigned cpu, const struct replay_cpu *in, struct err *err)
{
	int fd = vm_vcpu(c->vm, cpu)->fd;
	struct one_msr gs = {.nmsrs = 1, .entry = {.index = MSR_KERNEL_GS_BASE, .data = in->kernel_gs_base}};
	struct kvm_sregs sregs;
	struct kvm_xsave xsave;

	if (copy_set_regs(c, cpu, &in->regs, err) < 0)
		return -1;
	if (ioctl(fd, KVM_GET_SREGS, &sregs) < 0)
		return fails("KVM_GET_SREGS", cpu, err);
	sregs.fs.base = in->regs.fs_base;
	sregs.gs.base = in->regs.gs_base;
	if (ioctl(fd, KVM_SET_SREGS, &sregs) < 0)
		return fails("KVM_SET_SREGS", cpu, err);
	if (ioctl(fd, KVM_SET_MSRS, &gs) != 1)
		return fails("KVM_SET_MSRS", cpu, err);
	if (ioctl(fd, KVM_GET_XSAVE, &xsave) < 0)
		return fails("KVM_GET_XSAVE", cpu, err);
	set_fx(&xsave, in->fx);
	if (ioctl(fd, KVM_SET_XSAVE, &xsave) < 0)
		return fails("KVM_SET_XSAVE", cpu, err);
	return 0;
}
