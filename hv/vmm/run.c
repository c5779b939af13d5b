/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts the machine's threads, waits for the machine's end, and joins the threads. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/base/signals.h"
#include "hv/vmm/machine.h"

#define NS_PER_S UINT64_C(1000000000)
/*
 * A thread that has not ended 100 ms after it was woken is woken again, because it may have missed its kick: a thread that got
 * its kick ends far sooner.
 */
#define WAKE_NS UINT64_C(100000000)

/* Start a thread with all signals blocked except the kick signal and crash signals, so that SIGINT, SIGTERM and the like are
 * delivered to other threads, such as the one that called vm_run(). */
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

	/* Start the workers first, because a vCPU may notify a device at once. */
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

/*
 * Wait until `ended` is set. A thread that ends the machine sets `ended` and then calls machine_wake(), which makes wake_fd
 * readable.
 */
static void wait_for_end(struct vm *vm)
{
	struct pollfd woken = {.fd = vm->wake_fd, .events = POLLIN};

	while (!atomic_load(&vm->ended))
		poll(&woken, 1, -1);
}

static bool may_leave(const struct vm *vm)
{
	uint64_t leave_ns = atomic_load(&vm->leave_ns);

	return leave_ns && monotonic_ns() >= leave_ns;
}

static void leave(struct vm *vm, const char *name)
{
	if (!vm->left[0])
		snprintf(vm->left, sizeof(vm->left), "%s", name);
}

/*
 * Join a thread, but wake all threads every WAKE_NS meanwhile: a kick that arrives just before a blocking system call does not
 * interrupt the call.
 */
static void join_thread(struct vm *vm, pthread_t thread, const char *name)
{
	for (;;) {
		uint64_t until_ns = monotonic_ns() + WAKE_NS;
		const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};

		if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0)
			return;
		if (may_leave(vm)) {
			leave(vm, name);
			return;
		}
		machine_wake(vm);
	}
}

static void join_vcpus(struct vm *vm, unsigned started)
{
	for (unsigned i = 0; i < started; i++) {
		char name[16];

		snprintf(name, sizeof(name), "vCPU %u", i);
		join_thread(vm, vm->vcpu[i].thread, name);
	}
}

static void join_workers(struct vm *vm)
{
	const char *left;

	workers_end(&vm->workers);
	while ((left = workers_joined(&vm->workers, monotonic_ns() + WAKE_NS)) && !may_leave(vm))
		;
	if (left)
		leave(vm, left);
}

int vm_run(struct vm *vm, const struct vm_callbacks *callbacks, enum vm_end *end, struct err *err)
{
	bool input = false;
	unsigned started = 0;
	pthread_t input_tid;

	vm->callbacks = callbacks ? callbacks : &machine_no_callbacks;
	start_threads(vm, &input_tid, &input, &started);
	wait_for_end(vm);
	join_vcpus(vm, started);
	join_workers(vm);
	if (input)
		join_thread(vm, input_tid, "console input");
	*end = (enum vm_end)(atomic_load(&vm->ended) - 1);
	if (vm->failure.code != EXIT_OK)
		return err_set(err, vm->failure.code, "%s", vm->failure.text);
	return 0;
}
