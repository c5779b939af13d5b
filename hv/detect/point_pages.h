/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which pages of text points stand. An emulator slows all of a page on which one is, so there a target limits the pages
 * (target_caps.pages), and a point beside another one costs little. The detector's lock guards what is looked at.
 */
#ifndef OUTRIDER_DETECT_POINT_PAGES_H
#define OUTRIDER_DETECT_POINT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/point.h"

/*
 * Whether a sample point may be planted at `addr` when sample points may be on `pages` pages, 16 at most, beside the pages that
 * have event points. Each point is looked at, as there are few where this matters.
 */
bool point_page_free(const struct points *p, uint64_t addr, unsigned pages);

#endif
