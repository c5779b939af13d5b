// SPDX-License-Identifier: GPL-2.0-or-later
/* Stressors of the workload "busy" that exercise processes: fork, exec, signals, futexes, scheduling, and timers. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "busy.h"

/* Execute the agent itself without arguments: it prints its usage to standard error and exits with AGENT_USAGE. */
static enum busy_result round_exec(struct busy_worker *w)
{
	int pid = fork();

	(void)w;
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, STDERR_FILENO);
		execl("/proc/self/exe", "agent", NULL);
		_exit(AGENT_FAIL);
	}
	return pid > 0 && wait_status(pid) == AGENT_USAGE ? BUSY_OK : BUSY_ERROR;
}

static void ignore(int sig)
{
	(void)sig;
}

static enum busy_result round_signals(struct busy_worker *w)
{
	struct sigaction action = {.sa_handler = ignore};
	sigset_t set, old;
	int pid;

	(void)w;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigaction(SIGUSR1, &action, NULL) || sigprocmask(SIG_BLOCK, &set, &old))
		return BUSY_ERROR;
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 20; i++)
			kill(getppid(), SIGUSR1);
		_exit(0);
	}
	if (pid < 0 || sigwaitinfo(&set, NULL) != SIGUSR1 || sigprocmask(SIG_SETMASK, &old, NULL))
		return BUSY_ERROR;
	return wait_status(pid) ? BUSY_ERROR : BUSY_OK;
}

static long futex(atomic_uint *word, int op, unsigned int value)
{
	struct timespec limit = {.tv_sec = 1};

	return syscall(SYS_futex, word, op, value, op == FUTEX_WAIT ? &limit : NULL, NULL, 0);
}

/*
 * Take turns with the other process until turn `limit`. `*word`, which both processes share, is the number of the current turn,
 * and the futex on which a process waits for its turn. `me` is 1 for the process with the odd turns, 0 for the even turns.
 */
static void take_turns(atomic_uint *word, unsigned int me, unsigned int limit)
{
	unsigned int turn;

	while ((turn = atomic_load(word)) < limit) {
		if (turn % 2 != me) {
			futex(word, FUTEX_WAIT, turn);
			continue;
		}
		atomic_fetch_add(word, 1);
		futex(word, FUTEX_WAKE, 1);
	}
}

static enum busy_result round_futex(struct busy_worker *w)
{
	atomic_uint *word = mmap(NULL, sizeof(*word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pid, rc;

	(void)w;
	if (word == MAP_FAILED)
		return BUSY_ERROR;
	pid = fork();
	if (!pid) {
		take_turns(word, 1, 50);
		_exit(0);
	}
	if (pid > 0)
		take_turns(word, 0, 50);
	rc = pid > 0 ? wait_status(pid) : AGENT_FAIL;
	munmap(word, sizeof(*word));
	return rc ? BUSY_ERROR : BUSY_OK;
}

const struct stressor stressor_exec = {"exec", false, round_exec};
const struct stressor stressor_signals = {"signals", false, round_signals};
const struct stressor stressor_futex = {"futex", false, round_futex};

static enum busy_result round_sched(struct busy_worker *w)
{
	static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE};
	const struct sched_param param = {0};
	cpu_set_t all, one;
	int policy = policies[busy_random(w) % (sizeof(policies) / sizeof(*policies))];

	if (sched_getaffinity(0, sizeof(all), &all))
		return BUSY_ERROR;
	CPU_ZERO(&one);
	CPU_SET(busy_random(w) % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || sched_setscheduler(0, policy, &param))
		return BUSY_ERROR;
	for (int i = 0; i < 4; i++)
		sched_yield();
	setpriority(PRIO_PROCESS, 0, (int)(busy_random(w) % 10));
	return sched_setscheduler(0, SCHED_OTHER, &param) || setpriority(PRIO_PROCESS, 0, 0) ? BUSY_ERROR : BUSY_OK;
}

static enum busy_result round_timers(struct busy_worker *w)
{
	struct itimerspec soon = {.it_value.tv_nsec = 200000 + (long)(busy_random(w) % 2000000)};
	struct itimerval alarm_soon = {.it_value.tv_usec = 500}, none = {0};
	struct timespec nap = {.tv_nsec = 100000};
	uint64_t ticks;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	bool ok;

	signal(SIGALRM, ignore);
	ok = fd >= 0 && !timerfd_settime(fd, 0, &soon, NULL) && !setitimer(ITIMER_REAL, &alarm_soon, NULL);
	nanosleep(&nap, NULL);
	while (ok && read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		ok = errno == EINTR;
	setitimer(ITIMER_REAL, &none, NULL);
	if (fd >= 0)
		close(fd);
	return ok ? BUSY_OK : BUSY_ERROR;
}

const struct stressor stressor_sched = {"sched", false, round_sched};
const struct stressor stressor_timers = {"timers", false, round_timers};
