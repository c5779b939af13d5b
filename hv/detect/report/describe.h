/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the code around an access into an observation, and names the functions that this code calls. */
#ifndef OUTRIDER_DETECT_REPORT_DESCRIBE_H
#define OUTRIDER_DETECT_REPORT_DESCRIBE_H

#include "hv/race/observation.h"
#include "symbols/insn/insn.h"

struct detect;

/*
 * Fill in the symbol, the code and the callees of a side after its access was attributed. Called on the reporter's thread,
 * without d->lock.
 */
void describe_side(struct detect *d, struct insn_decoder *decoder, struct race_side *side);

#endif
