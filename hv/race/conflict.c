// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/conflict.h"

#include "symbols/insn/insn.h"

static bool may_write(const struct conflict_access *access)
{
	return !access->known || access->rw != INSN_READ;
}

bool race_is_conflict(const struct conflict_access *a, const struct conflict_access *b)
{
	if (!a->known && !b->known)
		return false;
	if (a->known && b->known && a->locked && b->locked)
		return false;
	return may_write(a) || may_write(b);
}

bool race_ranges_overlap(uint64_t a, uint32_t a_len, uint64_t b, uint32_t b_len)
{
	return a < b + b_len && b < a + a_len;
}
