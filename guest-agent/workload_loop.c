// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures how fast user code runs: one loop on each CPU, without system calls. */
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent.h"

#define CHUNK 100000u
#define MAX_CPUS 64

/* xorshift: a chain of dependent instructions that no compiler shortens. */
static uint64_t spin(uint64_t x)
{
	for (unsigned int i = 0; i < CHUNK; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void loop_on(int cpu, double seconds, double *rate)
{
	cpu_set_t set;
	uint64_t x = 88172645463325252u + (uint64_t)cpu, rounds = 0;
	double start, end;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	start = now();
	do {
		x = spin(x);
		rounds++;
		count_round();
		end = now();
	} while (end - start < seconds);
	*rate = (double)rounds * CHUNK / (end - start);
}

static int run_loop(const char *args)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double seconds, total = 0, *rate;
	int pid[MAX_CPUS], rc = AGENT_OK;

	if (!parse_seconds(args, &seconds))
		return AGENT_USAGE;
	cpus = cpus < 1 ? 1 : cpus > MAX_CPUS ? MAX_CPUS : cpus;
	rate = mmap(NULL, sizeof(*rate) * MAX_CPUS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rate == MAP_FAILED)
		return say_failed("loop: mmap");
	for (int i = 0; i < cpus; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			loop_on(i, seconds, &rate[i]);
			_exit(AGENT_OK);
		}
	}
	for (int i = 0; i < cpus; i++)
		if (pid[i] < 0 || wait_status(pid[i]))
			rc = AGENT_FAIL;
	for (int i = 0; i < cpus; i++) {
		say("loop: cpu=%d iterations_per_second=%.0f", i, rate[i]);
		total += rate[i];
	}
	say("loop: cpus=%ld iterations_per_second=%.0f", cpus, total);
	return rc;
}

const struct workload workload_loop = {"loop", "loop:SECONDS: a CPU-bound loop on each CPU; says iterations per second",
				       run_loop};
