// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/sandbox/filter.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/sandbox/calls.h"

/* System calls of x86-64 are numbered below that. */
#define NUMBERS 512
#define NAME_MAX_LEN 32

/* What the handler of SIGSYS needs. A handler has no argument, and the process one handler. */
static struct {
	void (*last)(void *ctx);
	void *ctx;
	char names[NUMBERS][NAME_MAX_LEN];
} broken;

static _Thread_local const char *thread_name = "of no kind";

static void say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

/* Only async-signal-safe functions are called, and only system calls that every thread may make. */
static void on_sigsys(int number, siginfo_t *info, void *context)
{
	int call = info->si_syscall;

	(void)number;
	(void)context;
	if (broken.last)
		broken.last(broken.ctx);
	say("\noutrider: the sandbox stopped the thread ");
	say(thread_name);
	say(", which must not make the system call ");
	say(call >= 0 && call < NUMBERS && broken.names[call][0] ? broken.names[call] : "without a name");
	say(": the guest has broken in, or the list lacks a call\n"
	    "outrider: please report this with the line above; --no-sandbox runs an own guest without the sandbox\n");
	_exit(EXIT_INTERNAL);
}

/* The names are looked up now, since a handler must not ask for memory. */
static void read_names(void)
{
	for (int i = 0; i < NUMBERS; i++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);

		if (name)
			snprintf(broken.names[i], sizeof(broken.names[i]), "%s", name);
		free(name);
	}
}

int filter_prepare(void (*last)(void *ctx), void *ctx, struct err *err)
{
	struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};

	broken.last = last;
	broken.ctx = ctx;
	read_names();
	if (sigaction(SIGSYS, &action, NULL) < 0)
		return err_set(err, EXIT_INTERNAL, "cannot handle SIGSYS: %s", strerror(errno));
	return 0;
}

/* A blocked SIGSYS ends the process without a word (signal(7), force_sig()). */
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
		/* A call that this libseccomp or machine does not know is nobody's. */
		if (rc < 0 && rc != -EDOM && rc != -EEXIST)
			return rc;
	}
	return 0;
}

/*
 * if_nametoindex(), which libslirp calls for a name server such as fe80::1%eth0, asks by a socket of the first family that it
 * gets. It begins with AF_UNIX, and goes on with AF_INET when that fails.
 */
static int add_interface_names(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp first[] = {
		{0, SCMP_CMP_MASKED_EQ, 0xffffffffu, AF_UNIX},
		{1, SCMP_CMP_MASKED_EQ, 0xffffffffu, SOCK_DGRAM | SOCK_CLOEXEC},
	};

	return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 2, first);
}

/* What every thread has besides: a signal to a thread of this process, and no clone3(), whose flags no filter can see. */
static int add_common(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp own = {0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0};
	int rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, &own);

	if (rc == 0)
		/* The C library then uses clone(). */
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return rc;
}

int filter_load(unsigned kinds, const char *name, struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
	int rc = -ENOMEM;

	thread_name = name;
	unblock_sigsys();
	if (filter)
		rc = add_common(filter);
	if (rc == 0)
		rc = add_calls(filter, kinds);
	if (rc == 0 && (kinds & CALLS_NET) && !(kinds & CALLS_UNIX_SOCKETS))
		rc = add_interface_names(filter);
	/* ioctl(KVM_RUN) is what a guest's speed hangs on. */
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
