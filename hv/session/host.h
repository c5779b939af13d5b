/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the machine that Outrider runs on, for the record of a run. */
#ifndef OUTRIDER_SESSION_HOST_H
#define OUTRIDER_SESSION_HOST_H

#include <sys/utsname.h>

#include "hv/report/run_facts.h"

/* The facts, and the memory for their strings. */
struct host {
	struct run_host facts;
	struct utsname names;
	char cpu[128];
};

/* Fill in `host->facts`. A fact that cannot be found stays unknown. `host` must not be moved afterwards. */
void host_read(struct host *host);

#endif
