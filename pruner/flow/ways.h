/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions a way may lead to, when some ways are closed. */
#ifndef OUTRIDER_PRUNER_FLOW_WAYS_H
#define OUTRIDER_PRUNER_FLOW_WAYS_H

#include "pruner/code.h"

#define WAYS_FROM_START (-1)
#define WAYS_OPEN (-1)

/*
 * Set reached[i] for each instruction that a way leads to. A way starts behind the instruction `from`, or with WAYS_FROM_START
 * where the function starts and where only code that was not kept leads to. No way leads from instruction `i` to instruction
 * closed[i], unless that is WAYS_OPEN; `closed` may be NULL. Ways end at the instructions in `ends`, which may be NULL.
 */
void ways(const struct code *code, int from, const int16_t closed[RACE_CODE_MAX], const bool ends[RACE_CODE_MAX],
	  bool reached[RACE_CODE_MAX]);

#endif
