/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's KVM: opening it, the capabilities we build on, and an empty VM. Shared by the machine and the host self-test.
 */
#ifndef OUTRIDER_VMM_HOST_H
#define OUTRIDER_VMM_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

struct kvm_run;

struct host_cap {
	const char *name; /* as in <linux/kvm.h> */
	int cap;
};

/* The capabilities without which nothing works; *n of them. */
const struct host_cap *host_needed_caps(size_t *n);

bool host_has_cap(int kvm_fd, int cap);

/* Open /dev/kvm and check API version and needed capabilities. Returns the fd (the caller's), or -1 with EXIT_INPUT. */
int host_open(struct err *err);

/* A VM with the in-kernel interrupt controllers and timer, and no memory. Returns its fd (the caller's) or -1. */
int host_create_vm(int kvm_fd, struct err *err);

/* Create vCPU `index` and map its kvm_run; *run_size for munmap. Returns its fd (the caller's) or -1. */
int host_create_vcpu(int kvm_fd, int vm_fd, unsigned index, struct kvm_run **run, size_t *run_size, struct err *err);

#endif
