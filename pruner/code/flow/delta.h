/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How value flow describes the difference between a loaded value and a value that the code computes from it. */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_DELTA_H
#define OUTRIDER_PRUNER_CODE_FLOW_DELTA_H

#include <stdint.h>

/*
 * How a value differs from the value that was loaded. At a join of paths, the result has the bits of all paths.
 */
enum flow_delta {
	FLOW_UP = 1,   /* A positive constant was added. */
	FLOW_DOWN = 2, /* A positive constant was subtracted. */
	/* A value that is not a constant was added. */
	FLOW_SUM = 4,
	FLOW_ELSE = 8, /* Any other operation changed the value. */
};

/* Returns a mask of the `bytes` lowest bytes of a word, for 1 to 8 bytes. */
static inline uint64_t flow_bytes(unsigned bytes)
{
	return bytes < 8 ? (1ull << 8 * bytes) - 1 : ~0ull;
}

#endif
