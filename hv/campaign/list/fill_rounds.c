// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures of each round. */
#include <stdlib.h>

#include "hv/campaign/list/fill_internal.h"

static int fill_round(struct fill *f, size_t index)
{
	const struct store_round *from = &f->rounds.list[index];
	struct summary_round *r = &f->m->rounds[index];

	*r = (struct summary_round){.number = (unsigned)from->number,
				    .now = index >= f->from && index <= f->to,
				    .started = fill_time(f, from->started),
				    .ended = fill_time(f, from->ended),
				    .runs = (unsigned)(from->planned > from->begun ? from->planned : from->begun),
				    .done = (unsigned)from->done,
				    .broken = (unsigned)(from->done - from->ok),
				    .cut_off = (unsigned)from->cut_off,
				    .races = (unsigned)from->races,
				    .fresh = (unsigned)from->new_races,
				    .hits = from->hits,
				    .windows = from->windows,
				    .conflicts = from->conflicts,
				    .sampled_ns = from->sampled_ns,
				    .lost_permille = from->lost_permille,
				    .lost_most = from->lost_most};
	if (!r->started || !r->ended)
		return -1;
	for (int i = 0; i < STORE_CLASSES; i++)
		r->of_class[fill_class((enum verdict_class)i, "any")] = (unsigned)from->of_class[i];
	return 0;
}

int fill_rounds(struct fill *f)
{
	size_t count = f->to + 1;
	int rc = 0;

	f->m->rounds = calloc(count, sizeof(*f->m->rounds));
	if (!f->m->rounds)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (; rc == 0 && f->m->round_count < count; f->m->round_count++)
		rc = fill_round(f, f->m->round_count);
	return rc;
}
