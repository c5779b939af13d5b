/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of struct vm, and what the files of this folder offer each other about the machine.
 *
 * Locking: vm_create() sets the members above `ended`, and vm_run() sets `hooks`. They do not change while vCPUs run, except
 * that each device and the bus change their own state and lock it themselves.
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
#include "hv/vmm/dev/silent.h"
#include "hv/vmm/dev/virtio_blk.h"
#include "hv/vmm/dev/virtio_net.h"
#include "hv/vmm/dev/virtio_rng.h"
#include "hv/vmm/dev/virtio_vsock.h"
#include "hv/vmm/dma.h"
#include "hv/vmm/kvm_lines.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/virtio/virtio.h"
#include "hv/vmm/vmm.h"

struct vm {
	int kvm_fd, fd;
	struct ram ram;
	bool ram_is_callers;  /* vm_destroy() leaves the RAM alone */
	bool kicks_by_timers; /* see kick.c */
	struct dma dma;	      /* how devices get into that RAM */
	unsigned cpus;
	struct vcpu vcpu[VMM_MAX_CPUS];
	size_t run_size; /* size of each vcpu->run mapping in bytes */
	struct bus bus;
	struct kvm_lines lines;
	struct workers workers;
	struct virtio_bus virtio; /* the three parts that cards are plugged into */
	struct serial serial;
	struct rtc rtc;
	struct pm pm;
	struct pci pci;
	struct i8042 i8042;
	struct pvpanic pvpanic;
	struct virtio_blk *disk[VMM_MAX_DISKS]; /* in the order of the configuration; the rest is NULL */
	struct virtio_rng *rng;			/* NULL: there is none; likewise the cards that follow */
	struct virtio_net *net;
	struct virtio_vsock *vsock;
	struct silent *silent[PCI_SLOTS]; /* of a copy: what stands in for its cards, in the order of their slots */
	int console_in;
	int wake_fd; /* eventfd; readable once the machine has ended, which the input thread waits for */
	const struct vm_hooks *hooks;

	atomic_int ended;	  /* 0 while the machine runs, then 1 + enum vm_end; the first end stays */
	pthread_mutex_t end_lock; /* guards `detail` and `failure` until the vCPU threads have ended */
	char detail[512];	  /* what vm_end_detail() returns */
	struct err failure;	  /* what our side failed with; its code is EXIT_OK when our side did not fail */
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
 * Make a machine of `cpus` that has the board's devices, and nothing of KVM yet: no VM, RAM, cards and vCPUs. The descriptors
 * are as in struct vmm_config. Returns NULL with `err` set; vm_destroy() frees it. In vm.c.
 */
struct vm *machine_new(unsigned cpus, int console_in, int console_out, struct err *err);

/*
 * Open what a machine needs of the host, and create its VM: `kvm_fd` is /dev/kvm, which becomes the machine's. Returns 0, or -1
 * with `err` set. In vm.c.
 */
int machine_open(struct vm *vm, int kvm_fd, struct err *err);

/*
 * Put the board's devices on the bus, and wire them to interrupts and power. machine_remove_devices() may follow even when this
 * fails, and comes only after the machine's threads have ended.
 */
int machine_add_devices(struct vm *vm, int console_out, struct err *err);

/*
 * Add the PCI devices that `config` asks for, once KVM's VM is open. Their workers run from the start of vm_run() to its end.
 * Returns 0, or -1 with `err` set; machine_remove_devices() frees them either way.
 */
int machine_add_cards(struct vm *vm, const struct vmm_config *config, struct err *err);
void machine_remove_devices(struct vm *vm);

/*
 * Create the vCPUs. CPU 0 is put where the kernel starts, as `entry` says; the others wait for its INIT and SIPI. Returns 0, or
 * -1 with `err` set; machine_destroy_vcpus() frees the vCPUs either way.
 */
int machine_create_vcpus(struct vm *vm, const struct boot_entry *entry, struct err *err);

/* Create the vCPU of that number, whose registers are as KVM makes them. Returns 0, or -1 with `err` set. */
int machine_create_vcpu(struct vm *vm, unsigned index, struct err *err);
void machine_destroy_vcpus(struct vm *vm);

/* Set the CPUID and the MSRs of a vCPU and, on CPU 0, the registers that the boot protocol wants. In vcpu_state.c. */
int vcpu_reset(struct vm *vm, unsigned index, const struct boot_entry *entry, struct err *err);

/* Hooks that do nothing. */
extern const struct vm_hooks machine_no_hooks;

/* The body of a vCPU's thread. `arg` is the struct vcpu. */
void *vcpu_thread(void *arg);

/* The body of the thread that serves console input and the clock. `arg` is the struct vm. */
void *input_thread(void *arg);

/* Install the handler of the kick signal, for the whole process. It may be called again. Returns 0, or -1 with `err` set. */
int kick_setup(struct err *err);

/*
 * Let a timer send the kicks of this vCPU to the calling thread, which is its own. It may be called again. Returns 0, or -1
 * with `err` set; kick_free_timer() frees the timer when no thread runs any more.
 */
int kick_make_timer(struct vcpu *vcpu, struct err *err);
void kick_free_timer(struct vcpu *vcpu);

/* Say which vCPU the calling thread runs from now on, so that a kick finds its kvm_run. NULL: it runs none any more. */
void kick_attach(struct vcpu *vcpu);

/*
 * Write one line for the user into `buf` of `size` bytes: the last KVM exit and the registers of a vCPU that has stopped for
 * good. To be called on the vCPU's own thread. In vcpu_state.c.
 */
void vcpu_describe(struct vcpu *vcpu, char *buf, size_t size);

#endif
