// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds gets that come after the last put (last_put.h). */
#include "hv/detect/window/last_put.h"

#include <string.h>

#include "hv/detect/core/state.h"
#include "symbols/insn/count.h"

/* No window opens if there are more users than this. Each of them would have to put its reference within the window. */
#define USERS_MAX 4u
/*
 * A window ends after this many writes to its count, because each write stops a CPU. On a target with costly stops it ends
 * after STOPS_COSTLY writes.
 */
#define STOPS_MAX 64u
#define STOPS_COSTLY 4u

bool last_put_is_get(const struct point *point)
{
	return point->insn.flags & INSN_LOCKED;
}

/* Whether a watchpoint can see all writes to the count. */
static bool can_be_watched(const struct detect *d, const struct datum *count)
{
	const uint32_t all = (UINT32_C(1) << d->target->caps.watches) - 1;

	return x86_kernel_address(count->access.gva) && count->len == count->access.size &&
	       count->access.gva % count->access.size == 0 && d->hit.slots_used != all;
}

bool last_put_may_come(struct detect *d, const struct window *w)
{
	const struct datum *count = &w->data[0];
	uint64_t users = 0;

	if (w->data_count != 1 || count->len > sizeof(users) || !can_be_watched(d, count))
		return false;
	memcpy(&users, count->before, count->len);
	return users && users <= USERS_MAX && insn_counts_up(&w->point->insn, &w->regs);
}

static bool is_zero(struct detect *d, const struct datum *count)
{
	uint8_t bytes[RACE_DATA_MAX], zero[RACE_DATA_MAX] = {0};

	return datum_read(d->target, count, bytes) == 0 && memcmp(bytes, zero, count->len) == 0;
}

enum last_put_seen last_put_written(struct detect *d, struct window *w)
{
	if (is_zero(d, &w->data[0]))
		return LAST_PUT_CAME;
	return ++w->writes < (d->target->caps.costly_stops ? STOPS_COSTLY : STOPS_MAX) ? LAST_PUT_NOT : LAST_PUT_TOO_MANY;
}

bool last_put_is_due(struct detect *d, const struct window *w)
{
	return w->get && w->data[0].slots && is_zero(d, &w->data[0]);
}
