/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planting event points at the calls of lock functions (locks.h). */
#ifndef OUTRIDER_DETECT_LOCK_POINTS_H
#define OUTRIDER_DETECT_LOCK_POINTS_H

#include <stdint.h>

#include "symbols/tables/symtab.h"

struct detect;

/*
 * Text has come, with these symbols and GVAs: that of the kernel if `module` is "". Its lock functions are known from now on,
 * and the calls in it that belong to the subject become event points. Only with locks followed. On the sampler's thread,
 * without d->lock, once points can be planted.
 */
void lock_points_text_came(struct detect *d, const char *module, const struct symtab *symbols, uint64_t start, uint64_t end);

/*
 * Take out the points at calls that take or give back a lock if following them leaves the guest no time (lock_load.h), and put
 * them back after a while. To be called often. Only with locks followed. On the sampler's thread, without d->lock.
 */
void lock_points_pace(struct detect *d);

#endif
