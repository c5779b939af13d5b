// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the seccomp filter of a thread from the list of system calls (calls.h), and handles SIGSYS, the signal by which the
 * kernel stops a thread that makes a forbidden call.
 */
#include "hv/sandbox/filter.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "hv/base/signals.h"
#include "hv/sandbox/calls.h"

/* All system call numbers of x86-64 are below this. */
#define NUMBERS 512
#define NAME_MAX_LEN 32

/*
 * Data for the handler of SIGSYS. Static, because a signal handler gets no argument from its installer, and a process has only
 * one handler of SIGSYS.
 */
static struct {
	void (*last)(void *ctx);
	void *ctx;
	filter_stand_in *stand_in;
	char names[NUMBERS][NAME_MAX_LEN];
} broken;

static _Thread_local const char *thread_name = "of no kind";
/*
 * The socket to the opener, the helper process that makes forbidden calls for this thread (opener.h). -1: this thread has no
 * opener.
 */
static _Thread_local int opener_of_thread = -1;

static void say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

/*
 * Have the opener make the call, and continue the thread as if it had made the call itself. Returns false if the opener does
 * not make calls of this number.
 */
static bool stood_in(int call, ucontext_t *context)
{
	greg_t *regs = context->uc_mcontext.gregs;
	const uint64_t args[6] = {(uint64_t)regs[REG_RDI], (uint64_t)regs[REG_RSI], (uint64_t)regs[REG_RDX],
				  (uint64_t)regs[REG_R10], (uint64_t)regs[REG_R8],  (uint64_t)regs[REG_R9]};
	int saved = errno;
	long result = 0;
	bool done = broken.stand_in(opener_of_thread, call, args, &result);

	if (done)
		regs[REG_RAX] = result;
	errno = saved;
	return done;
}

/*
 * Handles a forbidden system call. Calls only async-signal-safe functions, and makes only system calls that every thread may
 * make.
 */
static void on_sigsys(int number, siginfo_t *info, void *context)
{
	int call = info->si_syscall;

	(void)number;
	if (opener_of_thread >= 0 && stood_in(call, context))
		return;
	if (broken.last)
		broken.last(broken.ctx);
	say("\noutrider: the sandbox stopped the thread ");
	say(thread_name);
	say(", which must not make the system call ");
	say(call >= 0 && call < NUMBERS && broken.names[call][0] ? broken.names[call] : "without a name");
	say(": the guest has taken the thread over, or outrider's list of system calls lacks one\n"
	    "outrider: please report this with the line above; --no-sandbox runs a guest that you trust without the sandbox\n");
	_exit(EXIT_INTERNAL);
}

/* Look up the names in advance, because a signal handler must not allocate memory. */
static void read_names(void)
{
	for (int i = 0; i < NUMBERS; i++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);

		if (name)
			snprintf(broken.names[i], sizeof(broken.names[i]), "%s", name);
		free(name);
	}
}

int filter_prepare(void (*last)(void *ctx), void *ctx, filter_stand_in *stand_in, struct err *err)
{
	struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};

	broken.last = last;
	broken.ctx = ctx;
	broken.stand_in = stand_in;
	read_names();
	if (sigaction(SIGSYS, &action, NULL) < 0)
		return err_set(err, EXIT_INTERNAL, "cannot handle SIGSYS: %s", strerror(errno));
	return 0;
}

/*
 * Unblock SIGSYS. If a thread blocks SIGSYS, the kernel kills the process without calling the handler (force_sig()), so no
 * message names the forbidden call.
 */
static void unblock_sigsys(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int add_calls(scmp_filter_ctx filter, unsigned kinds)
{
	for (size_t i = 0; i < calls_count; i++) {
		const struct call *c = &calls_list[i];
		int rc;

		if (!(c->kinds & kinds))
			continue;
		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, c->number, c->arg_count, c->args);
		/* A call that this libseccomp or this architecture does not have stays forbidden. */
		if (rc < 0 && rc != -EDOM && rc != -EEXIST)
			return rc;
	}
	return 0;
}

/*
 * if_nametoindex(), which libslirp calls for a name server such as fe80::1%eth0, needs a socket of any family. It tries AF_UNIX
 * first, and then AF_INET. So make AF_UNIX fail with an errno instead of ending the process.
 */
static int add_interface_names(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp first[] = {
		{0, SCMP_CMP_MASKED_EQ, 0xffffffffu, AF_UNIX},
		{1, SCMP_CMP_MASKED_EQ, 0xffffffffu, SOCK_DGRAM | SOCK_CLOEXEC},
	};

	return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 2, first);
}

/*
 * Allow a thread to send signals to threads of its own process: the filter compares with the process id. A copy of the machine
 * is forked from a thread and inherits that thread's filter, which has the id of the parent process. So the copy could send
 * signals to its parent. Therefore a thread that copies the machine may send only the kick signal, which does no harm to the
 * parent.
 */
static int add_signals(scmp_filter_ctx filter, unsigned kinds)
{
	const struct scmp_arg_cmp own[] = {
		{0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0},
		{2, SCMP_CMP_MASKED_EQ, 0xffffffffu, (scmp_datum_t)signals_kick()},
	};
	const struct scmp_arg_cmp kick = {0, SCMP_CMP_MASKED_EQ, 0xffffffffu, (scmp_datum_t)signals_kick()};
	bool copies = kinds & CALLS_COPY, is_main = kinds & CALLS_MAIN;
	int rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), copies && !is_main ? 2 : 1, own);

	/* The process of a copy creates a VM of its own, so allow it to install the handler of the kick signal. */
	if (rc == 0 && copies)
		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), 1, &kick);
	return rc;
}

/* Add the rules for every thread: signals, and no clone3(), because a filter cannot read its flags, which are in memory. */
static int add_common(scmp_filter_ctx filter, unsigned kinds)
{
	int rc = add_signals(filter, kinds);

	if (rc == 0)
		/* After ENOSYS the C library uses clone(). */
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return rc;
}

/* Allow sendmsg() and recvmsg() only on the opener's socket. */
static int add_opener(scmp_filter_ctx filter, int opener)
{
	const struct scmp_arg_cmp its = {0, SCMP_CMP_MASKED_EQ, 0xffffffffu, (scmp_datum_t)opener};
	int rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1, &its);

	return rc < 0 ? rc : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 1, &its);
}

int filter_load(unsigned kinds, const char *name, int opener, struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
	int rc = -ENOMEM;

	thread_name = name;
	opener_of_thread = kinds & CALLS_STOOD_IN && !(kinds & CALLS_FETCH) ? opener : -1;
	unblock_sigsys();
	if (filter)
		rc = add_common(filter, kinds);
	if (rc == 0)
		rc = add_calls(filter, kinds);
	if (rc == 0 && kinds & CALLS_NETWORK)
		rc = add_interface_names(filter);
	if (rc == 0 && opener >= 0 && kinds & CALLS_ASKING)
		rc = add_opener(filter, opener);
	/* Have the filter test for ioctl() first, because a guest's speed depends on ioctl(KVM_RUN). */
	if (rc == 0)
		rc = seccomp_syscall_priority(filter, SCMP_SYS(ioctl), UINT8_MAX);
	if (rc == 0)
		rc = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	if (rc < 0)
		return err_set(err, EXIT_INPUT, "seccomp does not work on this host: %s; --no-sandbox runs without it",
			       strerror(-rc));
	return 0;
}
