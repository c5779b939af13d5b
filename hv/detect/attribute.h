/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_DETECT_ATTRIBUTE_H
#define OUTRIDER_DETECT_ATTRIBUTE_H

#include "hv/race/observation.h"
#include "symbols/insn/insn.h"

struct detect;

/*
 * Find the access behind a hit of a watchpoint, and fill in pc, gva, size, rw and locked of o->sides[1]. The function is swept
 * from its symbol to where the CPU stopped, and the instruction before that must access the watched bytes. pc stays 0 when the
 * access cannot be told. On the reporter's thread, without d->lock.
 */
void attribute_watch(struct detect *d, struct insn_decoder *decoder, struct observation *o);

#endif
