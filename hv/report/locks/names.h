/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions and data in a lock record, as the chart of locks has them (chart.h). */
#ifndef OUTRIDER_REPORT_LOCKS_NAMES_H
#define OUTRIDER_REPORT_LOCKS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "hv/race/site.h"

#define CHART_NAME_MAX 160 /* bytes, including the NUL */

/*
 * A function with a number of its accesses. In chart_datum.missing, these are the accesses without the lock. In
 * chart_together.functions, they are the sampled writes of the two members.
 */
struct chart_missing {
	char function[SITE_NAME_MAX];
	uint64_t count;
};

/*
 * Returns the length of the owner's name: "nic" of "nic->flags" and of "nic.flags", "kmalloc-64" of "kmalloc-64+0x8". A '-'
 * alone does not end the owner's name, since names of caches contain dashes.
 */
size_t chart_owner_len(const char *name);

/* Returns a function's name without its module. */
const char *chart_function(const char *name);

#endif
