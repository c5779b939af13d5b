/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks by which the target tells the detector that a CPU stopped, or that a device accesses memory. */
#ifndef OUTRIDER_DETECT_WINDOW_STOPS_H
#define OUTRIDER_DETECT_WINDOW_STOPS_H

struct detect;

/* Fill in d->client, the callbacks that the target calls when a CPU stops. */
void stops_init(struct detect *d);

#endif
