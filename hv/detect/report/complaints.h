/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds complaints in the log of the guest's kernel, and passes them to the sink. */
#ifndef OUTRIDER_DETECT_REPORT_COMPLAINTS_H
#define OUTRIDER_DETECT_REPORT_COMPLAINTS_H

#include <stdbool.h>
#include <stdint.h>

struct detect;

/* Returns how long the reporter waits at most before it reads the guest's log again, in ns. */
uint64_t complaints_period(const struct detect *d);

/*
 * Read the guest's log, and pass new complaints to the sink. `last`: the run ends, so the lines of an unfinished complaint are
 * passed on as well. Called on the reporter's thread. Takes d->lock through detect_code() when an oops shows code. Does nothing
 * before the guest's kernel is found, or if the sink takes no complaints.
 */
void complaints_poll(struct detect *d, bool last);

#endif
