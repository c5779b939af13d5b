// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/target/fake_kvm.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#define INJECT (KVM_GUESTDBG_INJECT_DB | KVM_GUESTDBG_INJECT_BP)
#define FD_BASE 100000 /* no file descriptor of the process */

/* An ioctl names its vCPU by a number only. */
static struct vm *the_vm;

/* ---- in place of the kernel ---- */

static int vcpu_ioctl(struct fake_vcpu *v, unsigned long request, void *arg)
{
	switch (request) {
	case KVM_SET_GUEST_DEBUG:
		if (((struct kvm_guest_debug *)arg)->control & INJECT && v->events.exception.injected) {
			errno = EBUSY;
			return -1;
		}
		v->debug = *(struct kvm_guest_debug *)arg;
		v->debug_sets++;
		return 0;
	case KVM_GET_DEBUGREGS:
		*(struct kvm_debugregs *)arg = v->debugregs;
		return 0;
	case KVM_SET_DEBUGREGS:
		v->debugregs = *(struct kvm_debugregs *)arg;
		return 0;
	case KVM_GET_VCPU_EVENTS:
		*(struct kvm_vcpu_events *)arg = v->events;
		return 0;
	case KVM_SET_VCPU_EVENTS:
		v->events = *(struct kvm_vcpu_events *)arg;
		return 0;
	case KVM_SET_MP_STATE:
		v->mp_state = ((struct kvm_mp_state *)arg)->mp_state;
		return 0;
	case KVM_GET_REGS:
		*(struct kvm_regs *)arg = v->regs;
		return 0;
	case KVM_GET_SREGS:
		*(struct kvm_sregs *)arg = v->sregs;
		return 0;
	case KVM_KVMCLOCK_CTRL:
		v->clock_controls++;
		return 0;
	default:
		errno = ENOTTY; /* no statistics, for one */
		return -1;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!the_vm || fd < FD_BASE || fd >= FD_BASE + (int)the_vm->cpus) {
		errno = EBADF;
		return -1;
	}
	if (request == KVM_CHECK_EXTENSION)
		return the_vm->check_extension;
	return vcpu_ioctl(&the_vm->cpu[fd - FD_BASE], request, arg);
}

/* ---- in place of hv/vmm ---- */

unsigned vm_cpu_count(const struct vm *vm)
{
	return vm->cpus;
}

struct vcpu *vm_vcpu(struct vm *vm, unsigned index)
{
	return &vm->cpu[index].vcpu;
}

void *vm_ram(struct vm *vm, uint64_t gpa, size_t len)
{
	return gpa > FAKE_RAM || len > FAKE_RAM - gpa ? NULL : vm->memory->ram + gpa;
}

bool vm_devices_busy(const struct vm *vm)
{
	return vm->notified || dma_busy(&vm->dma);
}

struct dma *vm_dma(struct vm *vm)
{
	return &vm->dma;
}

void vm_stop(struct vm *vm)
{
	vm->stops++;
}

void vcpu_kick(struct vcpu *vcpu)
{
	atomic_fetch_add(&vcpu->kicks, 1);
	atomic_store(&the_vm->cpu[vcpu->index].kicked, true);
}

int vcpu_kick_signal(void)
{
	return SIGRTMIN + 1;
}

/* ---- the client ---- */

static struct target_action on_breakpoint(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct vm *vm = ctx;

	vm->breakpoints++;
	vm->last_cpu = cpu;
	vm->last_regs = *regs;
	for (unsigned i = 0; vm->answer.kind == TARGET_RESUME_REGS && i < X86_GPRS; i++)
		regs->gpr[i] += 0x1000;
	return vm->answer;
}

static struct target_action on_watch(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n)
{
	struct vm *vm = ctx;

	vm->watches++;
	vm->last_cpu = cpu;
	vm->last_regs = *regs;
	vm->cookie_count = n;
	memcpy(vm->cookies, cookies, n * sizeof(*cookies));
	return vm->answer;
}

static struct target_action on_hold_end(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct vm *vm = ctx;

	vm->hold_ends++;
	vm->last_cpu = cpu;
	vm->last_regs = *regs;
	return vm->hold_answer;
}

/* ---- the machine ---- */

struct vm *fake_kvm_new(unsigned cpus, enum kvm_bp_method method)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	vm->memory = fake_target_new(cpus, 4);
	if (!vm->memory) {
		free(vm);
		return NULL;
	}
	vm->ram = (struct ram){.host = vm->memory->ram, .low = FAKE_RAM};
	dma_init(&vm->dma, &vm->ram);
	the_vm = vm;
	signal(vcpu_kick_signal(), SIG_IGN);
	vm->cr3 = fake_page(vm->memory);
	vm->cpus = cpus;
	for (unsigned i = 0; i < cpus; i++) {
		struct vcpu *vcpu = &vm->cpu[i].vcpu;

		*vcpu = (struct vcpu){.vm = vm, .index = i, .fd = FD_BASE + (int)i, .run = calloc(1, sizeof(struct kvm_run))};
		assert_non_null(vcpu->run);
		vcpu->run->s.regs.sregs.cr3 = vm->cr3;
		vcpu->run->s.regs.sregs.cs.selector = 0x10;
	}
	vm->client = (struct target_client){
		.on_breakpoint = on_breakpoint, .on_watch = on_watch, .on_hold_end = on_hold_end, .ctx = vm};
	vm->target = kvm_target_new(vm, method, NULL);
	assert_non_null(vm->target);
	vm->target->client = &vm->client;
	return vm;
}

void fake_kvm_free(struct vm *vm)
{
	if (!vm)
		return;
	kvm_target_free(vm->target);
	for (unsigned i = 0; i < vm->cpus; i++)
		free(vm->cpu[i].vcpu.run);
	dma_destroy(&vm->dma);
	fake_target_free(vm->memory);
	the_vm = NULL;
	free(vm);
}

/* ---- a vCPU with a thread of its own ---- */

/* KVM_RUN first takes the registers that were written to the kvm_run page, and completes an access to a device. */
static void begin_run(struct fake_vcpu *v)
{
	v->reads_port = false;
	v->vcpu.run->kvm_dirty_regs = 0;
}

/* KVM_RUN. Returns the exit's reason, or 0 for -EINTR. */
static uint32_t run_guest(struct fake_vcpu *v)
{
	begin_run(v);
	for (;;) {
		if (v->vcpu.run->immediate_exit || atomic_exchange(&v->kicked, false))
			return 0;
		sched_yield(); /* There may be more vCPUs than processors. */
		if (v->mp_state == KVM_MP_STATE_HALTED)
			continue;
		if (atomic_exchange(&v->traps, false))
			return KVM_EXIT_DEBUG;
		if (atomic_fetch_add(&v->instructions, 1) % 4 == 3) {
			v->reads_port = true;
			return KVM_EXIT_IO;
		}
	}
}

/* The steps and their order are those of hv/vmm/vcpu.c. */
static void *cpu_thread(void *arg)
{
	struct fake_vcpu *v = arg;
	const struct vm_callbacks *callbacks = kvm_target_callbacks(the_vm->target);
	bool fails = false;

	while (!atomic_load(&v->ends) && !fails) {
		uint32_t reason;

		atomic_store(&v->vcpu.in_guest, true);
		fails = callbacks->before_entry(callbacks->ctx, &v->vcpu, NULL);
		reason = run_guest(v);
		atomic_store(&v->vcpu.in_guest, false);
		if (reason == 0) {
			v->vcpu.run->immediate_exit = 0;
			fails |= callbacks->on_kick(callbacks->ctx, &v->vcpu, NULL);
		} else if (reason == KVM_EXIT_IO) {
			sched_yield(); /* The device takes its time. */
		} else if (reason == KVM_EXIT_DEBUG) {
			v->vcpu.run->debug.arch = (struct kvm_debug_exit_arch){.exception = 3};
			fails |= callbacks->on_debug(callbacks->ctx, &v->vcpu, NULL);
		}
	}
	atomic_store(&v->vcpu.in_guest, false);
	atomic_store(&v->vcpu.tid, 0);
	return fails ? v : NULL;
}

void fake_cpu_start(struct vm *vm, unsigned cpu)
{
	struct fake_vcpu *v = &vm->cpu[cpu];

	atomic_store(&v->ends, false);
	atomic_store(&v->vcpu.tid, 1 + (int)cpu);
	assert_int_equal(pthread_create(&v->thread, NULL, cpu_thread, v), 0);
}

void fake_cpu_end(struct vm *vm, unsigned cpu)
{
	struct fake_vcpu *v = &vm->cpu[cpu];
	void *failed;

	atomic_store(&v->ends, true);
	vcpu_kick(&v->vcpu);
	assert_int_equal(pthread_join(v->thread, &failed), 0);
	assert_null(failed);
}

/* ---- a vCPU played by the test ---- */

void fake_enter(struct vm *vm, unsigned cpu)
{
	const struct vm_callbacks *callbacks = kvm_target_callbacks(vm->target);
	struct vcpu *vcpu = &vm->cpu[cpu].vcpu;

	atomic_store(&vcpu->in_guest, true);
	assert_int_equal(callbacks->before_entry(callbacks->ctx, vcpu, NULL), 0);
	vcpu->run->kvm_dirty_regs = 0; /* KVM_RUN takes them */
}

void fake_kick_exit(struct vm *vm, unsigned cpu)
{
	const struct vm_callbacks *callbacks = kvm_target_callbacks(vm->target);
	struct vcpu *vcpu = &vm->cpu[cpu].vcpu;

	atomic_store(&vcpu->in_guest, false);
	assert_int_equal(callbacks->on_kick(callbacks->ctx, vcpu, NULL), 0);
}

void fake_debug_exit(struct vm *vm, unsigned cpu, unsigned exception, uint64_t dr6)
{
	const struct vm_callbacks *callbacks = kvm_target_callbacks(vm->target);
	struct vcpu *vcpu = &vm->cpu[cpu].vcpu;

	atomic_store(&vcpu->in_guest, false);
	vcpu->run->debug.arch = (struct kvm_debug_exit_arch){.exception = exception, .dr6 = dr6, .pc = fake_regs(vm, cpu)->rip};
	assert_int_equal(callbacks->on_debug(callbacks->ctx, vcpu, NULL), 0);
}

struct kvm_regs *fake_regs(struct vm *vm, unsigned cpu)
{
	return &vm->cpu[cpu].vcpu.run->s.regs.regs;
}
