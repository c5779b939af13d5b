// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the text of the status line (status_line.h). */
#include "hv/session/status_line.h"

#include <inttypes.h>
#include <stdio.h>

#define EVERY_NS UINT64_C(1000000000)
/* Bytes of a time as text. */
#define CLOCK_MAX 32

/* Write a time as M:SS, or as H:MM:SS from an hour on. */
static void clock_text(uint64_t ns, char text[CLOCK_MAX])
{
	uint64_t s = ns / 1000000000;

	if (s < 3600)
		snprintf(text, CLOCK_MAX, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
	else
		snprintf(text, CLOCK_MAX, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

/* Returns the hits per second since the oldest sample, and makes `stats` the newest sample. */
static double hit_rate(struct status_line *p, const struct detect_stats *stats)
{
	unsigned oldest = p->samples < STATUS_SPAN ? 0 : p->next;
	uint64_t ns = stats->sampling_ns, hits = stats->hits;

	if (p->samples) {
		ns -= p->sample[oldest].sampling_ns;
		hits -= p->sample[oldest].hits;
	}
	p->sample[p->next].sampling_ns = stats->sampling_ns;
	p->sample[p->next].hits = stats->hits;
	p->next = (p->next + 1) % STATUS_SPAN;
	if (p->samples < STATUS_SPAN)
		p->samples++;
	return ns ? (double)hits * 1e9 / (double)ns : 0;
}

/* Write what sampling has cost so far, in the unit of --overhead, and what --overhead allows. */
static void cost_text(const struct detect_stats *s, char *text, size_t size)
{
	bool whole = s->target.still_ns > 0;
	double lost = (double)(whole ? s->target.still_ns : s->target.lost_ns);
	double time = (double)s->sampling_ns * (whole ? 1 : s->cpus), cost = time > 0 ? lost * 100 / time : 0;

	if (s->asked_percent)
		snprintf(text, size, "cost %.1f %%, %u %% asked for", cost, s->asked_percent);
	else
		snprintf(text, size, "cost %.1f %%", cost);
}

bool status_line_is_due(const struct status_line *p, uint64_t now_ns)
{
	return !p->made_ns || now_ns - p->made_ns >= EVERY_NS;
}

void status_line_make(struct status_line *p, const struct status_now *now, uint64_t now_ns, char line[STATUS_LINE_MAX])
{
	const struct detect_stats *s = &now->stats;
	char elapsed[CLOCK_MAX], limit[CLOCK_MAX], of[CLOCK_MAX + 4] = "", cost[48];
	uint64_t ns = now->elapsed_ns;

	p->made_ns = now_ns;
	if (now->waits) {
		clock_text(ns, elapsed);
		snprintf(line, STATUS_LINE_MAX, "%s  %s", elapsed, now->waits);
		return;
	}
	if (now->duration_ns) {
		/* The machine stops some time after --duration is over: show no more than --duration. */
		ns = ns < now->duration_ns ? ns : now->duration_ns;
		clock_text(now->duration_ns, limit);
		snprintf(of, sizeof(of), " of %s", limit);
	}
	clock_text(ns, elapsed);
	cost_text(s, cost, sizeof(cost));
	snprintf(line, STATUS_LINE_MAX, "%s%s  %.1f hits/s  %" PRIu64 " window%s  %zu race%s  %s", elapsed, of, hit_rate(p, s),
		 s->windows, s->windows == 1 ? "" : "s", now->races, now->races == 1 ? "" : "s", cost);
}
