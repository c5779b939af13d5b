/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ends the free run of a copy when its time is over. Copies yield to the guest, so on a busy host their CPUs wait for
 * those of the host for most of the time. That time does not count: KVM says how long it was.
 */
#ifndef OUTRIDER_REPLAY_FREE_CLOCK_H
#define OUTRIDER_REPLAY_FREE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/ram.h"
#include "hv/vmm/vmm.h"

/* A free run takes at most so many times as long as it would on a host that has nothing else to do. */
#define FREE_CLOCK_STRETCH 4

struct free_clock {
	struct vm *vm;
	pthread_t thread;
	pthread_mutex_t lock; /* Guards `over`. */
	pthread_cond_t changed;
	bool over;
	uint64_t ns, start;
	/* What KVM counts for each CPU, in the guest's memory, and what it had counted at the start. */
	unsigned cpus;
	const uint64_t *stolen[VMM_MAX_CPUS];
	uint64_t stolen_before[VMM_MAX_CPUS];
};

/*
 * How long a free run of `ns` has left that has lasted for `elapsed`, during which the CPU that waited longest waited for
 * `stolen`. All in nanoseconds. 0: its time is over.
 */
uint64_t free_clock_left(uint64_t ns, uint64_t elapsed, uint64_t stolen);

/*
 * Stop the machine, by vm_stop() on a thread, when it has run for `ns` nanoseconds from now on. No CPU of it runs yet. Returns
 * 0, or -1 when there is no thread. free_clock_end() must follow.
 */
int free_clock_start(struct free_clock *c, struct vm *vm, const struct ram *ram, uint64_t ns);

/* The machine runs no more. */
void free_clock_end(struct free_clock *c);

#endif
