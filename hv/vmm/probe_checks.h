/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of the host self-test. They run the tiny guest (probe_guest.h) and record findings, from which probe.c decides
 * whether the host is usable.
 */
#ifndef OUTRIDER_VMM_PROBE_CHECKS_H
#define OUTRIDER_VMM_PROBE_CHECKS_H

#include <pthread.h>

#include "hv/vmm/probe_findings.h"
#include "hv/vmm/probe_guest.h"

struct probing {
	pthread_mutex_t lock; /* guards `out`, which another thread reads while a check may hang in KVM_RUN */
	struct host_probe out;
	struct probe_guest guest;
	struct probe_result last; /* result of the guest's last run */
};

/* Record that the check `id` was tried and whether it passed, with a printf-formatted line on what was seen. */
void probe_report(struct probing *p, enum probe_id id, bool works, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Run the checks that need the guest, until one times out. */
void probe_run_checks(struct probing *p);

#endif
