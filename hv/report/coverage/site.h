/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the names of sites in files. Pure functions. */
#ifndef OUTRIDER_REPORT_COVERAGE_SITE_H
#define OUTRIDER_REPORT_COVERAGE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/site.h"

/*
 * Split "module:function+0x1c" into function and offset. Returns false for any other form. An offset with a leading 0 is not
 * accepted, so that a site has only one name.
 */
bool site_split(const char *site, char function[SITE_NAME_MAX], uint32_t *offset);

#endif
