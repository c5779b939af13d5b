/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of sites that a file has. Pure functions. */
#ifndef OUTRIDER_REPORT_COVERAGE_SITE_H
#define OUTRIDER_REPORT_COVERAGE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/site.h"

/*
 * Split "module:function+0x1c" into the function and the offset. False: it is not of this form. An offset with a leading 0 is
 * none, since it would be a second name of a site.
 */
bool site_split(const char *site, char function[SITE_NAME_MAX], uint32_t *offset);

#endif
