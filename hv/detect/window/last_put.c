// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds gets that come after the last put (last_put.h). */
#include "hv/detect/window/last_put.h"

#include <string.h>

#include "hv/detect/core/state.h"
#include "symbols/insn/count.h"

/* No window opens if there are more users than this: they seldom all go within one window. */
#define USERS_MAX 4u

bool last_put_is_get(const struct point *point)
{
	return point->insn.flags & INSN_LOCKED;
}

/* Read the count. Returns 0 if it cannot be read, or is no count of 4 or 8 bytes. */
static uint64_t read_count(struct detect *d, const struct datum *datum)
{
	uint8_t bytes[RACE_DATA_MAX];
	uint64_t count = 0;

	if (datum->len > sizeof(count) || datum_read(d->target, datum, bytes))
		return 0;
	memcpy(&count, bytes, datum->len);
	return count;
}

bool last_put_may_come(struct detect *d, const struct point *point, const struct x86_regs *regs, const struct datum *datum)
{
	uint64_t count = read_count(d, datum);

	return insn_counts_up(&point->insn, regs) && count && count <= USERS_MAX;
}

bool last_put_came(struct detect *d, const struct datum *datum)
{
	uint8_t bytes[RACE_DATA_MAX], zero[RACE_DATA_MAX] = {0};

	return datum_read(d->target, datum, bytes) == 0 && memcmp(bytes, zero, datum->len) == 0;
}
