/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_DETECT_REPORT_ATTRIBUTE_H
#define OUTRIDER_DETECT_REPORT_ATTRIBUTE_H

#include "hv/race/observation.h"
#include "symbols/insn/insn.h"

struct detect;

/*
 * Find the access that hit a watchpoint, and fill in pc, gva, size, rw and locked of o->sides[1]. Decodes the function from
 * its symbol to where the CPU stopped; the instruction before that must access the watched bytes. pc stays 0 when no
 * instruction fits. Called on the reporter's thread, without d->lock.
 */
void attribute_watch(struct detect *d, struct insn_decoder *decoder, struct observation *o);

#endif
