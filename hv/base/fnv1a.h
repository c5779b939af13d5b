/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FNV-1a with 64 bits (draft-eastlake-fnv, sections 4 and 5). Its low bits are the good ones: whoever needs fewer than 64 bits
 * folds the high ones into them (hash ^ hash >> 32) instead of cutting them off.
 */
#ifndef OUTRIDER_BASE_FNV1A_H
#define OUTRIDER_BASE_FNV1A_H

#include <stdint.h>

#define FNV1A_START UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` is the hash of with `text` appended; begin with FNV1A_START. */
static inline uint64_t fnv1a(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
