/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves the state of a machine, without its RAM, as a block of bytes, and makes copies of the machine from such a block. A
 * caller includes only this header and vmm.h.
 *
 * The block has all state that a guest can see: each vCPU's registers, MSRs, FPU, local APIC and its pending events, KVM's
 * interrupt controllers, timer and clock, the messages of MSI-X, and the registers of the devices. A block may come from a
 * file, so loading checks each value. A block can be loaded only on CPUs of the same vendor, by a KVM that supports its MSRs
 * and features.
 *
 * A copy is a KVM VM of its own on RAM that the caller provides. The copy cannot reach anything outside of itself. Its disks
 * have the content that the machine's disks had when the copy was made, and the copy's writes to them stay in memory. If the
 * machine has overwritten a part of a disk since, the copy's reads of this part are never completed. The copy's entropy device
 * works. All other PCI devices of the copy are silent (hv/vmm/pci/silent.h): their registers work, but no request in their
 * queues is served. A disk is silent too, if the caller passes no disk for it. The copy's serial port writes to a file
 * descriptor of the caller.
 *
 * A KVM VM belongs to the process that made it. After fork() the child has RAM of its own, copied on write, and makes its copy
 * of the machine there:
 *
 *	target_stand_still();
 *	vm_devices_stand_still(vm, err);
 *	vm_state_save(vm, held, &state, err);
 *	pid = fork();
 *	if (pid == 0) {
 *		vm_forked(vm, &parent);
 *		... close the other descriptors of the parent, fill in the config from `parent` ...
 *		copy = vm_copy_new(&state, &parent.ram, &config, err);
 *		...
 *	}
 *	vm_devices_go_on(vm);
 *	target_go_on();
 */
#ifndef OUTRIDER_VMM_SNAPSHOT_SNAPSHOT_H
#define OUTRIDER_VMM_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/vmm.h"

struct disk;

/* A block. It may be written to a file and read back. */
struct vm_state {
	uint8_t *data;
	size_t len; /* in bytes */
};

/* Facts about the machine in a block. */
struct vm_state_facts {
	unsigned cpus;
	uint64_t memory; /* bytes of RAM */
	bool intel;	 /* true: the CPUs' vendor is GenuineIntel; false: AMD */
};

/*
 * Save the state of a machine that stands still (target_stand_still()), or whose vm_run() has not begun or has returned. `held`
 * has a bit (1u << index) for each vCPU that the caller itself has put into the MP state HALTED. The block has the MP state
 * RUNNABLE for these vCPUs. Waits for callbacks of workers to finish. Returns 0, or -1 with `err` set; vm_state_free() frees
 * the block.
 */
int vm_state_save(struct vm *vm, unsigned held, struct vm_state *state, struct err *err);

/* Free the block's bytes, which malloc() allocated. */
void vm_state_free(struct vm_state *state);

/*
 * Check a block as far as possible without KVM: version, sections, lengths, numbers. Returns 0 with *facts filled in, or -1
 * with EXIT_INPUT and one line that says what is wrong.
 */
int vm_state_check(const struct vm_state *state, struct vm_state_facts *facts, struct err *err);

/*
 * Pause the devices, and resume them. Between these two calls no device accesses RAM or changes its state, so that state, RAM
 * and disks are of the same moment. The machine must stand still. vm_devices_stand_still() waits at most 1 s for the devices to
 * finish the requests that they serve. It returns 0, or -1 with EXIT_INPUT if a device is still waiting for the host;
 * vm_devices_go_on() must not be called then.
 */
int vm_devices_stand_still(struct vm *vm, struct err *err);
void vm_devices_go_on(struct vm *vm);

/* The parts of the parent process's machine that a child process can use. */
struct vm_parent {
	struct ram ram;			   /* copied on write */
	int kvm_fd;			   /* /dev/kvm, for struct vm_copy_config */
	struct disk *disks[VMM_MAX_DISKS]; /* for struct vm_copy_config; NULL: no such disk */
	int fds[2 * VMM_MAX_DISKS];	   /* the `fd_count` file descriptors of `disks`, which must stay open */
	unsigned fd_count;
};

struct vm_copy_config {
	struct disk *const *disks;	      /* vm_parent.disks, which the caller owns; NULL: all disks are silent */
	int kvm_fd;			      /* an open /dev/kvm, which the caller owns; -1: vm_copy_new() opens it */
	int console_out;		      /* file descriptor for the output of the copy's serial port; the caller owns it */
	bool log_dirty;			      /* KVM tracks the pages that the copy writes, for vm_copy_dirty() */
	const struct vm_callbacks *callbacks; /* callbacks for vcpu_enter(), as for vm_run(); NULL: none */
	struct mark *mark;		      /* the copy's mark, as in struct vmm_config; the block has no state of marks */
};

/*
 * Make a machine from a block, on RAM of the size that the block has. The caller owns the RAM, which must outlive the machine.
 * The copy has the state of the saved machine, and its clocks continue from the saved time. Run it by vm_run(), with a thread
 * for each vCPU, or by vcpu_enter(), one vCPU at a time; vm_destroy() frees it. Returns NULL with `err` set on failure:
 * EXIT_INPUT if the block is invalid, or if this host's KVM refuses a part of it.
 */
struct vm *vm_copy_new(const struct vm_state *state, const struct ram *ram, const struct vm_copy_config *config,
		       struct err *err);

/*
 * For a copy whose vCPUs run by vcpu_enter() instead of vm_run(): start the workers of its disks and its entropy device. To be
 * called once. Returns 0, or -1 with `err` set. vm_copy_devices_pause() pauses the workers until vm_devices_go_on().
 */
int vm_copy_devices_start(struct vm *vm, struct err *err);
void vm_copy_devices_pause(struct vm *vm);

/*
 * Get the set of pages that the machine has written since it was made or since the last call. The machine must have been made
 * with log_dirty. Page n of the RAM's mapping (struct ram) is bit n % 64 of bitmap[n / 64]; the `words` words must suffice for
 * all pages. No thread of the machine may run. Pages that the caller writes are not included. Returns 0, or -1 with `err` set.
 */
int vm_copy_dirty(struct vm *vm, uint64_t *bitmap, size_t words, struct err *err);

/*
 * To be called first in a child that the process of `vm` forked while the devices of `vm` stood still. Closes the child's
 * descriptors of the parent's KVM VM, which the child cannot use. The parent keeps its own descriptors. Afterwards the child
 * may use only those parts of `vm` that *out names. The other file descriptors of the parent, such as sockets, stay open; the
 * caller closes them.
 */
void vm_forked(struct vm *vm, struct vm_parent *out);

/* Returns the machine's RAM, which the machine still owns. */
struct ram vm_ram_all(const struct vm *vm);

/*
 * Returns the machine's RAM, which the caller then owns: vm_destroy() will not free it, and the caller must free it by
 * ram_unmap().
 */
struct ram vm_ram_take(struct vm *vm);

/* One point in time on the clocks of the host and of a machine. */
struct vm_time {
	uint64_t tsc;	   /* the host's TSC */
	uint64_t clock_ns; /* KVM's clock of the machine */
};

/* Read the clocks of the host and of the machine into *out. No vCPU of the machine may run. Returns 0, or -1 with `err` set. */
int vm_time_take(struct vm *vm, struct vm_time *out, struct err *err);

/*
 * Turn back the clocks of the machine to the time `to`. No vCPU of the machine may run. The TSC of each vCPU goes back by the
 * number of cycles that have passed on the host since `to` (Documentation/virt/kvm/devices/vcpu.rst, KVM_VCPU_TSC_OFFSET, since
 * Linux 5.16). KVM's clock is set to to->clock_ns. Returns 0, or -1 with `err` set.
 */
int vm_time_turn_back(struct vm *vm, const struct vm_time *to, struct err *err);

#endif
