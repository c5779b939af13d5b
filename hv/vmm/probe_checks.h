/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of the host self-test, between its tiny guest (probe_guest.h) and its judgement (probe.c). */
#ifndef OUTRIDER_VMM_PROBE_CHECKS_H
#define OUTRIDER_VMM_PROBE_CHECKS_H

#include <pthread.h>

#include "hv/vmm/probe_findings.h"
#include "hv/vmm/probe_guest.h"

struct probing {
	pthread_mutex_t lock; /* guards `out`: it is read while a check may be stuck */
	struct host_probe out;
	struct probe_guest guest;
	struct probe_result last;
};

/* Record a finding. */
void probe_report(struct probing *p, enum probe_id id, bool works, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Run every check that needs the guest. Stops early when one was timed out. */
void probe_run_checks(struct probing *p);

#endif
