// SPDX-License-Identifier: GPL-2.0-or-later
/* The fate of a datum that was accessed in a critical section (section_fate.h). */
#include "hv/race/section_fate.h"

const struct section_fate *section_fate_find(const struct section_fate *list, size_t n, uint64_t pc, uint64_t first,
					     uint64_t second)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].pc == pc && list[i].first == first && list[i].second == second)
			return &list[i];
	}
	return NULL;
}
