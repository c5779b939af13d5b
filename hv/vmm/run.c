/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's life: its threads from start to join, and the one end that counts. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/vmm/machine.h"

/* Async-signal-safe, as vm_stop() is. */
static bool claim_end(struct vm *vm, enum vm_end end)
{
	int running = 0;

	return atomic_compare_exchange_strong(&vm->ended, &running, 1 + (int)end);
}

static void wake_all(struct vm *vm)
{
	uint64_t one = 1;
	int saved = errno;

	for (unsigned i = 0; i < vm->cpus; i++)
		vcpu_kick(&vm->vcpu[i]);
	/* A full counter wakes as well. */
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
	wake_all(vm);
}

void machine_fail(struct vm *vm, const struct err *err)
{
	pthread_mutex_lock(&vm->end_lock);
	if (vm->failure.code == EXIT_OK)
		vm->failure = *err;
	claim_end(vm, VM_END_STOPPED);
	pthread_mutex_unlock(&vm->end_lock);
	wake_all(vm);
}

void vm_stop(struct vm *vm)
{
	claim_end(vm, VM_END_STOPPED);
	wake_all(vm);
}

/* Threads start with every signal but the kick blocked, so that the caller's thread gets SIGINT and its like. */
static int start(struct vm *vm, pthread_t *thread, void *(*body)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	sigdelset(&all, vcpu_kick_signal());
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, body, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		struct err err = {0};

		err_set(&err, EXIT_INTERNAL, "cannot start a thread: %s", strerror(rc));
		machine_fail(vm, &err);
	}
	return rc ? -1 : 0;
}

int vm_run(struct vm *vm, const struct vm_hooks *hooks, enum vm_end *end, struct err *err)
{
	static const struct vm_hooks none;
	bool input = false;
	unsigned started = 0;
	pthread_t input_tid;

	vm->hooks = hooks ? hooks : &none;
	if (start(vm, &input_tid, input_thread, vm) == 0) {
		input = true;
		while (started < vm->cpus && start(vm, &vm->vcpu[started].thread, vcpu_thread, &vm->vcpu[started]) == 0)
			started++;
	}
	for (unsigned i = 0; i < started; i++)
		pthread_join(vm->vcpu[i].thread, NULL);
	wake_all(vm);
	if (input)
		pthread_join(input_tid, NULL);
	*end = (enum vm_end)(atomic_load(&vm->ended) - 1);
	if (vm->failure.code != EXIT_OK)
		return err_set(err, vm->failure.code, "%s", vm->failure.text);
	return 0;
}
