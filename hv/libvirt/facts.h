/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libvirt's XML description of a domain says about the guest: its name, kernel, memory and CPUs. */
#ifndef OUTRIDER_LIBVIRT_FACTS_H
#define OUTRIDER_LIBVIRT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct domain_facts {
	char name[256];
	char kernel[1024];  /* Path of the kernel that QEMU loads. "": the kernel is in the domain's disk image. */
	char cmdline[2048]; /* Command line of `kernel`, or "". */
	uint64_t memory;    /* Bytes of guest memory. */
	unsigned cpus;
	bool kvm; /* The guest runs on KVM, not on TCG. */
};

#endif
