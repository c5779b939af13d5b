/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of struct vm, and the functions about the machine that the files of this folder share.
 *
 * Locking: the members up to `callbacks` are set before the vCPUs run, and are not replaced while they run. But each vCPU's
 * thread changes the atomic members of its struct vcpu, and the bus and each device change and lock their own state.
 */
#ifndef OUTRIDER_VMM_MACHINE_H
#define OUTRIDER_VMM_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/vmm/block/virtio_blk.h"
#include "hv/vmm/boot_entry.h"
#include "hv/vmm/bus/bus.h"
#include "hv/vmm/dma.h"
#include "hv/vmm/kvm_lines.h"
#include "hv/vmm/net/virtio_net.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/pci/silent.h"
#include "hv/vmm/platform/i8042.h"
#include "hv/vmm/platform/mark.h"
#include "hv/vmm/platform/pm.h"
#include "hv/vmm/platform/pvpanic.h"
#include "hv/vmm/platform/rtc.h"
#include "hv/vmm/platform/serial.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/rng/virtio_rng.h"
#include "hv/vmm/virtio/virtio.h"
#include "hv/vmm/vmm.h"
#include "hv/vmm/vsock/virtio_vsock.h"

struct vm {
	int kvm_fd, fd;
	struct ram ram;
	bool ram_is_callers;  /* the caller owns the RAM, so vm_destroy() does not free the RAM */
	bool kicks_by_timers; /* see kick.c */
	struct dma dma;	      /* the devices' access to `ram` */
	unsigned cpus;
	struct vcpu vcpu[VMM_MAX_CPUS];
	size_t run_size; /* size of each vcpu->run mapping in bytes */
	struct bus bus;
	struct kvm_lines lines;
	struct workers workers;
	struct virtio_bus virtio; /* the parts of this machine that a virtio device uses */
	struct serial serial;
	struct rtc rtc;
	struct pm pm;
	struct pci pci;
	struct i8042 i8042;
	struct pvpanic pvpanic;
	struct virtio_blk *disk[VMM_MAX_DISKS]; /* in the order of the configuration; the remaining elements are NULL */
	struct virtio_rng *rng;			/* `rng`, `net` and `vsock` are NULL if the machine has no such device */
	struct net_backend *network;		/* backend of the network device, until the member `net` owns it */
	struct virtio_net *net;
	struct virtio_vsock *vsock;
	/* only in a copy of the machine: the devices that serve no request (pci/silent.h), indexed by slot */
	struct silent *silent[PCI_SLOTS];
	int console_in;
	int wake_fd; /* eventfd; readable once the machine has ended; wakes the input thread */
	const struct vm_callbacks *callbacks;

	_Atomic uint64_t leave_ns; /* time on CLOCK_MONOTONIC until which vm_run() waits for threads; 0: no limit */
	char left[16];		   /* name of a thread that vm_run() did not wait for; "": none */
	atomic_int ended;	   /* 0 while the machine runs, then 1 + enum vm_end of the first end */
	pthread_mutex_t end_lock;  /* guards `detail` and `failure` until the vCPU threads have ended */
	char detail[512];	   /* what vm_end_detail() returns */
	struct err failure;	   /* error that made vm_run() fail; code EXIT_OK: none */
};

/*
 * End the machine for the reason `end`, and keep the printf-formatted line for vm_end_detail(). Only the first call has an
 * effect. May be called on any thread, but not in a signal handler. In end.c.
 */
void machine_end(struct vm *vm, enum vm_end end, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* End the machine because of an error of the VMM: vm_run() then returns the first such error. In end.c. */
void machine_fail(struct vm *vm, const struct err *err);

/* Make every thread of the machine test `ended` soon. Async-signal-safe. In end.c. */
void machine_wake(struct vm *vm);

/*
 * Make a machine with the platform devices and room for `cpus` vCPUs, but without a KVM VM, RAM, PCI devices and vCPUs.
 * `console_in` and `console_out` mean what they mean in struct vmm_config. Returns NULL with `err` set on failure; vm_destroy()
 * frees the machine. In vm.c.
 */
struct vm *machine_new(unsigned cpus, int console_in, int console_out, struct err *err);

/*
 * Create the machine's KVM VM, and the eventfd `wake_fd`. `kvm_fd` is an open /dev/kvm, which the machine then owns. Returns 0,
 * or -1 with `err` set. In vm.c.
 */
int machine_open(struct vm *vm, int kvm_fd, struct err *err);

/*
 * Put the platform devices on the bus, and connect their interrupts and power lines. Returns 0, or -1 with `err` set;
 * machine_remove_devices() removes the devices in either case, after the machine's threads have ended.
 */
int machine_add_devices(struct vm *vm, int console_out, struct err *err);

/* Put the mark (platform/mark.h), which the caller owns, on the bus. NULL: do nothing. Returns 0, or -1 with `err` set. */
int machine_add_mark(struct vm *vm, struct mark *mark, struct err *err);

/*
 * Add the PCI devices that `config` asks for. The KVM VM must exist. The devices' workers run from the start of vm_run() to its
 * end. Returns 0, or -1 with `err` set; machine_remove_devices() frees the devices in either case.
 */
int machine_add_pci_devices(struct vm *vm, const struct vmm_config *config, struct err *err);

/*
 * Open the host's side of the network device that `config` asks for. This may fork a process, so it must be called before the
 * machine has RAM. Returns 0, or -1 with `err` set; machine_remove_devices() frees the backend in either case.
 */
int machine_open_network(struct vm *vm, const struct vmm_config *config, struct err *err);
void machine_remove_devices(struct vm *vm);

/*
 * Create the vCPUs. CPU 0 starts at the kernel's entry, as `entry` says; all other CPUs wait for INIT and SIPI. Returns 0, or
 * -1 with `err` set; machine_destroy_vcpus() frees the vCPUs in either case.
 */
int machine_create_vcpus(struct vm *vm, const struct boot_entry *entry, struct err *err);

/* Create the vCPU `index`, with the registers that KVM gives it. Returns 0, or -1 with `err` set. */
int machine_create_vcpu(struct vm *vm, unsigned index, struct err *err);
void machine_destroy_vcpus(struct vm *vm);

/* Set the CPUID and the MSRs of a vCPU and, on CPU 0, the registers that the boot protocol requires. In vcpu_state.c. */
int vcpu_reset(struct vm *vm, unsigned index, const struct boot_entry *entry, struct err *err);

/* Callbacks that do nothing, for a machine without a detector. */
extern const struct vm_callbacks machine_no_callbacks;

/* Body of a vCPU's thread. `arg` is the struct vcpu. */
void *vcpu_thread(void *arg);

/* Body of the thread that serves console input and the clock. `arg` is the struct vm. */
void *input_thread(void *arg);

/* Install the handler of the kick signal, for the whole process. May be called repeatedly. Returns 0, or -1 with `err` set. */
int kick_setup(struct err *err);

/*
 * Make a timer that sends this vCPU's kicks to the calling thread, which must be the vCPU's own. May be called repeatedly.
 * Returns 0, or -1 with `err` set; the caller frees the timer by kick_free_timer(), when no thread uses the timer any more.
 */
int kick_make_timer(struct vcpu *vcpu, struct err *err);
void kick_free_timer(struct vcpu *vcpu);

/*
 * Set the vCPU that the calling thread runs, so that the kick's handler finds the vCPU's kvm_run. NULL: the thread runs no vCPU
 * any more.
 */
void kick_attach(struct vcpu *vcpu);

/*
 * Write one line for the user into `buf` of `size` bytes: the last KVM exit and the registers of a vCPU that will not run
 * again. To be called on the vCPU's own thread. In vcpu_state.c.
 */
void vcpu_describe(struct vcpu *vcpu, char *buf, size_t size);

#endif
