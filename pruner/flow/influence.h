/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What depends on a value that was loaded: the branches that it decides, the memory whose address is made of it, and where it
 * is stored. */
#ifndef OUTRIDER_PRUNER_FLOW_INFLUENCE_H
#define OUTRIDER_PRUNER_FLOW_INFLUENCE_H

#include "pruner/code.h"

struct flow_influence {
	bool decides[RACE_CODE_MAX];   /* The instruction is a conditional jump by the value. */
	bool addresses[RACE_CODE_MAX]; /* The instruction accesses memory at an address that is made of the value. */
	bool stored[RACE_CODE_MAX];    /* The instruction stores what is made of the value. */
};

/*
 * Add to *out what depends on what instruction `i` loads. The value is followed through registers and flags alone. What goes
 * through memory or another function is not seen.
 */
void flow_influence(const struct code *code, unsigned i, struct flow_influence *out);

#endif
