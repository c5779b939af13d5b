/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 64-bit FNV-1a (draft-eastlake-fnv, sections 4 and 5). Its low bits are mixed best. A caller that needs fewer than 64 bits
 * should fold the high bits into the low ones: hash ^ hash >> 32.
 */
#ifndef OUTRIDER_BASE_FNV1A_H
#define OUTRIDER_BASE_FNV1A_H

#include <stdint.h>

#define FNV1A_START UINT64_C(0xcbf29ce484222325)

/* Returns `hash` continued over `text`. Begin with FNV1A_START. */
static inline uint64_t fnv1a(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
