/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libvirt domain that exists for one run. A file of the campaign defines the domain, and the run's kernel is added. libvirt
 * destroys the domain when the run ends, or when the process that started the domain dies.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_MACHINE_H
#define OUTRIDER_CAMPAIGN_RUNNER_MACHINE_H

#include "hv/base/err.h"
#include "hv/campaign/plan/plan.h"

#define MACHINE_NAME_MAX 64

struct machine {
	const struct plan_run *run; /* NULL: there is no domain to start */
	const char *folder;	    /* folder of the run; the guest's console is written to console.log in it */
	char name[MACHINE_NAME_MAX];
	struct domain_transient *domain;
};

/* Returns the domain's XML for this run, from malloc(), or NULL with err set if the file is invalid or memory runs out. */
char *machine_xml(const struct machine *m, struct err *err);

/*
 * Start the domain. Does nothing if m->run is NULL. The same process must call machine_stop(). Returns 0, or -1 with err set.
 */
int machine_start(struct machine *m, struct err *err);
void machine_stop(struct machine *m);

#endif
