/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search in sorted arrays whose elements begin with their key, a uint64_t. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_BISECT_H
#define OUTRIDER_SYMBOLS_DWARF_BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns how many of the `n` elements, of `size` bytes each, have a key of at most `key`. */
static inline size_t di_bisect(const void *array, size_t n, size_t size, uint64_t key)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t at;

		memcpy(&at, (const char *)array + middle * size, sizeof(at));
		if (at <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
