/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes progress messages: what was sampled and found since the last message, and what that cost. */
#include "hv/session/stats_line.h"

#include <inttypes.h>
#include <stdio.h>

static double per_second(uint64_t now, uint64_t before, double seconds)
{
	return seconds > 0 && now > before ? (double)(now - before) / seconds : 0;
}

bool stats_line_is_due(const struct stats_line *p, uint64_t sampled_ns)
{
	return p->every_ns && sampled_ns >= (p->due_ns ? p->due_ns : p->every_ns);
}

void stats_line_make(struct stats_line *p, const struct stats_sample *now, char line[STATS_LINE_MAX])
{
	const struct detect_stats *s = &now->stats, *b = &p->last.stats;
	double seconds = per_second(s->sampling_ns, b->sampling_ns, 1e9);
	double lost = s->cpus ? per_second(s->target.lost_ns, b->target.lost_ns, seconds * 1e7 * s->cpus) : 0;

	snprintf(line, STATS_LINE_MAX,
		 "%" PRIu64 " s sampled: %.1f hits/s of %" PRIu64
		 " sites, %.1f windows/s, %zu race%s (%zu new), cost %.1f %% of the CPUs' time",
		 s->sampling_ns / 1000000000, per_second(s->hits, b->hits, seconds), s->sites,
		 per_second(s->windows, b->windows, seconds), now->races, now->races == 1 ? "" : "s",
		 now->races - p->last.races, lost);
	/* The next message is due at the next multiple of the period: a late message does not shift later ones. */
	p->due_ns = (s->sampling_ns / p->every_ns + 1) * p->every_ns;
	p->last = *now;
}
