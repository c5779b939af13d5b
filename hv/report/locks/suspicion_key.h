/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the identity of a suspicion, a hash of what stays the same in every build of the kernel, as for a race
 * (hv/race/race_key.h). Pure functions.
 */
#ifndef OUTRIDER_REPORT_LOCKS_SUSPICION_KEY_H
#define OUTRIDER_REPORT_LOCKS_SUSPICION_KEY_H

#include "hv/race/site.h"
#include "hv/race/suspicion.h"

/* Write the function of a site: the name without the offset and without suffixes of the compiler. */
void suspicion_function(const char *site, char out[SITE_NAME_MAX]);

/*
 * Write a hash of the kind, the functions of both sites, and the names of the lock and of the datum. A name that is an address
 * does not count.
 */
void suspicion_identity(enum suspicion_kind kind, const char *site_a, const char *site_b, const char *lock, const char *datum,
			char out[RACE_ID_MAX]);

#endif
