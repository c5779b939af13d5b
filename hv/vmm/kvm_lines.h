/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets up what KVM does for devices without a KVM exit: message-signalled interrupts (KVM_IRQFD with KVM_SET_GSI_ROUTING), and
 * notifications by a write of the guest (KVM_IOEVENTFD). Documentation/virt/kvm/api.rst describes these ioctls.
 *
 * KVM_SET_GSI_ROUTING replaces the whole table of GSIs. The entries for the 8259s and the I/O APIC stay as KVM_CREATE_IRQCHIP
 * sets them up: GSI n is pin n.
 *
 * Any thread may call the functions of struct pci_host. kvm_lines.lock guards the table; no other lock is taken under it.
 */
#ifndef OUTRIDER_VMM_KVM_LINES_H
#define OUTRIDER_VMM_KVM_LINES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/pci/function.h"

#define KVM_LINES_MESSAGES 1000 /* GSIs for messages; older kernels support 1024 GSIs in all */

struct kvm_message {
	bool used, set;
	uint64_t address;
	uint32_t data;
};

struct kvm_lines {
	const int *vm_fd; /* the VM's file descriptor, opened before the first use */
	pthread_mutex_t lock;
	struct kvm_message message[KVM_LINES_MESSAGES]; /* message[i] belongs to the GSI GSI_COUNT + i */
};

/*
 * Initialise *lines. Before the first call of a function of kvm_lines_host(), the caller must store the VM's file descriptor in
 * *vm_fd.
 */
void kvm_lines_init(struct kvm_lines *lines, const int *vm_fd);
void kvm_lines_destroy(struct kvm_lines *lines);

/* Returns the functions that the PCI bus calls. *lines must outlive their use. */
struct pci_host kvm_lines_host(struct kvm_lines *lines);

#endif
