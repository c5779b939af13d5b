/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler's thread: finds the guest's kernel, builds the pool, follows modules, and keeps sample points armed. */
#ifndef OUTRIDER_DETECT_SAMPLER_H
#define OUTRIDER_DETECT_SAMPLER_H

/*
 * The function of the sampler's thread. `arg` is the struct detect. Returns when d->life.stop is set, or after sink.failed()
 * was called.
 */
void *sampler_main(void *arg);

#endif
