/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how much of one vCPU's time its debug exits take. Each exit is short, so kvm_cpu_stood() does not tell the guest's
 * watchdog of the exit. But thousands of exits a second can make a long path of the kernel take ten times as long, and the
 * watchdog would call that a soft lockup. Only the vCPU's own thread uses this. Times are CLOCK_MONOTONIC, in ns.
 */
#ifndef OUTRIDER_TARGET_KVM_STOPS_H
#define OUTRIDER_TARGET_KVM_STOPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Length of a period of measuring, in ns. The guest's watchdog checks every 4 s (get_sample_period() in kernel/watchdog.c), so
 * it is enough to tell the watchdog of stops once a second.
 */
#define KVM_STOPS_PERIOD_NS UINT64_C(1000000000)

struct kvm_stops {
	uint64_t since_ns; /* when the period began; 0: no stop was added yet */
	uint64_t spent_ns; /* time in stops since then */
};

/*
 * Add a stop. Returns true if a period ends with this stop, and stops took more than half of it: the guest's watchdog is to be
 * told that the vCPU was kept from running.
 */
static inline bool kvm_stops_add(struct kvm_stops *s, uint64_t began_ns, uint64_t ended_ns)
{
	bool most;

	if (!s->since_ns)
		s->since_ns = began_ns;
	s->spent_ns += ended_ns - began_ns;
	if (ended_ns - s->since_ns < KVM_STOPS_PERIOD_NS)
		return false;
	most = s->spent_ns > (ended_ns - s->since_ns) / 2;
	*s = (struct kvm_stops){.since_ns = ended_ns};
	return most;
}

#endif
