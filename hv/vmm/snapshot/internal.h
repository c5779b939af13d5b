/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this folder share. All functions return 0, or -1 with `err` set. */
#ifndef OUTRIDER_VMM_SNAPSHOT_INTERNAL_H
#define OUTRIDER_VMM_SNAPSHOT_INTERNAL_H

#include "hv/vmm/machine.h"
#include "hv/vmm/snapshot/block.h"
#include "hv/vmm/snapshot/moment.h"

/* ---- cpu.c: a vCPU, but for its time ---- */

/* Save it. `runnable` says that its MP state is to be RUNNABLE, whatever KVM says. */
int cpu_save(struct vcpu *vcpu, bool runnable, struct block_writer *w, struct err *err);

/* Load it into a vCPU that has never run. cpu_time_load() and then cpu_load_end() must follow. */
int cpu_load(struct vcpu *vcpu, const struct block *block, struct err *err);

/* Load what depends on the time of the whole machine: MSRs of timers, and the MP state. */
int cpu_load_end(struct vcpu *vcpu, const struct block *block, struct err *err);

/* Whether the CPUs' vendor is GenuineIntel. */
int cpu_is_intel(struct vcpu *vcpu, uint32_t *intel, struct err *err);

/* ---- clocks.c: TSCs and KVM's clock ---- */

/* Save the vCPU's TSC as it is at the moment. */
int cpu_time_save(struct vcpu *vcpu, const struct moment *at, struct block_writer *w, struct err *err);

/* Let the vCPU's TSC be at the moment what it was at that of the snapshot. */
int cpu_time_load(struct vcpu *vcpu, const struct moment *at, const struct block *block, struct err *err);

/* KVM's clock likewise, and the speed of the TSC. */
int clock_save(struct vm *vm, const struct moment *at, struct block_machine *out, struct err *err);
int clock_load(struct vm *vm, const struct moment *at, const struct block *block, struct err *err);

/* ---- chips.c: KVM's interrupt controllers and its timer ---- */

int chips_save(struct vm *vm, struct block_writer *w, struct err *err);

/* After the vCPUs, because the I/O APIC sends them what is pending in it. */
int chips_load(struct vm *vm, const struct block *block, struct err *err);

/* ---- parts.c: the devices ---- */

/* Save all devices, whose workers are paused. */
void parts_save(struct vm *vm, const struct moment *at, struct block_writer *w);

/*
 * Make cards for those of the block, before the vCPUs: disks over those of `disks`, which may be NULL, and silent ones. And
 * load the registers of all devices.
 */
int parts_add_cards(struct vm *vm, const struct block *block, struct disk *const *disks, struct err *err);
int parts_load(struct vm *vm, const struct moment *at, const struct block *block, struct err *err);

#endif
