// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs every stressor on every CPU for a while, and says how many rounds each made. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "busy.h"

#define MAX_CPUS 64
#define SKIPPED 77

static const struct stressor *const stressors[] = {
	&stressor_exec,	 &stressor_signals, &stressor_futex,  &stressor_sched, &stressor_timers,
	&stressor_files, &stressor_pipes,   &stressor_procfs, &stressor_mount, &stressor_unix,
	&stressor_tcp,	 &stressor_udp,	    &stressor_memory, &stressor_cow,   &stressor_modules,
};
#define STRESSORS (sizeof(stressors) / sizeof(*stressors))

struct busy {
	atomic_ulong rounds[STRESSORS];
	atomic_bool over;
	unsigned int cpus;
	int pid[STRESSORS * MAX_CPUS]; /* process ID of each stressor on each CPU; 0: not started; -1: fork() failed */
};

static int run_stressor(struct busy *b, size_t which, unsigned int cpu)
{
	const struct stressor *s = stressors[which];
	struct busy_worker w = {.cpu = cpu, .seed = (unsigned int)which * MAX_CPUS + cpu};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	snprintf(w.dir, sizeof(w.dir), "/tmp/busy-%s-%u", s->name, cpu);
	if (mkdir(w.dir, 0755) && errno != EEXIST)
		return say_failed("busy: %s: %s", s->name, w.dir);
	/* Even if the time is over already, do one round: finish_stressor() reports a stressor without rounds as failed. */
	do {
		enum busy_result r = s->round(&w);

		if (r == BUSY_SKIP)
			return SKIPPED;
		if (r == BUSY_ERROR)
			return say_failed("busy: %s: cpu %u", s->name, cpu);
		atomic_fetch_add(&b->rounds[which], 1);
		count_round();
	} while (!atomic_load(&b->over));
	rmdir(w.dir);
	return AGENT_OK;
}

static void start_all(struct busy *b)
{
	for (size_t i = 0; i < STRESSORS; i++) {
		for (unsigned int cpu = 0; cpu < (stressors[i]->once ? 1 : b->cpus); cpu++) {
			int pid = fork();

			if (!pid)
				_exit(run_stressor(b, i, cpu));
			b->pid[i * MAX_CPUS + cpu] = pid;
		}
	}
}

/*
 * Wait for the processes of one stressor, and write a line with the result. Returns true if no process failed, and at least one
 * process did a round or was skipped.
 */
static bool finish_stressor(struct busy *b, size_t which)
{
	unsigned long rounds;
	bool ok = true, skipped = false;

	for (unsigned int cpu = 0; cpu < b->cpus; cpu++) {
		int pid = b->pid[which * MAX_CPUS + cpu];
		int rc = pid ? (pid < 0 ? AGENT_FAIL : wait_status(pid)) : AGENT_OK;

		skipped |= rc == SKIPPED;
		ok &= rc == AGENT_OK || rc == SKIPPED;
	}
	rounds = atomic_load(&b->rounds[which]);
	say("busy: %s: %s rounds=%lu", stressors[which]->name, skipped ? "skipped" : ok && rounds ? "ok" : "failed", rounds);
	return ok && (skipped || rounds);
}

static int run_busy(const char *args)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct duration d;
	struct busy *b;
	bool ok;

	if (!parse_duration(args, &d))
		return AGENT_USAGE;
	b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED)
		return say_failed("busy: mmap");
	b->cpus = cpus < 1 ? 1 : cpus > MAX_CPUS ? MAX_CPUS : (unsigned int)cpus;
	signal(SIGPIPE, SIG_IGN);
	busy_loopback_up();
	start_all(b);
	ok = let_pass("busy", &d);
	atomic_store(&b->over, true);
	for (size_t i = 0; i < STRESSORS; i++)
		ok &= finish_stressor(b, i);
	return ok ? AGENT_OK : AGENT_FAIL;
}

const struct workload workload_busy = {
	"busy",
	"busy:SECONDS[:LIMIT]: stress of the whole kernel on every CPU; with LIMIT, the SECONDS begin when the "
	"console says \"enough busy\", after LIMIT seconds at the latest",
	run_busy};
