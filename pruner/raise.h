/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What makes a race more likely to be a bug, or makes the bug worse. */
#ifndef OUTRIDER_PRUNER_RAISE_H
#define OUTRIDER_PRUNER_RAISE_H

#include "pruner/view.h"

/* Whether the value is an address in the kernel's half, with page tables of 4 levels or 5, and no small negative number. */
bool raise_is_address(uint64_t value);

/* Whether the datum is a pointer by its type, or looks like one by its values. False when neither is known. */
bool raise_is_pointer(const struct view *v);

/* Whether one side may see, or undo, a part of what the other side stores. False when one side is not known. */
bool raise_may_tear(const struct view *v);

/*
 * Add up what makes the race worse, and say it in the evidence. Returns the points. *worst becomes the name of what has most of
 * the points, and is not changed when there are none.
 */
int raise_points(const struct view *v, struct verdict *out, const char **worst);

#endif
