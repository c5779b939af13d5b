/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends the machine. Any thread can end it; only the first end has an effect, and its reason is kept. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/vmm/machine.h"

/* Returns true if this call ended the machine. Async-signal-safe, because vm_stop() must be. */
static bool claim_end(struct vm *vm, enum vm_end end)
{
	int running = 0;

	return atomic_compare_exchange_strong(&vm->ended, &running, 1 + (int)end);
}

void machine_wake(struct vm *vm)
{
	uint64_t one = 1;
	int saved = errno;

	for (unsigned i = 0; i < vm->cpus; i++)
		vcpu_kick(&vm->vcpu[i]);
	/* Ignore a failure: the eventfd's counter is full then, and the waiting thread is already awake. */
	if (write(vm->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
}

void machine_end(struct vm *vm, enum vm_end end, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&vm->end_lock);
	if (claim_end(vm, end)) {
		va_start(ap, fmt);
		vsnprintf(vm->detail, sizeof(vm->detail), fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&vm->end_lock);
	machine_wake(vm);
}

void machine_fail(struct vm *vm, const struct err *err)
{
	pthread_mutex_lock(&vm->end_lock);
	if (vm->failure.code == EXIT_OK)
		vm->failure = *err;
	claim_end(vm, VM_END_STOPPED);
	pthread_mutex_unlock(&vm->end_lock);
	machine_wake(vm);
}

bool vm_ended(const struct vm *vm, enum vm_end *end)
{
	int ended = atomic_load(&vm->ended);

	if (ended)
		*end = (enum vm_end)(ended - 1);
	return ended;
}

void vm_leave_within(struct vm *vm, uint64_t ns)
{
	uint64_t never = 0;

	atomic_compare_exchange_strong(&vm->leave_ns, &never, monotonic_ns() + ns);
}

const char *vm_left(const struct vm *vm)
{
	return vm->left[0] ? vm->left : NULL;
}

void vm_stop(struct vm *vm)
{
	claim_end(vm, VM_END_STOPPED);
	machine_wake(vm);
}
