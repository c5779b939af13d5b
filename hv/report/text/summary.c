// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the list of all races of a run, the counters of the run, and advice. */
#include <inttypes.h>
#include <stdlib.h>

#include "hv/report/device.h"
#include "hv/report/text/place.h"
#include "hv/report/text/text.h"
#include "hv/report/words.h"

/* From 80 % of the requested rate of hits on, the summary takes the rate as reached, and gives no advice. */
#define RATE_REACHED 0.8

static int more_often_first(const void *left, const void *right)
{
	const struct race *a = *(const struct race *const *)left, *b = *(const struct race *const *)right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns;
}

static void put_site(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	char site[TEXT_SITE_MAX], kind[DEVICE_TEXT_MAX];

	if (side->kind == RACE_SIDE_CPU) {
		text_site(side, site);
		fprintf(out, "%s %s", access_word(race->rw[which]), site);
	} else if (side->kind == RACE_SIDE_DEVICE) {
		device_kind(&side->device, kind);
		fprintf(out, "%s %s", access_word(race->rw[which]), kind);
	} else {
		fputs("write (unseen writer)", out);
	}
}

void text_sites(FILE *out, const struct race *race)
{
	put_site(out, race, 0);
	fputs("  <->  ", out);
	put_site(out, race, 1);
}

static void put_row(FILE *out, const struct race *race)
{
	fprintf(out, "  %s %7" PRIu64 " %9.3f %9.3f  ", race->id, race->count, (double)race->first_ns / 1e9,
		(double)race->last_ns / 1e9);
	text_sites(out, race);
	fputc('\n', out);
}

static void put_table(FILE *out, const struct race_store *store)
{
	size_t n = race_store_count(store);
	const struct race **sorted = calloc(n ? n : 1, sizeof(struct race *));

	fprintf(out, "%zu race%s\n", n, n == 1 ? "" : "s");
	if (!sorted)
		goto out;
	for (size_t i = 0; i < n; i++)
		sorted[i] = race_store_get(store, i);
	qsort(sorted, n, sizeof(struct race *), more_often_first);
	fprintf(out, "  %-12s %7s %9s %9s  %s\n", "race", "count", "first s", "last s", "sites");
	for (size_t i = 0; i < n; i++)
		put_row(out, sorted[i]);
out:
	free(sorted);
}

static double per(uint64_t value, double units)
{
	return units > 0 ? (double)value / units : 0;
}

/* Returns what the user can do to reach the rate of hits. */
static const char *advice(const struct detect_stats *s)
{
	if (s->armed_most * 10 >= s->sites * 9)
		return "all sites were armed, but the guest executes too few of them: give the guest more work, or sample more "
		       "functions";
	if (s->arming_ns * 10 >= s->sampling_ns * 2)
		return "finding and arming points is the limit: name what the guest runs (--sample, --module)";
	if (s->executed * 5 <= s->planted)
		return "the guest executes few of the sites: give it more to do, or name what it runs (--sample, "
		       "--module)";
	return "with more hits, the guest would be held too much: use a shorter --delay or a faster host";
}

/* Returns the cost of sampling in percent of all CPU time of the guest. */
static double lost_percent(const struct detect_stats *s)
{
	return 100 * per(s->target.lost_ns, (double)s->sampling_ns * s->cpus);
}

/* Returns true if the cost limit controls the rate. If the machine stops as a whole, the target limits the cost instead. */
static bool cost_decides(const struct detect_stats *s)
{
	return s->asked_percent && !s->target.still_ns;
}

static void put_cost(FILE *out, const struct detect_stats *s)
{
	if (!s->cpus)
		return;
	fprintf(out, "  cost          %.1f %% of the CPUs' time", lost_percent(s));
	if (s->target.still_ns)
		fprintf(out, "; the guest stood still for %.1f %% of the time",
			100 * per(s->target.still_ns, (double)s->sampling_ns));
	if (s->asked_percent)
		fprintf(out, ", %u %% asked for", s->asked_percent);
	if (s->skipped_cost)
		fprintf(out, "; no window for %" PRIu64 " hits that would have cost more", s->skipped_cost);
	fputc('\n', out);
}

/* If there were fewer hits than requested, or than the cost limit allows, explain why. */
static void put_rate(FILE *out, const struct detect_stats *s)
{
	double seconds = (double)s->sampling_ns / 1e9, rate = per(s->hits, seconds);
	uint64_t never = s->planted > s->executed ? s->planted - s->executed : 0;

	if (rate >= RATE_REACHED * (double)s->asked_rate)
		return;
	if (cost_decides(s) && lost_percent(s) >= RATE_REACHED * s->asked_percent)
		return;
	if (cost_decides(s))
		fprintf(out, "  rate          %.0f hits/s, which cost less than --overhead allows: at most %" PRIu64, rate,
			s->armed_most);
	else
		fprintf(out, "  rate          %.0f of %" PRIu64 " hits/s asked: at most %" PRIu64, rate, s->asked_rate,
			s->armed_most);
	fprintf(out,
		" points armed at a time, %.0f armed/s, %.0f%% of them never hit, %.0f%% of a CPU to arm them, %.2f ms a "
		"stop; %s\n",
		per(s->planted, seconds), 100 * per(never, (double)s->planted), 100 * per(s->arming_ns, (double)s->sampling_ns),
		per(s->target.stopped_ns, (double)s->target.debug_exits) / 1e6, advice(s));
}

/* Say which sites were preferred, so that a reader does not take the run for a uniform sample. */
static void put_steered(FILE *out, const struct detect_stats *s)
{
	if (!s->steered)
		return;
	fprintf(out,
		"  steered       %" PRIu64 " of %" PRIu64
		" points were not chosen at random, but where code began to run or CPUs share "
		"memory: %" PRIu64 " of the hits, %" PRIu64 " of the windows, %" PRIu64 " of the conflicts; %" PRIu64
		" sites touched what another CPU touched, %" PRIu64 " got no more points after several conflicts\n",
		s->steered, s->planted, s->steered_hits, s->steered_windows, s->steered_conflicts, s->talking_sites,
		s->retired_sites);
}

static void put_stats(FILE *out, const struct detect_stats *s)
{
	double seconds = (double)s->sampling_ns / 1e9, windows = (double)s->windows;

	fprintf(out,
		"  sampling      %.1f s, %" PRIu64 " sites, %" PRIu64 " hits (%.1f/s), %" PRIu64 " windows (%.1f/s), %" PRIu64
		" conflicts\n",
		seconds, s->sites, s->hits, per(s->hits, seconds), s->windows, per(s->windows, seconds), s->conflicts);
	if (s->callees)
		fprintf(out,
			"  callees       %" PRIu64 " function%s added that the selected functions call; of %" PRIu64
			" hits in them %" PRIu64 " had another caller, and got no window\n",
			s->callees, s->callees == 1 ? "" : "s", s->callee_hits, s->skipped_caller);
	put_rate(out, s);
	put_cost(out, s);
	put_steered(out, s);
	fprintf(out, "  per window    %.2f exits, %.2f ioctls, %.2f kicks\n", per(s->target.exits, windows),
		per(s->target.ioctls, windows), per(s->target.kicks, windows));
	fprintf(out,
		"  no window     for %" PRIu64 " hits on the current stack, %" PRIu64 " without memory to watch, %" PRIu64
		" where a CPU may not be held, %" PRIu64
		" before increments of a count whose last user would not be seen to go, %" PRIu64
		" on a CPU that was held too long, %" PRIu64 " on the last CPU that was not held; %" PRIu64
		" sites passed over because hits near them open few windows, or because they had been tried\n",
		s->skipped_stack, s->skipped_memory, s->skipped_short, s->skipped_count, s->skipped_held, s->skipped_last,
		s->passed_over);
	fprintf(out,
		"  cut short     %" PRIu64 " windows because another context reached the instruction (%" PRIu64
		" times it was emulated instead), %" PRIu64 " because no other CPU ran, %" PRIu64
		" to hold the last CPU instead; %" PRIu64 " accesses not watched, or only in part\n",
		s->cut_short, s->emulated, s->cut_idle, s->cut_turn, s->no_watch);
	if (s->device_conflicts || s->ring_accesses)
		fprintf(out,
			"  devices       %" PRIu64 " of the conflicts with a device; %" PRIu64
			" accesses of devices to their own rings were made in a window, which is no race\n",
			s->device_conflicts, s->ring_accesses);
	if (s->device_windows)
		fprintf(out,
			"  held requests %" PRIu64 " requests of devices, for %.3f s in all; the memory of %" PRIu64
			" changed meanwhile, and no CPU was caught changing it\n",
			s->device_windows, (double)s->device_held_ns / 1e9, s->device_unseen);
	if (s->stacks)
		fprintf(out, "  stacks        %" PRIu64 " of %" PRIu64 " unwound to their beginning without a guess\n",
			s->stacks_unwound, s->stacks);
	if (s->refused || s->target.reinjected)
		fprintf(out,
			"  guest's own   %" PRIu64 " points not armed because the guest had changed its text, %" PRIu64
			" #BP and #DB of the guest reinjected\n",
			s->refused, s->target.reinjected);
	if (s->lost)
		fprintf(out, "  lost          %" PRIu64 " conflicts, which came faster than they could be reported\n", s->lost);
}

void text_summary(FILE *out, const struct race_store *store, const struct detect_stats *stats, const struct text_list *list,
		  const struct text_style *style)
{
	size_t n = race_store_count(store);

	fprintf(out, "%sSUMMARY%s  ", text_colour(style, TEXT_STRONG), text_colour(style, TEXT_PLAIN));
	/*
	 * Nothing was sampled: the kernel was not found, the module was never loaded, or the guest ended too soon. "No races"
	 * would then be misleading.
	 */
	if (stats && !stats->sampling_ns) {
		fputs("nothing was sampled: the run ended before the first point was armed\n", out);
		return;
	}
	if (n == 0)
		fputs("no races\n", out);
	else if (list)
		list->put(list->ctx, out);
	else
		put_table(out, store);
	if (stats)
		put_stats(out, stats);
}

static bool any_named(const struct race_store *store)
{
	for (size_t i = 0; i < race_store_count(store); i++) {
		const struct race_names *names = race_store_get(store, i)->names;

		if (names && names->count)
			return true;
	}
	return false;
}

void text_names(FILE *out, const struct race_store *store, const struct debug_images *images)
{
	unsigned found = 0, asked = 0;

	if (images)
		debug_images_used(images, &found, &asked);
	fputs("  names         ", out);
	if (found == 0 && any_named(store))
		fputs("debug files, where the report was made\n", out);
	else if (found == 0)
		fputs("the guest's own tables: functions and variables; debug files (--symbols PATH) add lines and types\n",
		      out);
	else if (found < asked)
		fprintf(out, "debug files of the kernel and its modules, %u of %u asked for; else the guest's own tables\n",
			found, asked);
	else
		fputs("debug files of the kernel and its modules\n", out);
}
