/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marked accesses: the instruction tells of them, or what was inlined around it, or the source where that is at hand.
 */
#ifndef OUTRIDER_PRUNER_MARK_H
#define OUTRIDER_PRUNER_MARK_H

#include "pruner/view.h"

/* Set s->marked and s->mark of side `which`. */
void mark_side(const struct view *v, unsigned which, struct view_side *s);

#endif
