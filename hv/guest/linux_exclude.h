/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_EXCLUDE_H
#define OUTRIDER_GUEST_LINUX_EXCLUDE_H

struct guest;

/* Collect the ranges of text that must not carry sample points. Requires the kernel's symbols. */
void linux_find_excluded(struct guest *g);

#endif
