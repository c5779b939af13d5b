/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_DETECT_SAMPLER_H
#define OUTRIDER_DETECT_SAMPLER_H

/* The sampler's thread. `arg` is the struct detect. Ends when d->stop is set, or after the sink was told of a failure. */
void *sampler_main(void *arg);

#endif
