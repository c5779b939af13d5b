/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends the free run of a copy when its time is over. Copies run at low priority, so on a busy host their vCPUs wait for host
 * CPUs most of the time. That time does not count; KVM reports it as stolen time.
 */
#ifndef OUTRIDER_REPLAY_FREE_CLOCK_H
#define OUTRIDER_REPLAY_FREE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/ram.h"
#include "hv/vmm/vmm.h"

/* A free run takes at most 4 times as long as on an idle host. */
#define FREE_CLOCK_STRETCH 4

struct free_clock {
	struct vm *vm;
	pthread_t thread;
	pthread_mutex_t lock; /* Guards `over`. */
	pthread_cond_t changed;
	bool over;
	uint64_t ns, start;
	/* stolen[i]: KVM's stolen-time counter of CPU i, in guest memory. stolen_before[i]: its value at the start. */
	unsigned cpus;
	const uint64_t *stolen[VMM_MAX_CPUS];
	uint64_t stolen_before[VMM_MAX_CPUS];
};

/*
 * Returns the time that is left of a free run, or 0 if its time is over. `ns`: the length of the free run on an idle host.
 * `elapsed`: the time since its start. `stolen`: how long the CPU that waited longest for a host CPU has waited. All times are
 * in nanoseconds.
 */
uint64_t free_clock_left(uint64_t ns, uint64_t elapsed, uint64_t stolen);

/*
 * Start a thread that stops the machine by vm_stop() after `ns` nanoseconds of run time. No CPU of the machine may run yet.
 * Returns 0, or -1 when the thread cannot be started. free_clock_end() must follow.
 */
int free_clock_start(struct free_clock *c, struct vm *vm, const struct ram *ram, uint64_t ns);

/* End the thread. The machine must not run any more. */
void free_clock_end(struct free_clock *c);

#endif
