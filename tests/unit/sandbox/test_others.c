// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a thread that a guest has taken over must not do to other processes of the user, or to the parts that end the run. Each
 * attack is real, and its victim is a process that the attack would kill.
 */
#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/sandbox/sandbox_child.h"

/* Linux's numbers. The C library defines them with _GNU_SOURCE only, or not at all. */
#ifndef F_OWNER_PID
#define F_OWNER_PID 1
#endif

struct victim {
	pid_t pid;
	int ends[2]; /* a pipe that the attacker also has */
};

static struct victim victim_new(void)
{
	struct victim v;

	assert_int_equal(pipe(v.ends), 0);
	v.pid = fork();
	assert_true(v.pid >= 0);
	if (v.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return v;
}

/* Whether the victim lives, with its old priority and limits. Ends the victim. */
static bool victim_is_well(struct victim *v)
{
	struct rlimit limit = {0};
	bool well = waitpid(v->pid, NULL, WNOHANG) == 0 &&
		    getpriority(PRIO_PROCESS, (id_t)v->pid) == getpriority(PRIO_PROCESS, 0) &&
		    prlimit(v->pid, RLIMIT_CPU, NULL, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;

	kill(v->pid, SIGKILL);
	waitpid(v->pid, NULL, 0);
	close(v->ends[0]);
	close(v->ends[1]);
	return well;
}

struct attack {
	deed *act;
	const char *call; /* the system call that the filter refuses */
};

/* Make each attack from each kind of thread, and check that the filter ends the attacker and that the victim lives on
 * unchanged. */
static void attack_from_all(const struct attack *attacks, size_t count)
{
	if (!can_confine())
		skip();
	for (unsigned kind = 0; kind <= NETWORK_PROCESS; kind++) {
		for (size_t i = 0; i < count; i++) {
			struct victim v = victim_new();

			assert_stopped((enum sandbox_kind)kind, attacks[i].act, &v, attacks[i].call);
			assert_true(victim_is_well(&v));
		}
	}
}

/* ---- signals by descriptors ---- */

/* The sandbox must stop the first of the three calls. If it allows all of them, the byte sends SIGKILL to the victim. */
static int kill_by_pipe(void *arg)
{
	const struct victim *v = arg;

	fcntl(v->ends[0], F_SETOWN, v->pid);
	fcntl(v->ends[0], F_SETSIG, SIGKILL);
	fcntl(v->ends[0], F_SETFL, O_ASYNC);
	return write(v->ends[1], "", 1) == 1 ? 0 : 1;
}

static int own_by_struct(void *arg)
{
	const struct victim *v = arg;
	const struct f_owner_ex owner = {F_OWNER_PID, v->pid};

	return fcntl(v->ends[0], F_SETOWN_EX, &owner);
}

static int choose_signal(void *arg)
{
	return fcntl(((const struct victim *)arg)->ends[0], F_SETSIG, SIGKILL);
}

/* A terminal has an owner by default: its foreground job. */
static int ask_for_signals(void *arg)
{
	return fcntl(((const struct victim *)arg)->ends[0], F_SETFL, O_ASYNC);
}

static int ask_for_signals_with_more(void *arg)
{
	return (int)syscall(SYS_fcntl, ((const struct victim *)arg)->ends[0], F_SETFL, O_NONBLOCK | O_ASYNC | 1ull << 40);
}

static int ask_by_ioctl(void *arg)
{
	return ioctl(((const struct victim *)arg)->ends[0], FIOASYNC, &(int){1});
}

static int own_by_ioctl(void *arg)
{
	const struct victim *v = arg;

	return ioctl(v->ends[0], FIOSETOWN, &v->pid);
}

static int own_socket_by_ioctl(void *arg)
{
	const struct victim *v = arg;

	return ioctl(v->ends[0], SIOCSPGRP, &v->pid);
}

static int watch_folder(void *arg)
{
	return fcntl(((const struct victim *)arg)->ends[0], F_NOTIFY, 0);
}

static int lease_file(void *arg)
{
	return fcntl(((const struct victim *)arg)->ends[0], F_SETLEASE, F_RDLCK);
}

static void descriptors_signal_nobody(void **state)
{
	static const struct attack attacks[] = {
		{kill_by_pipe, "fcntl"},
		{own_by_struct, "fcntl"},
		{choose_signal, "fcntl"},
		{ask_for_signals, "fcntl"},
		{ask_for_signals_with_more, "fcntl"},
		{ask_by_ioctl, "ioctl"},
		{own_by_ioctl, "ioctl"},
		{own_socket_by_ioctl, "ioctl"},
		{watch_folder, "fcntl"},
		{lease_file, "fcntl"},
	};

	(void)state;
	attack_from_all(attacks, sizeof(attacks) / sizeof(attacks[0]));
}

/* The calls on descriptors that the C library and the network code need still work. */
static int use_descriptors(void *arg)
{
	const struct victim *v = arg;

	if (fcntl(v->ends[0], F_GETFD) < 0 || fcntl(v->ends[0], F_GETFL) < 0)
		return 1;
	return 0;
}

static int use_as_network(void *arg)
{
	const struct victim *v = arg;
	int again = fcntl(v->ends[0], F_DUPFD_CLOEXEC, 0);

	if (again < 0 || fcntl(again, F_SETFL, O_NONBLOCK) < 0 || fcntl(again, F_SETFD, FD_CLOEXEC) < 0)
		return 1;
	return use_descriptors(arg);
}

static void descriptors_are_used(void **state)
{
	static const struct sandbox_config config = {.used = ALL_KINDS};
	struct victim v = {.pid = -1};
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	assert_int_equal(pipe(v.ends), 0);
	for (unsigned kind = 0; kind <= NETWORK_PROCESS; kind++)
		assert_int_equal(in_child(&config, (enum sandbox_kind)kind, use_descriptors, &v, said, sizeof(said)), 0);
	assert_int_equal(in_child(&config, NETWORK_PROCESS, use_as_network, &v, said, sizeof(said)), 0);
	close(v.ends[0]);
	close(v.ends[1]);
}

/* ---- priorities, limits and signals by number ---- */

static int slow_process(void *arg)
{
	return setpriority(PRIO_PROCESS, (id_t)((const struct victim *)arg)->pid, 19);
}

static int slow_user(void *arg)
{
	(void)arg;
	return setpriority(PRIO_USER, 0, 19);
}

static int slow_group(void *arg)
{
	(void)arg;
	return setpriority(PRIO_PGRP, 0, 19);
}

static int limit_process(void *arg)
{
	const struct rlimit none = {0, 0};

	return prlimit(((const struct victim *)arg)->pid, RLIMIT_CPU, &none, NULL);
}

static int schedule_process(void *arg)
{
	const int priority = 0;

	return (int)syscall(SYS_sched_setscheduler, ((const struct victim *)arg)->pid, 5 /* SCHED_IDLE */, &priority);
}

static int pin_process(void *arg)
{
	const unsigned long one = 1;

	return (int)syscall(SYS_sched_setaffinity, ((const struct victim *)arg)->pid, sizeof(one), &one);
}

static int signal_thread(void *arg)
{
	const struct victim *v = arg;

	return (int)syscall(SYS_tgkill, v->pid, v->pid, SIGKILL);
}

static int signal_any_thread(void *arg)
{
	return (int)syscall(SYS_tkill, ((const struct victim *)arg)->pid, SIGKILL);
}

static int queue_signal(void *arg)
{
	siginfo_t info = {.si_code = SI_QUEUE};

	return (int)syscall(SYS_rt_sigqueueinfo, ((const struct victim *)arg)->pid, SIGKILL, &info);
}

static int queue_thread_signal(void *arg)
{
	const struct victim *v = arg;
	siginfo_t info = {.si_code = SI_QUEUE};

	return (int)syscall(SYS_rt_tgsigqueueinfo, v->pid, v->pid, SIGKILL, &info);
}

static int signal_by_descriptor(void *arg)
{
	(void)arg;
	return (int)syscall(SYS_pidfd_send_signal, 0, SIGKILL, NULL, 0);
}

static int open_process(void *arg)
{
	return (int)syscall(SYS_pidfd_open, ((const struct victim *)arg)->pid, 0);
}

static int compare_process(void *arg)
{
	return (int)syscall(SYS_kcmp, ((const struct victim *)arg)->pid, getpid(), 0, 0, 0);
}

static int write_process(void *arg)
{
	return (int)syscall(SYS_process_vm_writev, ((const struct victim *)arg)->pid, NULL, 0, NULL, 0, 0);
}

static int move_pages(void *arg)
{
	return (int)syscall(SYS_move_pages, ((const struct victim *)arg)->pid, 0, NULL, NULL, NULL, 0);
}

static int advise_process(void *arg)
{
	(void)arg;
	return (int)syscall(SYS_process_madvise, 0, NULL, 0, 0, 0);
}

static int set_io_priority(void *arg)
{
	return (int)syscall(SYS_ioprio_set, 1, ((const struct victim *)arg)->pid, 0x6000);
}

static int signal_at_end(void *arg)
{
	(void)arg;
	return prctl(PR_SET_PDEATHSIG, 0);
}

static void numbers_reach_nobody(void **state)
{
	static const struct attack attacks[] = {
		{slow_process, "setpriority"},
		{slow_user, "setpriority"},
		{slow_group, "setpriority"},
		{limit_process, "prlimit64"},
		{schedule_process, "sched_setscheduler"},
		{pin_process, "sched_setaffinity"},
		{signal_thread, "tgkill"},
		{signal_any_thread, "tkill"},
		{queue_signal, "rt_sigqueueinfo"},
		{queue_thread_signal, "rt_tgsigqueueinfo"},
		{signal_by_descriptor, "pidfd_send_signal"},
		{open_process, "pidfd_open"},
		{compare_process, "kcmp"},
		{write_process, "process_vm_writev"},
		{move_pages, "move_pages"},
		{advise_process, "process_madvise"},
		{set_io_priority, "ioprio_set"},
		{signal_at_end, "prctl"},
	};

	(void)state;
	attack_from_all(attacks, sizeof(attacks) / sizeof(attacks[0]));
}

static int slow_self(void *arg)
{
	(void)arg;
	return setpriority(PRIO_PROCESS, 0, 19) == 0 && getpid() > 0 ? 0 : 1;
}

/* A run that fetches debug files may change the limits of its own process, and not those of another process. */
static void limits_are_own(void **state)
{
	static const struct sandbox_config fetching = {.used = ALL_KINDS, .fetch = true};
	char said[1024];
	struct victim v;
	int status;

	(void)state;
	if (!can_confine())
		skip();
	assert_int_equal(in_child(&fetching, SANDBOX_COPY, slow_self, NULL, said, sizeof(said)), 0);
	v = victim_new();
	status = in_child(&fetching, SANDBOX_MAIN, limit_process, &v, said, sizeof(said));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERNAL);
	assert_non_null(strstr(said, "prlimit64"));
	assert_true(victim_is_well(&v));
}

/* ---- a copy and its run ---- */

/* Runs in the process of a copy. Its parent is the run. */
static int kill_run(void *arg)
{
	pid_t run = getpid(), child = fork();
	int status = -1;

	(void)arg;
	if (child == 0) {
		syscall(SYS_tgkill, run, run, SIGKILL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* A copy may send kicks to the vCPUs of its run, as the thread that made it does, but it may not end the run. */
static void copies_do_not_end_runs(void **state)
{
	(void)state;
	if (!can_confine())
		skip();
	assert_stopped(SANDBOX_COPY, kill_run, NULL, "tgkill");
}

/* ---- the handler by which a forbidden call ends the run ---- */

static int ignore_end(void *arg)
{
	(void)arg;
	signal(SIGSYS, SIG_IGN);
	syscall(SYS_execve, NULL, NULL, NULL);
	return 0;
}

static int handle_end_by_long(void *arg)
{
	(void)arg;
	/* The kernel uses the lower half of the signal's number only. */
	return (int)syscall(SYS_rt_sigaction, 1ull << 32 | SIGSYS, NULL, NULL, 8);
}

static int end_by_abort(void *arg)
{
	(void)arg;
	abort();
}

static void nobody_replaces_the_handler(void **state)
{
	static const struct sandbox_config config = {.used = ALL_KINDS};
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	for (unsigned kind = 0; kind <= NETWORK_PROCESS; kind++) {
		int status;

		assert_stopped((enum sandbox_kind)kind, ignore_end, NULL, "rt_sigaction");
		assert_stopped((enum sandbox_kind)kind, handle_end_by_long, NULL, "rt_sigaction");
		if (kind == SANDBOX_COPY)
			continue;
		status = in_child(&config, (enum sandbox_kind)kind, end_by_abort, NULL, said, sizeof(said));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_signal_nobody), cmocka_unit_test(descriptors_are_used),
		cmocka_unit_test(numbers_reach_nobody),	     cmocka_unit_test(limits_are_own),
		cmocka_unit_test(copies_do_not_end_runs),    cmocka_unit_test(nobody_replaces_the_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
