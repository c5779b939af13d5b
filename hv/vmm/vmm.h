/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual machine monitor: it runs an unmodified x86-64 Linux kernel on KVM, by KVM's ioctls and without a library. This
 * header is all that a caller needs.
 *
 * Threads: vm_run() starts one thread for each vCPU, one for console input, and the threads of the devices
 * (virtio/worker.h), and returns when the machine has ended. A hook runs on the thread of its vCPU, while that vCPU is
 * outside KVM_RUN, and may therefore issue the vCPU's ioctls (on vcpu->fd) directly. vm_stop() and vcpu_kick() may be
 * called from any thread and from a signal handler.
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
struct vm;

#define VMM_MAX_CPUS 16

/* The number of disks that a machine may have. */
#define VMM_MAX_DISKS 16

/* A disk of the machine. */
struct vmm_disk {
	/* Path of the image. */
	const char *path;
	/* The guest cannot write to the disk, and the image is opened for reading only. */
	bool read_only;
	/* The guest's writes go to a temporary file, which is gone with the machine. The image stays as it is. */
	bool overlay;
	/* The image is raw, even where it begins as one of another format does. */
	bool raw;
	/* The number of request queues, 1 to VMM_MAX_CPUS. 0: one for each vCPU, but at most 4. */
	unsigned queues;
};

/* A port of the host that leads to a port of the guest. */
struct vmm_forward {
	/* The port is of UDP. False: of TCP. */
	bool udp;
	/* The host's address that is listened at, in network byte order. INADDR_ANY: all of them. */
	struct in_addr address;
	/* The host's port, 1 to 65535, in host byte order. */
	uint16_t port;
	/* The guest's port, 1 to 65535, in host byte order. */
	uint16_t guest_port;
};

enum vmm_net_kind {
	/* User-mode networking: the guest's connections are made by this process, and no right is needed for it. */
	VMM_NET_USER,
	/* A tap interface of the host. */
	VMM_NET_TAP,
};

/* The network interface of the machine. */
struct vmm_net {
	enum vmm_net_kind kind;
	/* Name of the tap interface, which exists. NULL unless the kind is VMM_NET_TAP. */
	const char *tap;
	/* `count` forwarded ports. There are none unless the kind is VMM_NET_USER. */
	const struct vmm_forward *forwards;
	size_t count;
};

/* Whom a device tells of what fails on the host and does not end the run, such as a full disk. */
struct vmm_notes {
	/*
	 * Take one line for the user, without a newline. Any thread may call it. It must not wait for long. NULL: nobody is
	 * told.
	 */
	void (*note)(void *ctx, const char *line);
	/* The first argument of note(). */
	void *ctx;
};

struct vmm_config {
	const char *kernel;  /* path of a bzImage, or of an ELF vmlinux that has a PVH note */
	const char *initrd;  /* path of the initial RAM disk; NULL: the machine has none */
	const char *cmdline; /* appended to the "console=" that the VMM gives the kernel; NULL: nothing is */
	unsigned cpus;	     /* number of vCPUs, 1 to VMM_MAX_CPUS */
	uint64_t memory;     /* size of guest RAM in bytes; the host gives a page when the guest first touches it */
	int console_out;     /* file descriptor that the serial port's output is written to */
	int console_in;	     /* file descriptor that the serial port's input is read from; -1: there is no input */

	/* `disk_count` disks, at most VMM_MAX_DISKS, in the order in which the guest finds them. */
	const struct vmm_disk *disks;
	size_t disk_count;
	/* Copies of the machine may be made (vmm/snapshot), which have copies of its disks. */
	bool copies;
	/* The network interface. NULL: the machine has none. */
	const struct vmm_net *net;
	/* The machine has an entropy device. */
	bool rng;
	/* The guest's context id on its vsock device, at least 3. 0: the machine has no such device. */
	uint32_t vsock_cid;
	/*
	 * Path of the Unix socket by which programs of the host reach the vsock device. NULL: the path of vsock_default_path().
	 * It is not looked at where vsock_cid is 0.
	 */
	const char *vsock_socket;
	/* Must last as long as the machine. */
	struct vmm_notes notes;
};

/* Why the machine ended. */
enum vm_end {
	/* The guest entered the ACPI sleep state S5. */
	VM_END_POWEROFF,
	/* The guest wrote the ACPI reset register or pulsed the i8042's reset line. A panic with "panic=N" ends so, too. */
	VM_END_REBOOT,
	/* A vCPU had a triple fault (KVM_EXIT_SHUTDOWN). */
	VM_END_TRIPLE_FAULT,
	/* KVM_EXIT_INTERNAL_ERROR, KVM_EXIT_FAIL_ENTRY, or a KVM exit that the VMM does not know. */
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
	struct kvm_run *run; /* what KVM says of the last exit; mapped and unmapped by the machine */
	pthread_t thread;
	/* The id of this vCPU's thread while the thread runs, else 0. */
	_Atomic int tid;
	/* The vCPU is inside KVM_RUN or about to enter it: it takes notice of a change only after a vcpu_kick(). */
	atomic_bool in_guest;
	/* The number of times that KVM_RUN returned. */
	_Atomic uint64_t exits;
	/* The number of those returns that were KVM_EXIT_DEBUG. */
	_Atomic uint64_t debug_exits;
	/* The number of signals that vcpu_kick() sent to this vCPU. */
	_Atomic uint64_t kicks;
	/* In a copy: `kick_timer` sends them. */
	atomic_bool has_kick_timer;
	timer_t kick_timer;
};

/*
 * What the caller of vm_run() does around KVM_RUN. Each hook may be NULL. A hook returns 0 to go on, or -1 with `err` set to
 * end the machine; vm_run() then fails with that error.
 */
struct vm_hooks {
	/*
	 * Called before each KVM_RUN, after vcpu->in_guest was set. Whoever publishes a change and then kicks the vCPU can rely
	 * on it that the change is either seen by this call or followed by a KVM_RUN that returns at once.
	 */
	int (*before_entry)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* Called when KVM_RUN returned KVM_EXIT_DEBUG. Without this hook that KVM exit ends the machine as VM_END_INTERNAL. */
	int (*on_debug)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* Called when KVM_RUN returned -EINTR because of a kick. */
	int (*on_kick)(void *ctx, struct vcpu *vcpu, struct err *err);
	/* The first argument of each hook. */
	void *ctx;
};

/*
 * Say whether the files of `config` can be what they are given as, without /dev/kvm: the kernel is a bzImage or an ELF vmlinux,
 * the initrd a file, and the image of each disk one that nobody else uses. Returns 0, or -1 with EXIT_INPUT.
 */
int vmm_check_files(const struct vmm_config *config, struct err *err);

/*
 * Build the machine: open /dev/kvm, load kernel and initrd, write the tables that they read, and create the vCPUs. Nothing of
 * `config` has to outlive this call but `notes` and the console's file descriptors, which stay the caller's. Returns NULL with
 * `err` set when that fails; otherwise the caller frees the machine by vm_destroy().
 */
struct vm *vm_create(const struct vmm_config *config, struct err *err);

/*
 * Run the machine until it ends; to be called once. `hooks` may be NULL, and must otherwise outlive the call. Sets *end, and
 * returns 0, or -1 with `err` set when it ended because our side failed.
 */
int vm_run(struct vm *vm, const struct vm_hooks *hooks, enum vm_end *end, struct err *err);

/*
 * One line for the user on how the machine ended: the vCPU, its RIP and other registers, KVM's suberror and the like. The
 * machine owns it: it is valid until vm_destroy().
 */
const char *vm_end_detail(const struct vm *vm);

/* End the machine soon as VM_END_STOPPED, unless it has ended already. Async-signal-safe. */
void vm_stop(struct vm *vm);

/* Free the machine, which must not be running. NULL is allowed. */
void vm_destroy(struct vm *vm);

unsigned vm_cpu_count(const struct vm *vm);

/* The vCPU of that number, or NULL when there is none. It is the machine's. */
struct vcpu *vm_vcpu(struct vm *vm, unsigned index);

/*
 * Make the vCPU leave KVM_RUN soon, or not enter it. A signal interrupts KVM_RUN, and its handler sets kvm_run.immediate_exit,
 * so that a kick which comes just before KVM_RUN is not lost. Does nothing while the vCPU's thread does not run.
 * Async-signal-safe.
 */
void vcpu_kick(struct vcpu *vcpu);

/*
 * One KVM_RUN of the vCPU on the calling thread, with its exit handled: the devices answer, and hooks are called. So one thread
 * can drive the vCPUs of a machine in turn. Not while vm_run() runs. vcpu_kick() does not find the vCPU there; a signal
 * vcpu_kick_signal() to the calling thread ends the KVM_RUN soon, as a timer of SIGEV_THREAD_ID sends it. Returns 0, or -1 with
 * `err` set when our side failed.
 */
int vcpu_enter(struct vcpu *vcpu, struct err *err);

/* Whether the machine has ended, and then how. */
bool vm_ended(const struct vm *vm, enum vm_end *end);

/* The signal that vcpu_kick() sends. A timer that sends it to the vCPU's own thread (SIGEV_THREAD_ID) is a kick, too. */
int vcpu_kick_signal(void);

/*
 * THE accessor for guest RAM: it returns the host address of `len` bytes of RAM at the GPA `gpa`, or NULL when any of these
 * bytes is not RAM or the range wraps. Every address that the guest gives comes through here, in every layer. The guest may
 * change the bytes at any time. The address is valid until vm_destroy().
 */
void *vm_ram(struct vm *vm, uint64_t gpa, size_t len);

/* How the machine's devices get into guest RAM (hv/vmm/dma.h), for those who watch what they do there. It is the machine's. */
struct dma *vm_dma(struct vm *vm);

/*
 * Whether a device serves a request, or was notified and has not begun to. While the machine runs; any thread may call it.
 * Takes no lock.
 */
bool vm_devices_busy(const struct vm *vm);

#endif
