/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of struct vm, for the files of this folder. Everything above `ended` is set by vm_create() and constant while
 * the machine runs; the devices lock themselves.
 */
#ifndef OUTRIDER_VMM_MACHINE_H
#define OUTRIDER_VMM_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/vmm/boot_entry.h"
#include "hv/vmm/dev/bus.h"
#include "hv/vmm/dev/i8042.h"
#include "hv/vmm/dev/pci.h"
#include "hv/vmm/dev/pm.h"
#include "hv/vmm/dev/pvpanic.h"
#include "hv/vmm/dev/rtc.h"
#include "hv/vmm/dev/serial.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/vmm.h"

struct vm {
	int kvm_fd, fd;
	struct ram ram;
	unsigned cpus;
	struct vcpu vcpu[VMM_MAX_CPUS];
	size_t run_size; /* of each vcpu->run mapping */
	struct bus bus;
	struct serial serial;
	struct rtc rtc;
	struct pm pm;
	struct pci pci;
	struct i8042 i8042;
	struct pvpanic pvpanic;
	int console_in;
	int wake_fd; /* eventfd: ends the input thread */
	const struct vm_hooks *hooks;

	atomic_int ended;	  /* 0 while running, then 1 + enum vm_end; the first end wins */
	pthread_mutex_t end_lock; /* guards what follows */
	char detail[512];
	struct err failure; /* code is EXIT_OK while our side works */
};

/*
 * End the machine for the reason `end`, and keep the printf-formatted line for vm_end_detail(). Only the first end counts; a
 * later one changes nothing. Any thread may call it, but no signal handler. In end.c.
 */
void machine_end(struct vm *vm, enum vm_end end, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* End the machine because our side failed: vm_run() then returns `err`, of several the first. In end.c. */
void machine_fail(struct vm *vm, const struct err *err);

/* Make every thread of the machine look at `ended` soon. Async-signal-safe. In end.c. */
void machine_wake(struct vm *vm);

/*
 * Put the devices on the bus, and wire them to interrupts and power. machine_remove_devices() may follow even when this fails,
 * and comes only after the vCPU threads have ended.
 */
int machine_add_devices(struct vm *vm, int console_out, struct err *err);
void machine_remove_devices(struct vm *vm);

/* Create the vCPUs, and put CPU 0 where the kernel starts; the others wait for its INIT and SIPI. */
int machine_create_vcpus(struct vm *vm, const struct boot_entry *entry, struct err *err);
void machine_destroy_vcpus(struct vm *vm);

/* CPUID, MSRs and, on CPU 0, registers as the boot protocol wants them. vcpu_state.c */
int vcpu_reset(struct vm *vm, unsigned index, const struct boot_entry *entry, struct err *err);

/* Thread bodies; the argument is the struct vcpu and the struct vm. */
void *vcpu_thread(void *arg);
void *input_thread(void *arg);

/* Install the kick signal's handler. Safe to call again. */
int kick_setup(struct err *err);

/* This thread runs `vcpu` from now on, or none (NULL). */
void kick_attach(struct vcpu *vcpu);

/* One line of registers for the user, after the vCPU stopped for good. Called on its own thread. */
void vcpu_describe(struct vcpu *vcpu, char *buf, size_t size);

#endif
