/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The governor (governor.h) keeps the cost of sampling at a share of the CPUs' time. The credit is the CPU time that windows
 * may take now: it grows with time, by the share, and falls by what sampling costs.
 */
#include "hv/detect/steer/governor.h"

/* Upper bound of the credit: what the share adds to it in 1 s, or what 4 windows cost, whichever is more. */
#define SAVED_NS 1e9
#define SAVED_WINDOWS 4.0
/* The upper bound of the credit is never more than what the share adds to it in 10 s. */
#define SAVED_MOST_NS 10e9
/* governor_in_debt() is true if the credit is below 0, and needs more than 1 s to rise above 0 again. */
#define DEBT_NS 1e9
/* The average cost of a hit covers about the last 16 useful hits, that is, hits that were not refused for lack of credit. */
#define MEMORY 16.0
/*
 * Bounds of the surplus: the number of hits to provoke for each hit that the credit pays for. Hits come at random times.
 * Without a surplus the credit would often be at its upper bound, and what the share adds to it then is forfeited.
 */
#define SURPLUS_LEAST 1.5
#define SURPLUS_MOST 4.0
/* If more than this share of hits is refused, lower the surplus. */
#define REFUSED_MOST 0.4
/* Largest relative change of the surplus, per second. */
#define SURPLUS_SPEED 0.5
/* Lower bound of the rate, in hits/s. Without any hit the governor would not learn what a hit costs. */
#define LEAST_RATE 0.05

static double earned_in(const struct governor *g, double ns)
{
	return g->config.share * g->config.cpus * ns;
}

static double most_saved(const struct governor *g)
{
	double most = SAVED_WINDOWS * (double)g->config.window_ns, least = earned_in(g, SAVED_NS),
	       limit = earned_in(g, SAVED_MOST_NS);

	if (most < least)
		most = least;
	return most < limit ? most : limit;
}

static double bounded(double value, double least, double most)
{
	if (value < least)
		return least;
	return value > most ? most : value;
}

static double grown(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

static void set_rate(struct governor *g)
{
	double rate = g->surplus * earned_in(g, 1e9) * g->useful / g->cost_ns;

	g->rate = bounded(rate, LEAST_RATE, g->config.most_rate);
}

bool governor_in_debt(const struct governor *g)
{
	return g->allowance.credit_ns < -earned_in(g, DEBT_NS);
}

void governor_init(struct governor *g, const struct governor_config *config, const struct governor_sample *first)
{
	*g = (struct governor){.config = *config, .last = *first, .useful = 1, .surplus = SURPLUS_LEAST};
	g->cost_ns = config->window_ns ? (double)config->window_ns : 1;
	g->allowance =
		(struct allowance){.share = config->share * config->cpus, .most_ns = most_saved(g), .last_ns = first->now_ns};
	set_rate(g);
}

/*
 * g->cost_ns / g->useful is the average cost of a useful hit. `cost_ns` never becomes 0, because the first guess decays but
 * never vanishes.
 */
static void learn_cost(struct governor *g, double cost, double useful)
{
	double kept = MEMORY / (MEMORY + useful);

	g->cost_ns = g->cost_ns * kept + cost;
	g->useful = g->useful * kept + useful;
}

/* Raise g->surplus when credit is forfeited although there are useful hits. Lower g->surplus when too many hits are refused. */
static void adapt_surplus(struct governor *g, double seconds, double forfeited, double hits, double refused)
{
	double earned = earned_in(g, seconds * 1e9);

	if (hits > 0 && refused > REFUSED_MOST * hits)
		g->surplus *= 1 - bounded(SURPLUS_SPEED * seconds, 0, 0.5);
	else if (g->useful > 1 && earned > 0)
		g->surplus *= 1 + bounded(SURPLUS_SPEED * seconds, 0, 0.5) * bounded(forfeited / earned, 0, 1);
	g->surplus = bounded(g->surplus, SURPLUS_LEAST, SURPLUS_MOST);
}

void governor_step(struct governor *g, const struct governor_sample *sample)
{
	double cost = grown(sample->lost_ns, g->last.lost_ns), hits = grown(sample->hits, g->last.hits);
	double refused = bounded(grown(sample->refused, g->last.refused), 0, hits);
	double seconds = grown(sample->now_ns, g->last.now_ns) / 1e9, forfeited;

	allowance_spend(&g->allowance, cost);
	forfeited = allowance_earn(&g->allowance, sample->now_ns);
	learn_cost(g, cost, hits - refused);
	adapt_surplus(g, seconds, forfeited, hits, refused);
	set_rate(g);
	g->last = *sample;
}
