/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the host's KVM, checks the capabilities that the VMM needs, and creates an empty VM. Used by the machine and by the
 * host self-test.
 */
#ifndef OUTRIDER_VMM_HOST_H
#define OUTRIDER_VMM_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

struct kvm_run;

struct host_cap {
	const char *name; /* the capability's name in <linux/kvm.h> */
	int cap;
};

/* Returns the capabilities that the VMM needs, and sets *n to their number. */
const struct host_cap *host_needed_caps(size_t *n);

/* Returns true if KVM reports the capability `cap` (KVM_CHECK_EXTENSION). */
bool host_has_cap(int kvm_fd, int cap);

/*
 * Returns true if KVM reports that it can block interrupts while it single-steps a vCPU (KVM_GUESTDBG_BLOCKIRQ). The replay of
 * both orders of a race needs this feature.
 */
bool host_blocks_interrupts(int kvm_fd);

/*
 * Open /dev/kvm, and check the API's version and the needed capabilities. Returns a file descriptor that the caller closes, or
 * -1 with EXIT_INPUT.
 */
int host_open(struct err *err);

/*
 * Create a VM that has KVM's own interrupt controllers and timer, and no memory. Returns a file descriptor that the caller
 * closes, or -1 with EXIT_INPUT.
 */
int host_create_vm(int kvm_fd, struct err *err);

/*
 * Create the vCPU `index` and map its kvm_run. The caller unmaps the *run_size bytes at *run, and closes the returned file
 * descriptor. Returns -1 with EXIT_INPUT on failure; *run is then unchanged.
 */
int host_create_vcpu(int kvm_fd, int vm_fd, unsigned index, struct kvm_run **run, size_t *run_size, struct err *err);

#endif
