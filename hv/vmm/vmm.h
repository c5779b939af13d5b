/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual machine monitor: an unmodified x86-64 Linux kernel on KVM, ioctls direct. This header is all a caller needs.
 *
 * Threads: vm_run() starts one thread a vCPU and returns when the machine is over. Hooks run on the vCPU's own thread, while
 * that vCPU is outside KVM_RUN, and may issue its vCPU ioctls (on vcpu->fd) directly. vm_stop() and vcpu_kick() may be called
 * from any thread or signal context.
 */
#ifndef OUTRIDER_VMM_VMM_H
#define OUTRIDER_VMM_VMM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct kvm_run;
struct vm;

#define VMM_MAX_CPUS 16

struct vmm_config {
	const char *kernel;  /* bzImage, or an ELF vmlinux with a PVH note */
	const char *initrd;  /* NULL: none */
	const char *cmdline; /* appended to what gives the guest its console; NULL: nothing */
	unsigned cpus;	     /* 1..VMM_MAX_CPUS */
	uint64_t memory;     /* bytes; reserved lazily */
	int console_out;     /* fd the serial port writes to */
	int console_in;	     /* fd its input comes from, or -1 */
};

/* Why the machine ended. */
enum vm_end {
	VM_END_POWEROFF,     /* ACPI S5 */
	VM_END_REBOOT,	     /* ACPI reset register, i8042 pulse, or (after a panic with panic=N) the same */
	VM_END_TRIPLE_FAULT, /* KVM_EXIT_SHUTDOWN */
	VM_END_INTERNAL,     /* KVM_EXIT_INTERNAL_ERROR, FAIL_ENTRY, or an exit we do not know */
	VM_END_PANIC,	     /* the guest's pvpanic driver, where it is loaded, reported one */
	VM_END_STOPPED,	     /* vm_stop() */
};

struct vcpu {
	struct vm *vm;
	unsigned index; /* also its APIC id */
	int fd;
	struct kvm_run *run;
	pthread_t thread;
	_Atomic int tid;	/* of its thread while that runs, else 0 */
	atomic_bool in_guest;	/* inside KVM_RUN, or about to enter: a change meant for it needs a kick */
	_Atomic uint64_t exits; /* KVM_RUN returns, and of these: */
	_Atomic uint64_t debug_exits;
	_Atomic uint64_t kicks; /* signals sent to it */
};

struct vm_hooks {
	/*
	 * Before each KVM_RUN, after in_guest was set (so a change published before a vcpu_kick() is seen either here or by the
	 * kick). Returns 0 to enter the guest, -1 with `err` set to end the machine.
	 */
	int (*before_entry)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* KVM_RUN returned KVM_EXIT_DEBUG. Same returns. */
	int (*on_debug)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* KVM_RUN returned -EINTR after a kick. Same returns. */
	int (*on_kick)(void *ctx, struct vcpu *vcpu, struct err *err);
	void *ctx;
};

/* Build the machine: open /dev/kvm, load kernel and initrd, write tables. Owns nothing of `config` afterwards. NULL: see err.
 */
struct vm *vm_create(const struct vmm_config *config, struct err *err);

/* Run to the end. 0 and *end set; -1 with err set when our side failed. hooks may be NULL. Call once. */
int vm_run(struct vm *vm, const struct vm_hooks *hooks, enum vm_end *end, struct err *err);

/* One line on how the machine ended (vCPU, RIP, KVM's suberror...) for the user. Valid until vm_destroy(). */
const char *vm_end_detail(const struct vm *vm);

void vm_stop(struct vm *vm);
void vm_destroy(struct vm *vm);

unsigned vm_cpu_count(const struct vm *vm);
struct vcpu *vm_vcpu(struct vm *vm, unsigned index);

/* Make the vCPU leave KVM_RUN soon (signal + immediate_exit: no lost wake-up). Async-signal-safe. */
void vcpu_kick(struct vcpu *vcpu);

/* The signal it uses: a timer that sends it to the vCPU's own thread (SIGEV_THREAD_ID) is a kick too. */
int vcpu_kick_signal(void);

/*
 * THE accessor for guest-physical memory: the host address of `len` bytes of RAM at `gpa`, or NULL when any of them is not
 * RAM or the range wraps. Every guest-given address, in every layer, comes through here. The bytes may change at any time.
 */
void *vm_ram(struct vm *vm, uint64_t gpa, size_t len);

#endif
