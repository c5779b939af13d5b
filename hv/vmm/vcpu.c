/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the thread of a vCPU, which enters the guest by KVM_RUN and handles each KVM exit, until the machine ends. */
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/host.h"
#include "hv/vmm/machine.h"

const struct vm_callbacks machine_no_callbacks;

int machine_create_vcpu(struct vm *vm, unsigned index, struct err *err)
{
	struct vcpu *vcpu = &vm->vcpu[index];

	vcpu->fd = host_create_vcpu(vm->kvm_fd, vm->fd, index, &vcpu->run, &vm->run_size, err);
	return vcpu->fd < 0 ? -1 : 0;
}

int machine_create_vcpus(struct vm *vm, const struct boot_entry *entry, struct err *err)
{
	for (unsigned i = 0; i < vm->cpus; i++)
		if (machine_create_vcpu(vm, i, err) < 0 || vcpu_reset(vm, i, entry, err) < 0)
			return -1;
	return 0;
}

void machine_destroy_vcpus(struct vm *vm)
{
	for (unsigned i = 0; i < vm->cpus; i++) {
		kick_free_timer(&vm->vcpu[i]);
		if (vm->vcpu[i].run)
			munmap(vm->vcpu[i].run, vm->run_size);
		if (vm->vcpu[i].fd >= 0)
			close(vm->vcpu[i].fd);
	}
}

/* Increment a counter of the vCPU. Only the vCPU's own thread writes it, so no LOCKed instruction is needed. */
static void count_up(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static int end_with_state(struct vcpu *vcpu, enum vm_end end, const char *why)
{
	char state[384];

	vcpu_describe(vcpu, state, sizeof(state));
	machine_end(vcpu->vm, end, "vCPU %u: %s: %s", vcpu->index, why, state);
	return 0;
}

static int on_io(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	uint8_t *data = (uint8_t *)run + run->io.data_offset;

	for (uint32_t i = 0; i < run->io.count; i++)
		bus_access(&vcpu->vm->bus, BUS_PORT, run->io.port, run->io.direction == KVM_EXIT_IO_OUT, run->io.size,
			   data + (size_t)i * run->io.size);
	return 0;
}

static int on_mmio(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;

	bus_access(&vcpu->vm->bus, BUS_MMIO, run->mmio.phys_addr, run->mmio.is_write, run->mmio.len, run->mmio.data);
	return 0;
}

static int on_debug(struct vcpu *vcpu, struct err *err)
{
	const struct vm_callbacks *callbacks = vcpu->vm->callbacks;

	count_up(&vcpu->debug_exits);
	if (!callbacks->on_debug)
		return end_with_state(vcpu, VM_END_INTERNAL, "unexpected debug exit");
	return callbacks->on_debug(callbacks->ctx, vcpu, err);
}

static int on_kick(struct vcpu *vcpu, struct err *err)
{
	const struct vm_callbacks *callbacks = vcpu->vm->callbacks;

	/*
	 * No kick is lost by this store. A kick that comes after the store makes the next KVM_RUN return at once. A kick that
	 * came before the store needs no such return: a thread publishes a change before it kicks the vCPU, so the next
	 * before_entry() sees the change.
	 */
	*(volatile uint8_t *)&vcpu->run->immediate_exit = 0;
	return callbacks->on_kick ? callbacks->on_kick(callbacks->ctx, vcpu, err) : 0;
}

static int on_system_event(struct vcpu *vcpu)
{
	switch (vcpu->run->system_event.type) {
	case KVM_SYSTEM_EVENT_SHUTDOWN:
		machine_end(vcpu->vm, VM_END_POWEROFF, "system event");
		return 0;
	case KVM_SYSTEM_EVENT_RESET:
		machine_end(vcpu->vm, VM_END_REBOOT, "system event");
		return 0;
	case KVM_SYSTEM_EVENT_CRASH:
		machine_end(vcpu->vm, VM_END_PANIC, "the guest reported a crash");
		return 0;
	default:
		return end_with_state(vcpu, VM_END_INTERNAL, "unknown system event");
	}
}

static int on_exit_reason(struct vcpu *vcpu, struct err *err)
{
	switch (vcpu->run->exit_reason) {
	case KVM_EXIT_IO:
		return on_io(vcpu);
	case KVM_EXIT_DEBUG:
		return on_debug(vcpu, err);
	case KVM_EXIT_MMIO:
		return on_mmio(vcpu);
	case KVM_EXIT_INTR:
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		return 0;
	case KVM_EXIT_SHUTDOWN:
		return end_with_state(vcpu, VM_END_TRIPLE_FAULT, "triple fault");
	case KVM_EXIT_SYSTEM_EVENT:
		return on_system_event(vcpu);
	case KVM_EXIT_INTERNAL_ERROR:
		return end_with_state(vcpu, VM_END_INTERNAL, "KVM internal error");
	case KVM_EXIT_FAIL_ENTRY:
		return end_with_state(vcpu, VM_END_INTERNAL, "KVM failed to enter the guest");
	default:
		return end_with_state(vcpu, VM_END_INTERNAL, "unknown KVM exit");
	}
}

static int run_failed(struct vcpu *vcpu, int error, struct err *err)
{
	switch (error) {
	case EINTR:
		return on_kick(vcpu, err);
	case EAGAIN: /* a vCPU that waited for INIT or SIPI was woken */
		return 0;
	default:
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM_RUN failed: %s", vcpu->index, strerror(error));
	}
}

static int run_once(struct vcpu *vcpu, struct err *err)
{
	const struct vm_callbacks *callbacks = vcpu->vm->callbacks;
	int rc, error;

	atomic_store(&vcpu->in_guest, true);
	/*
	 * A thread that sets `ended` kicks afterwards. in_guest is already set here, so either this load sees `ended`, or the
	 * kick makes KVM_RUN return at once.
	 */
	if (atomic_load(&vcpu->vm->ended))
		return 0;
	if (callbacks->before_entry && callbacks->before_entry(callbacks->ctx, vcpu, err) < 0)
		return -1;
	rc = ioctl(vcpu->fd, KVM_RUN, 0);
	error = errno;
	atomic_store(&vcpu->in_guest, false);
	count_up(&vcpu->exits);
	return rc < 0 ? run_failed(vcpu, error, err) : on_exit_reason(vcpu, err);
}

void *vcpu_thread(void *arg)
{
	struct vcpu *vcpu = arg;
	struct err err = {0};

	sandbox_thread(SANDBOX_VCPU);
	kick_attach(vcpu);
	if (vcpu->vm->kicks_by_timers && kick_make_timer(vcpu, &err) < 0)
		machine_fail(vcpu->vm, &err);
	atomic_store(&vcpu->tid, (int)syscall(SYS_gettid));
	while (!atomic_load_explicit(&vcpu->vm->ended, memory_order_relaxed)) {
		if (run_once(vcpu, &err) < 0)
			machine_fail(vcpu->vm, &err);
	}
	atomic_store(&vcpu->in_guest, false);
	atomic_store(&vcpu->tid, 0);
	kick_attach(NULL);
	return NULL;
}

int vcpu_enter(struct vcpu *vcpu, struct err *err)
{
	int rc;

	kick_attach(vcpu);
	rc = run_once(vcpu, err);
	atomic_store(&vcpu->in_guest, false);
	kick_attach(NULL);
	return rc;
}
