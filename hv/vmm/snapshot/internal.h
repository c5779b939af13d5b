/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that save and load the parts of a machine, shared by the files of this folder. A returned int is 0, or -1 with
 * `err` set.
 */
#ifndef OUTRIDER_VMM_SNAPSHOT_INTERNAL_H
#define OUTRIDER_VMM_SNAPSHOT_INTERNAL_H

#include "hv/vmm/machine.h"
#include "hv/vmm/snapshot/block.h"
#include "hv/vmm/snapshot/moment.h"

/* ---- cpu.c: a vCPU, except its time ---- */

/* Save the vCPU. `runnable`: save the MP state as RUNNABLE, whatever KVM reports. */
int cpu_save(struct vcpu *vcpu, bool runnable, struct block_writer *w, struct err *err);

/* Load the state into a vCPU that has never run. cpu_time_load() and then cpu_load_end() must follow. */
int cpu_load(struct vcpu *vcpu, const struct block *block, struct err *err);

/* Load the parts that must be loaded after the machine's clocks: MSRs of timers, and the MP state. */
int cpu_load_end(struct vcpu *vcpu, const struct block *block, struct err *err);

/* Set *intel to 1 if the CPUs' vendor is GenuineIntel, else to 0. */
int cpu_is_intel(struct vcpu *vcpu, uint32_t *intel, struct err *err);

/* ---- clocks.c: TSCs and KVM's clock ---- */

/* Save the vCPU's TSC as of the moment *at. */
int cpu_time_save(struct vcpu *vcpu, const struct moment *at, struct block_writer *w, struct err *err);

/* Set the vCPU's TSC so that it has the saved value at the moment *at. */
int cpu_time_load(struct vcpu *vcpu, const struct moment *at, const struct block *block, struct err *err);

/*
 * Save KVM's clock as of the moment *at, and the frequency of the TSC; load KVM's clock so that it has the saved value at the
 * moment *at.
 */
int clock_save(struct vm *vm, const struct moment *at, struct block_machine *out, struct err *err);
int clock_load(struct vm *vm, const struct moment *at, const struct block *block, struct err *err);

/* ---- chips.c: KVM's interrupt controllers and its timer ---- */

int chips_save(struct vm *vm, struct block_writer *w, struct err *err);

/* To be called after the vCPUs are loaded, because the I/O APIC sends them its pending interrupts. */
int chips_load(struct vm *vm, const struct block *block, struct err *err);

/* ---- parts.c: the devices ---- */

/* Append the state of all devices to a block. The workers of the devices must be paused. */
void parts_save(struct vm *vm, const struct moment *at, struct block_writer *w);

/*
 * Make the PCI devices whose saved state is in `block`: copies of the disks in `disks` (may be NULL), an entropy device, and in
 * place of each other device a silent device, which completes no request. To be called before the vCPUs exist. parts_load()
 * loads the registers of all devices.
 */
int parts_add_pci_devices(struct vm *vm, const struct block *block, struct disk *const *disks, struct err *err);
int parts_load(struct vm *vm, const struct moment *at, const struct block *block, struct err *err);

#endif
