/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's threads, from their start until they are joined. */
#include <signal.h>
#include <string.h>

#include "hv/base/signals.h"
#include "hv/vmm/machine.h"

/* A thread starts with every signal blocked but the kick and those of a crash, so that SIGINT and its like go to the thread of
 * vm_run()'s caller. */
static int start_thread(struct vm *vm, pthread_t *thread, void *(*body)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	signals_but_crashes(&all);
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

static void start_threads(struct vm *vm, pthread_t *input_tid, bool *input, unsigned *vcpus)
{
	struct err err = {0};

	/* The devices' threads come first: a vCPU may notify a device at once. */
	if (workers_start(&vm->workers, &err) < 0) {
		machine_fail(vm, &err);
		return;
	}
	if (start_thread(vm, input_tid, input_thread, vm) < 0)
		return;
	*input = true;
	while (*vcpus < vm->cpus && start_thread(vm, &vm->vcpu[*vcpus].thread, vcpu_thread, &vm->vcpu[*vcpus]) == 0)
		++*vcpus;
}

int vm_run(struct vm *vm, const struct vm_hooks *hooks, enum vm_end *end, struct err *err)
{
	bool input = false;
	unsigned started = 0;
	pthread_t input_tid;

	vm->hooks = hooks ? hooks : &machine_no_hooks;
	start_threads(vm, &input_tid, &input, &started);
	for (unsigned i = 0; i < started; i++)
		pthread_join(vm->vcpu[i].thread, NULL);
	workers_join(&vm->workers);
	machine_wake(vm);
	if (input)
		pthread_join(input_tid, NULL);
	*end = (enum vm_end)(atomic_load(&vm->ended) - 1);
	if (vm->failure.code != EXIT_OK)
		return err_set(err, vm->failure.code, "%s", vm->failure.text);
	return 0;
}
