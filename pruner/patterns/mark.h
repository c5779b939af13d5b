/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marked accesses, as the Linux memory model has them (tools/memory-model/Documentation/access-marking.txt in Linux). */
#ifndef OUTRIDER_PRUNER_PATTERNS_MARK_H
#define OUTRIDER_PRUNER_PATTERNS_MARK_H

#include "pruner/patterns/view.h"

/*
 * Find out whether the access of side `which`, *s, is marked, and set s->marked and s->mark. The instruction, its function, the
 * functions inlined around it, or the kernel's source can show the mark. For a read, the list of atomic data can show it, too.
 */
void mark_side(const struct view *v, unsigned which, struct view_side *s);

#endif
