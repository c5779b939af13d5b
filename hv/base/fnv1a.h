/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FNV-1a with 64 bits (draft-eastlake-fnv, sections 4 and 5). The low bits of a hash are its good ones. A caller that needs
 * fewer than 64 bits folds the high bits into the low ones (hash ^ hash >> 32).
 */
#ifndef OUTRIDER_BASE_FNV1A_H
#define OUTRIDER_BASE_FNV1A_H

#include <stdint.h>

#define FNV1A_START UINT64_C(0xcbf29ce484222325)

/* Continue `hash` over `text`. Returns the new hash. The first call takes FNV1A_START for `hash`. */
static inline uint64_t fnv1a(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
