// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends the free run of a copy when its time is over. The time that vCPUs wait for host CPUs does not count. */
#include "hv/replay/free_clock.h"

#include <time.h>

#include "hv/base/clock.h"
#include "hv/replay/shared.h"

#define SECOND UINT64_C(1000000000)
/* Wait at least 10 ms between two readings: KVM updates the stolen time only when a CPU enters the guest. */
#define LEAST_WAIT (SECOND / 100)

uint64_t free_clock_left(uint64_t ns, uint64_t elapsed, uint64_t stolen)
{
	uint64_t most = ns * FREE_CLOCK_STRETCH;
	uint64_t wanted = stolen < most - ns ? ns + stolen : most;

	return wanted > elapsed ? wanted - elapsed : 0;
}

/*
 * Returns the longest time in ns that a vCPU has waited for a host CPU since the start. The guest can write KVM's counters, so
 * free_clock_left() bounds the result.
 */
static uint64_t longest_stolen(const struct free_clock *c)
{
	uint64_t longest = 0;

	for (unsigned cpu = 0; cpu < c->cpus; cpu++) {
		uint64_t now = c->stolen[cpu] ? __atomic_load_n(c->stolen[cpu], __ATOMIC_RELAXED) : 0;

		if (now > c->stolen_before[cpu] && now - c->stolen_before[cpu] > longest)
			longest = now - c->stolen_before[cpu];
	}
	return longest;
}

static void *watch(void *arg)
{
	struct free_clock *c = arg;
	uint64_t left;

	pthread_mutex_lock(&c->lock);
	while (!c->over) {
		uint64_t now = monotonic_ns();
		struct timespec until;

		left = free_clock_left(c->ns, now - c->start, longest_stolen(c));
		if (!left)
			break;
		if (left < LEAST_WAIT)
			left = LEAST_WAIT;
		until = (struct timespec){.tv_sec = (time_t)((now + left) / SECOND), .tv_nsec = (long)((now + left) % SECOND)};
		pthread_cond_timedwait(&c->changed, &c->lock, &until);
	}
	if (!c->over)
		vm_stop(c->vm);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int free_clock_start(struct free_clock *c, struct vm *vm, const struct ram *ram, uint64_t ns)
{
	pthread_condattr_t attr;

	*c = (struct free_clock){.vm = vm, .ns = ns, .start = monotonic_ns(), .cpus = vm_cpu_count(vm)};
	for (unsigned cpu = 0; cpu < c->cpus; cpu++) {
		uint64_t gpa = shared_stolen(vm_vcpu(vm, cpu)->fd);

		c->stolen[cpu] = gpa ? ram_at(ram, gpa, sizeof(uint64_t)) : NULL;
	}
	for (unsigned cpu = 0; cpu < c->cpus; cpu++)
		c->stolen_before[cpu] = c->stolen[cpu] ? *c->stolen[cpu] : 0;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	return pthread_create(&c->thread, NULL, watch, c) == 0 ? 0 : -1;
}

void free_clock_end(struct free_clock *c)
{
	pthread_mutex_lock(&c->lock);
	c->over = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
}
