/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual machine monitor, which runs an unmodified x86-64 Linux kernel on KVM, by KVM's ioctls and without a library. A
 * caller includes only this header.
 *
 * Threads: vm_run() starts one thread for each vCPU, one for console input, and the workers of the devices (virtio/worker.h),
 * and returns when the machine has ended. A callback runs on the thread of its vCPU, while that vCPU is outside KVM_RUN, so the
 * callback may issue the vCPU's ioctls (on vcpu->fd) directly. vm_stop() and vcpu_kick() may be called from any thread and from
 * a signal handler.
 */
#ifndef OUTRIDER_VMM_VMM_H
#define OUTRIDER_VMM_VMM_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "hv/base/err.h"

struct dma;
struct kvm_run;
struct mark;
struct vm;

#define VMM_MAX_CPUS 16

/* The number of disks that a machine may have. */
#define VMM_MAX_DISKS 16

/* A disk of the machine. */
struct vmm_disk {
	/* Path of the image. */
	const char *path;
	/* The guest cannot write to the disk, and the image is opened read-only. */
	bool read_only;
	/* The guest's writes go to a temporary file, which is deleted with the machine. The image does not change. */
	bool overlay;
	/* Use the image as raw, even if it starts with the magic number of another format. */
	bool raw;
	/* The number of request queues, 1 to VMM_MAX_CPUS. 0: one for each vCPU, but at most 4. */
	unsigned queues;
};

/* A port of the host that leads to a port of the guest. */
struct vmm_forward {
	/* True: UDP. False: TCP. */
	bool udp;
	/* The host's address to listen on, in network byte order. INADDR_ANY: all addresses. */
	struct in_addr address;
	/* The host's port, 1 to 65535, in host byte order. */
	uint16_t port;
	/* The guest's port, 1 to 65535, in host byte order. */
	uint16_t guest_port;
};

enum vmm_net_kind {
	/* User-mode networking: a helper process makes the guest's connections, without any privilege. */
	VMM_NET_USER,
	/* A tap interface of the host. */
	VMM_NET_TAP,
};

/* The network interface of the machine. */
struct vmm_net {
	enum vmm_net_kind kind;
	/* Name of an existing tap interface. NULL unless the kind is VMM_NET_TAP. */
	const char *tap;
	/* `count` forwarded ports. Only for VMM_NET_USER. */
	const struct vmm_forward *forwards;
	size_t count;
};

/* Receives messages on failures of the host that do not end the run, such as a full disk. */
struct vmm_messages {
	/*
	 * Take one line for the user, without a newline. Called on any thread. Must not block for long. NULL: messages are
	 * dropped.
	 */
	void (*message)(void *ctx, const char *line);
	/* The first argument of message(). */
	void *ctx;
};

struct vmm_config {
	const char *kernel;  /* path of a bzImage, or of an ELF vmlinux that has a PVH note */
	const char *initrd;  /* path of the initial RAM disk; NULL: no initial RAM disk */
	const char *cmdline; /* kernel parameters after the VMM's "console=" parameter; NULL: none */
	unsigned cpus;	     /* number of vCPUs, 1 to VMM_MAX_CPUS */
	uint64_t memory;     /* size of guest RAM in bytes; the host allocates a page when the guest first touches it */
	int console_out;     /* file descriptor for the serial port's output */
	int console_in;	     /* file descriptor for the serial port's input; -1: no input */

	/* `disk_count` disks, at most VMM_MAX_DISKS, in the order in which the guest finds them. */
	const struct vmm_disk *disks;
	size_t disk_count;
	/* The caller may make copies of the machine (hv/vmm/snapshot), with copies of its disks. */
	bool copies;
	/* The network interface. NULL: no network. */
	const struct vmm_net *net;
	/* The machine has an entropy device. */
	bool rng;
	/* The guest's context id on its vsock device, at least 3. 0: no vsock device. */
	uint32_t vsock_cid;
	/*
	 * Path of the Unix socket through which programs of the host reach the vsock device. NULL: the path of
	 * vsock_default_path(). Ignored if vsock_cid is 0.
	 */
	const char *vsock_socket;
	/* The mark (platform/mark.h), which must outlive the machine. NULL: the machine has none. */
	struct mark *mark;
	/* Receives messages for the user. The object at messages.ctx must outlive the machine. */
	struct vmm_messages messages;
};

/* Why the machine ended. */
enum vm_end {
	/* The guest entered the ACPI sleep state S5. */
	VM_END_POWEROFF,
	/*
	 * The guest wrote the ACPI reset register or pulsed the i8042's reset line. A panic with "panic=N" also ends this way.
	 */
	VM_END_REBOOT,
	/* A vCPU had a triple fault (KVM_EXIT_SHUTDOWN). */
	VM_END_TRIPLE_FAULT,
	/* KVM_EXIT_INTERNAL_ERROR, KVM_EXIT_FAIL_ENTRY, or a KVM exit that the VMM does not handle. */
	VM_END_INTERNAL,
	/* The guest's pvpanic driver reported a kernel panic. Not every guest has that driver loaded. */
	VM_END_PANIC,
	/* vm_stop() was called. */
	VM_END_STOPPED,
};

struct vcpu {
	struct vm *vm;
	unsigned index;	     /* number of this vCPU, from 0; also its APIC id */
	int fd;		     /* for the vCPU's ioctls */
	struct kvm_run *run; /* data shared with KVM, such as on the last exit; the machine maps and unmaps it */
	pthread_t thread;
	/* The id of this vCPU's thread while the thread runs, else 0. */
	_Atomic int tid;
	/* The vCPU is inside KVM_RUN or about to enter it: only a vcpu_kick() makes the vCPU's thread notice a change. */
	atomic_bool in_guest;
	/* The number of times that KVM_RUN returned. */
	_Atomic uint64_t exits;
	/* The number of times that KVM_RUN returned KVM_EXIT_DEBUG. */
	_Atomic uint64_t debug_exits;
	/* The number of signals that vcpu_kick() sent to this vCPU. */
	_Atomic uint64_t kicks;
	/* `kick_timer` sends the kicks. True only in a copy. */
	atomic_bool has_kick_timer;
	timer_t kick_timer;
};

/*
 * Callbacks: functions of vm_run()'s caller that are called around KVM_RUN. Each may be NULL. A callback returns 0 to continue,
 * or -1 with `err` set to end the machine; vm_run() then fails with that error.
 */
struct vm_callbacks {
	/*
	 * Called before each KVM_RUN, after vcpu->in_guest was set. If a thread publishes a change and then kicks the vCPU,
	 * then either this call sees the change, or the KVM_RUN that follows returns at once.
	 */
	int (*before_entry)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* Called when KVM_RUN returned KVM_EXIT_DEBUG. Without this callback the exit ends the machine as VM_END_INTERNAL. */
	int (*on_debug)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* Called when KVM_RUN returned -EINTR because of a kick. */
	int (*on_kick)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* The first argument of each callback. */
	void *ctx;
};

/*
 * Check the files of `config` without /dev/kvm: the kernel is a bzImage or an ELF vmlinux, the initrd is a file, and no other
 * program uses the image of a disk. Returns 0, or -1 with EXIT_INPUT.
 */
int vmm_check_files(const struct vmm_config *config, struct err *err);

/*
 * Build the machine: open /dev/kvm, load kernel and initrd, write the ACPI tables and the boot parameters, and create the
 * vCPUs. Of `config`, only the console's file descriptors, the mark and the object at messages.ctx must outlive the machine;
 * the caller owns them. Returns NULL with `err` set on failure; otherwise the caller frees the machine by vm_destroy().
 */
struct vm *vm_create(const struct vmm_config *config, struct err *err);

/*
 * Run the machine until it ends; to be called once. `callbacks` may be NULL, and must otherwise outlive the call. Stores in
 * *end why the machine ended. Returns 0, or -1 with `err` set if an error of the VMM or of a callback ended the machine. Waits
 * for the machine's threads to end; see vm_leave_within().
 */
int vm_run(struct vm *vm, const struct vm_callbacks *callbacks, enum vm_end *end, struct err *err);

/*
 * Returns one line for the user on how the machine ended: the vCPU, its RIP and other registers, KVM's suberror and the like.
 * The line is valid until vm_destroy().
 */
const char *vm_end_detail(const struct vm *vm);

/* End the machine soon as VM_END_STOPPED, unless it has ended already. Async-signal-safe. */
void vm_stop(struct vm *vm);

/*
 * Limit the time for which vm_run() waits for threads after the machine's end. Once the machine has ended and `ns` nanoseconds
 * have passed since this call, vm_run() returns even if some threads have not ended. A worker may be waiting for the host, such
 * as for a disk that does not respond, and a vCPU's thread may be waiting for the caller of vm_run(). Only the first call has
 * an effect. Async-signal-safe.
 */
void vm_leave_within(struct vm *vm, uint64_t ns);

/*
 * Returns the name of a thread that vm_run() did not wait for, or NULL if there is none. Such a thread still uses the machine,
 * its configuration and its callbacks, so vm_destroy() does nothing, and the process must exit.
 */
const char *vm_left(const struct vm *vm);

/* Free the machine, which must not be running. NULL is allowed. */
void vm_destroy(struct vm *vm);

unsigned vm_cpu_count(const struct vm *vm);

/* Returns the vCPU `index`, or NULL if there is no such vCPU. The machine owns it. */
struct vcpu *vm_vcpu(struct vm *vm, unsigned index);

/*
 * Kick the vCPU: make it leave KVM_RUN soon, or return from its next KVM_RUN at once. A signal interrupts KVM_RUN, and its
 * handler sets kvm_run.immediate_exit, so that a kick just before KVM_RUN is not lost. Does nothing while the vCPU's thread
 * does not run. Async-signal-safe.
 */
void vcpu_kick(struct vcpu *vcpu);

/*
 * Make one KVM_RUN of the vCPU on the calling thread, and handle the exit, by a call of a device or a callback if necessary. In
 * this way one thread can run all vCPUs of a machine in turn. Must not be called while vm_run() runs. vcpu_kick() has no effect
 * here. To end the KVM_RUN soon, send the signal vcpu_kick_signal() to the calling thread, for example by a timer with
 * SIGEV_THREAD_ID. Returns 0, or -1 with `err` set on an error of the VMM or a callback.
 */
int vcpu_enter(struct vcpu *vcpu, struct err *err);

/* Returns true, with the reason in *end, if the machine has ended. */
bool vm_ended(const struct vm *vm, enum vm_end *end);

/*
 * Returns the signal that vcpu_kick() sends. A timer that sends it to the vCPU's own thread (SIGEV_THREAD_ID) also kicks the
 * vCPU.
 */
int vcpu_kick_signal(void);

/*
 * Returns the host address of `len` bytes of RAM at the GPA `gpa`, or NULL if any of these bytes is not RAM or the range wraps.
 * This is the only accessor for guest RAM: code of all layers passes every address from the guest through this function. The
 * guest may change the bytes at any time. The host address is valid until vm_destroy().
 */
void *vm_ram(struct vm *vm, uint64_t gpa, size_t len);

/* Returns the devices' access to guest RAM (hv/vmm/dma.h), for an observer of device accesses. The machine owns it. */
struct dma *vm_dma(struct vm *vm);

/*
 * Returns true if a device serves a request, or was notified and has not begun to serve one. May be called on any thread while
 * the machine runs. Takes no lock.
 */
bool vm_devices_busy(const struct vm *vm);

#endif
