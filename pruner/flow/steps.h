/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words in which value flow says how a value was changed. */
#ifndef OUTRIDER_PRUNER_FLOW_STEPS_H
#define OUTRIDER_PRUNER_FLOW_STEPS_H

#include <stdint.h>

/* How a value differs from what was loaded. Where several ways lead to the value, these bits are combined. */
enum flow_step {
	FLOW_UP = 1,   /* A positive constant was added. */
	FLOW_DOWN = 2, /* A positive constant was subtracted. */
	FLOW_SUM = 4,  /* Something was added, and it is not known what. */
	FLOW_ELSE = 8, /* The value was changed in any other way. */
};

/* Returns a mask of the low `bytes` bytes. */
static inline uint64_t flow_bytes(unsigned bytes)
{
	return bytes < 8 ? (1ull << 8 * bytes) - 1 : ~0ull;
}

#endif
