/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of text that have points. An emulator runs all code on a page with a breakpoint slowly, so such a target limits the
 * number of these pages (target_caps.pages). A second point on a page costs little. Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_CORE_POINT_PAGES_H
#define OUTRIDER_DETECT_CORE_POINT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/core/point.h"

/*
 * Whether a sample point can be planted at `addr` when sample points may be on at most `pages` pages besides the pages with
 * hooks. A value of `pages` above 16 counts as 16. Walks all points, since targets with this limit have few.
 */
bool point_page_free(const struct points *p, uint64_t addr, unsigned pages);

#endif
