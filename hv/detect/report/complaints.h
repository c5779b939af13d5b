/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_DETECT_REPORT_COMPLAINTS_H
#define OUTRIDER_DETECT_REPORT_COMPLAINTS_H

#include <stdbool.h>

struct detect;

/*
 * Read the guest's log, and pass new complaints to the sink. `last`: the run ends, so the lines of an unfinished complaint are
 * passed on as well. Called on the sampler's thread, and after that thread has ended, by detect_stop(). Takes d->lock through
 * detect_code() when an oops shows code. Does nothing if the sink does not take complaints.
 */
void complaints_poll(struct detect *d, bool last);

#endif
