/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kicks: signals that make a vCPU leave KVM_RUN. The signal interrupts a KVM_RUN in progress. A KVM_RUN that has not begun yet
 * returns at once because of immediate_exit, which the signal's handler sets on the vCPU's own thread
 * (Documentation/virt/kvm/api.rst, KVM_RUN). So no kick is lost.
 *
 * A copy of a machine may run in a process that a confined process has forked. The copy's threads inherit the seccomp filter,
 * which allows tgkill() only for the parent's process id. So timers kick a copy's vCPUs: the filter allows timer_settime(), and
 * a timer can only signal threads of its own process.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hv/base/signals.h"
#include "hv/vmm/machine.h"

static _Thread_local struct kvm_run *volatile own_run;

int vcpu_kick_signal(void)
{
	return signals_kick();
}

static void on_kick_signal(int sig)
{
	struct kvm_run *run = own_run;

	(void)sig;
	if (run)
		*(volatile uint8_t *)&run->immediate_exit = 1;
}

int kick_setup(struct err *err)
{
	/* Do not set SA_RESTART: a kick must also end a write to the console that waits for the console's reader. */
	struct sigaction sa = {.sa_handler = on_kick_signal};

	sigemptyset(&sa.sa_mask);
	if (sigaction(vcpu_kick_signal(), &sa, NULL) < 0)
		return err_set(err, EXIT_INTERNAL, "cannot handle the signal that interrupts vCPUs: %s", strerror(errno));
	return 0;
}

void kick_attach(struct vcpu *vcpu)
{
	own_run = vcpu ? vcpu->run : NULL;
}

int kick_make_timer(struct vcpu *vcpu, struct err *err)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = vcpu_kick_signal(),
		._sigev_un._tid = gettid(),
	};

	kick_free_timer(vcpu);
	if (timer_create(CLOCK_MONOTONIC, &event, &vcpu->kick_timer) < 0)
		return err_set(err, EXIT_INTERNAL, "vCPU %u: timer_create failed: %s", vcpu->index, strerror(errno));
	atomic_store(&vcpu->has_kick_timer, true);
	return 0;
}

void kick_free_timer(struct vcpu *vcpu)
{
	if (atomic_exchange(&vcpu->has_kick_timer, false))
		timer_delete(vcpu->kick_timer);
}

void vcpu_kick(struct vcpu *vcpu)
{
	static const struct itimerspec at_once = {.it_value.tv_nsec = 1};
	int tid = atomic_load(&vcpu->tid);
	int saved = errno;

	if (!tid)
		return;
	atomic_fetch_add_explicit(&vcpu->kicks, 1, memory_order_relaxed);
	/* Use tgkill(), which takes a thread id: unlike pthread_kill(), it is defined even if the thread has just ended. */
	if (atomic_load(&vcpu->has_kick_timer))
		timer_settime(vcpu->kick_timer, 0, &at_once, NULL);
	else
		syscall(SYS_tgkill, getpid(), tid, vcpu_kick_signal());
	errno = saved;
}
