/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a machine, without its RAM, as a block of bytes; and copies of the machine that are made from such a block. This
 * header is all that a caller needs besides vmm.h.
 *
 * The block has everything that a guest can see: each vCPU's registers, MSRs, FPU, local APIC and what is pending in it, KVM's
 * interrupt controllers, timer and clock, the messages of MSI-X, and the registers of the devices. It may come from a file, so
 * whoever loads it checks each value. The block belongs to one vendor's CPUs, and to a KVM that knows its MSRs and features.
 *
 * A copy is a KVM VM of its own on RAM that the caller has. It reaches nothing outside. Its disks are what the machine's were
 * when the copy was made, and what the copy writes to them stays in memory; a request for what the machine itself has
 * overwritten since stays in flight. Its entropy device works. All other cards are silent, and so are disks of which the caller
 * has none: their registers answer, but nobody serves their queues. What the copy writes to its serial port goes to a
 * descriptor of the caller's.
 *
 * A KVM VM belongs to the process that made it. After fork() the child has RAM of its own, copied on write, and makes its copy
 * of the machine there:
 *
 *	target_stand_still();
 *	vm_devices_stand_still(vm);
 *	vm_state_save(vm, held, &state, err);
 *	pid = fork();
 *	if (pid == 0) {
 *		vm_forked(vm, &parent);
 *		... close what else is the parent's, fill in the config from `parent` ...
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

/* A block. It is free to be written to a file and read back. */
struct vm_state {
	uint8_t *data;
	size_t len; /* in bytes */
};

/* What a block says of the machine. */
struct vm_state_facts {
	unsigned cpus;
	uint64_t memory; /* bytes of RAM */
	bool intel;	 /* the vendor of the CPUs is GenuineIntel; else they are AMD's */
};

/*
 * Save the state of a machine that stands still (target_stand_still()), or whose vm_run() has not begun or has returned. `held`
 * has a bit (1u << index) for each vCPU that the caller has put into the MP state HALTED: in the block it is runnable. Waits
 * for the callbacks of devices that run. Returns 0, or -1 with `err` set; vm_state_free() frees the block.
 */
int vm_state_save(struct vm *vm, unsigned held, struct vm_state *state, struct err *err);

/* Free the block's bytes, which came from malloc(). */
void vm_state_free(struct vm_state *state);

/*
 * Check a block as far as that can be done without KVM: version, sections, lengths, numbers. Returns 0 with *facts filled in,
 * or -1 with EXIT_INPUT and one line that says what is wrong with it.
 */
int vm_state_check(const struct vm_state *state, struct vm_state_facts *facts, struct err *err);

/*
 * Between these two calls no device touches RAM or changes its state, so that a state, RAM and disks are those of one moment.
 * The former waits for callbacks of devices that run. The machine stands still.
 */
void vm_devices_stand_still(struct vm *vm);
void vm_devices_go_on(struct vm *vm);

/* What a child has of its parent's machine. */
struct vm_parent {
	struct ram ram;			   /* copied on write */
	int kvm_fd;			   /* /dev/kvm, for struct vm_copy_config */
	struct disk *disks[VMM_MAX_DISKS]; /* for struct vm_copy_config; NULL: there is none, or there cannot be a copy of it */
	int fds[2 * VMM_MAX_DISKS];	   /* `fd_count` descriptors of these disks, which must stay open */
	unsigned fd_count;
};

struct vm_copy_config {
	struct disk *const *disks;    /* those of struct vm_parent, which stay the caller's; NULL: all disks are silent */
	int kvm_fd;		      /* an open /dev/kvm, which stays the caller's; -1: it is opened here */
	int console_out;	      /* what the copy's serial port writes goes there; it stays the caller's */
	bool log_dirty;		      /* KVM keeps account of the pages that the copy writes, for vm_copy_dirty() */
	const struct vm_hooks *hooks; /* for vcpu_enter(), as vm_run() takes them; NULL: none */
};

/*
 * Make a machine from a block, on RAM of the size that the block says. The RAM stays the caller's, and must outlive the
 * machine. Other than that it is a machine like any other: vm_run() runs it freely, with a thread for each vCPU, vcpu_enter()
 * makes steps of it, and vm_destroy() frees it. It is in the state in which the saved machine was, but for the time that has
 * gone by since.
 * Returns NULL with `err` set: with EXIT_INPUT when the block is bad, or when this host's KVM refuses a part of it.
 */
struct vm *vm_copy_new(const struct vm_state *state, const struct ram *ram, const struct vm_copy_config *config,
		       struct err *err);

/*
 * For a copy whose vCPUs vcpu_enter() drives instead of vm_run(): let its disks serve requests, with threads of their own. To
 * be called once. Returns 0, or -1 with `err` set. vm_copy_devices_pause() makes them stand still until vm_devices_go_on().
 */
int vm_copy_devices_start(struct vm *vm, struct err *err);
void vm_copy_devices_pause(struct vm *vm);

/*
 * Set the bits of the pages that the machine, which was made with log_dirty, has written since it was made or since the last
 * call. Page n of the RAM's mapping (struct ram) is bit n % 64 of bitmap[n / 64]; there is room for all of them. Nothing of the
 * machine may run. Pages that the caller writes himself are not in it. Returns 0, or -1 with `err` set.
 */
int vm_copy_dirty(struct vm *vm, uint64_t *bitmap, size_t words, struct err *err);

/*
 * To be called first in the child of a fork() of the process that runs `vm`, whose devices stood still: lets go of the parent's
 * KVM VM, which is of no use here, without touching what the parent has. Of `vm` nothing may be used afterwards but what `out`
 * has. The other descriptors of the parent, such as sockets, are open still; the caller closes them.
 */
void vm_forked(struct vm *vm, struct vm_parent *out);

/* The machine's RAM. It stays the machine's. */
struct ram vm_ram_all(const struct vm *vm);

/* The machine gives its RAM away: vm_destroy() leaves it alone, and ram_unmap() frees it some day. */
struct ram vm_ram_take(struct vm *vm);

#endif
