/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether a CPU runs or will wake up soon (awake.h). A task that sleeps for 300 us at a time leaves its CPU idle most
 * of the time, and still makes many accesses in a window of 10 ms. KVM knows when the timer of a vCPU is due, but the detector
 * does not. So the detector estimates the next wake-up from the number of wake-ups in the past.
 */
#include "hv/detect/window/awake.h"

#include "hv/base/clock.h"

/*
 * Shortest time over which wake-ups are averaged: 50 ms, five windows of the default length. A CPU that wakes up every 10 ms
 * wakes up about five times in this time. In one window, it may not wake up at all.
 */
#define AVERAGED_NS 50000000u

bool awake_any(const struct detect *d)
{
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		if (!d->hit.windows[c].open && !target_idle(d->target, c))
			return true;
	}
	return false;
}

/* Returns the average time between two wake-ups of the CPU, in ns. UINT64_MAX: unknown, or the CPU did not wake up. */
static uint64_t sleep_ns(struct detect *d, unsigned cpu, uint64_t now)
{
	struct wake_average *average = &d->hit.wake_averages[cpu];
	uint64_t elapsed = now - average->since_ns;

	if (!average->since_ns || elapsed >= AVERAGED_NS) {
		uint64_t count = target_wake_ups(d->target, cpu), more = count - average->count;

		average->sleep_ns = average->since_ns && more ? elapsed / more : UINT64_MAX;
		average->count = count;
		average->since_ns = now;
	}
	return average->sleep_ns;
}

bool awake_within(struct detect *d, uint64_t ns)
{
	uint64_t now = monotonic_ns();

	if (awake_any(d))
		return true;
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		if (!d->hit.windows[c].open && sleep_ns(d, c, now) <= ns)
			return true;
	}
	return false;
}
