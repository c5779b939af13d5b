/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libvirt domain that is there for one run: defined by a file of the campaign, with the run's kernel in it, and destroyed
 * when the run ends, or when the process that has started it dies.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_MACHINE_H
#define OUTRIDER_CAMPAIGN_RUNNER_MACHINE_H

#include "hv/base/err.h"
#include "hv/campaign/plan/plan.h"

#define MACHINE_NAME_MAX 64

struct machine {
	const struct plan_run *run; /* NULL: there is no machine to start */
	const char *folder;	    /* of the run; console.log in it takes the guest's console */
	char name[MACHINE_NAME_MAX];
	struct domain_transient *domain;
};

/* The domain's XML for this run. Returns it from malloc(), or NULL with err set. */
char *machine_xml(const struct machine *m, struct err *err);

/* Start it, in the process that will call machine_stop(). Returns 0, or -1 with err set. */
int machine_start(struct machine *m, struct err *err);
void machine_stop(struct machine *m);

#endif
