/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_DETECT_STOPS_H
#define OUTRIDER_DETECT_STOPS_H

struct detect;

/* Fill in d->client: what the target calls when a CPU stopped. */
void stops_init(struct detect *d);

#endif
