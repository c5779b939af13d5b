// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the plots of a campaign's HTML page: races, pairs of racing sites, sampled sites, and overhead. */
#include "hv/campaign/list/html.h"

#include "hv/campaign/list/plot.h"
#include "hv/campaign/list/sentences.h"

/* Number of bars that fit next to each other. The plot shows only the latest rounds. */
#define BARS_MAX 30
#define LABELS_MAX 10

/*
 * Write the round's number below bar `i` of `count` bars. Only every few bars get a number, so that the numbers do not overlap.
 */
static void put_round_label(const struct plot *p, size_t i, size_t count, unsigned number)
{
	size_t each = (count + LABELS_MAX - 1) / LABELS_MAX;

	if ((count - 1 - i) % each == 0)
		plot_x_label(p, plot_bar_middle(i, count), number);
}

static const struct summary_round *last_rounds(const struct summary *m, size_t *count)
{
	*count = m->round_count < BARS_MAX ? m->round_count : BARS_MAX;
	return m->rounds + m->round_count - *count;
}

/*
 * Draw a bar for each round with put(), whose argument `at` is the x coordinate of the bar's middle, and write rounds' numbers
 * below the bars.
 */
static void put_bars(const struct plot *p, const struct summary_round *rounds, size_t count,
		     void (*put)(const struct plot *p, const struct summary_round *r, double at, double width))
{
	for (size_t i = 0; i < count; i++) {
		put(p, &rounds[i], plot_bar_middle(i, count), plot_bar_width(count));
		put_round_label(p, i, count, rounds[i].number);
	}
}

static double largest(double a, double b)
{
	return a > b ? a : b;
}

/* ---- races over rounds ---- */

/*
 * Draw the bar of one round, centred at the x coordinate `at`: a piece for each class of races. The most serious class is at
 * the bottom, where its height is easy to read.
 */
static void put_races_bar(const struct plot *p, const struct summary_round *r, double at, double width)
{
	unsigned harmful = r->of_class[SUMMARY_HARMFUL],
		 open = harmful + r->of_class[SUMMARY_UNCLEAR] + r->of_class[SUMMARY_UNJUDGED];

	fprintf(p->out, "<g><title>Round %u: %u races, %u of them harmful candidates, %u undecided; %u new</title>", r->number,
		r->races, harmful, open - harmful, r->fresh);
	plot_bar(p, "bad", at, width, 0, harmful);
	plot_bar(p, "open", at, width, harmful, open);
	plot_bar(p, "old", at, width, open, r->races);
	fputs("</g>", p->out);
}

/* Draw a line over the bars, with a dot in the middle of each bar: the number of new races of each of the `count` rounds. */
static void put_fresh(const struct plot *p, const struct summary_round *rounds, size_t count)
{
	char says[64];

	fputs("<path class=\"main\" d=\"", p->out);
	for (size_t i = 0; i < count; i++)
		fprintf(p->out, "%c%.1f %.1f", i ? 'L' : 'M', plot_bar_middle(i, count), plot_y(p, rounds[i].fresh));
	fputs("\"/>", p->out);
	for (size_t i = 0; i < count; i++) {
		snprintf(says, sizeof(says), "Round %u: %u new races", rounds[i].number, rounds[i].fresh);
		plot_dot(p, "main", plot_bar_middle(i, count), plot_y(p, rounds[i].fresh), says);
	}
}

static void plot_races(FILE *out, const struct summary *m)
{
	size_t count;
	const struct summary_round *rounds = last_rounds(m, &count);
	double most = 1;
	struct plot p;

	for (size_t i = 0; i < count; i++)
		most = largest(most, rounds[i].races);
	p = plot_begin(out, "Races over rounds", "How many races each round saw of each verdict, and how many of them were new",
		       1, most);
	plot_y_axis(&p, "races", "");
	put_bars(&p, rounds, count, put_races_bar);
	put_fresh(&p, rounds, count);
	plot_x_name(&p, "round");
	plot_end(&p);
	fputs("<p><span class=\"key bad\"></span>harmful candidates<span class=\"key open\"></span>unclear<span class=\"key "
	      "old\"></span>likely no bugs<span class=\"key line\"></span>new</p></figure>\n",
	      out);
}

/* ---- coverage over time ---- */

static double sites_of(const struct summary_point *p)
{
	return (double)p->sites;
}

static double pairs_of(const struct summary_point *p)
{
	return (double)p->pairs;
}

static double estimate_of(const struct summary_point *p)
{
	return p->estimate;
}

/* Unit of the time axis: hours if the axis has two hours or more, otherwise minutes. */
struct unit {
	double ns;
	const char *name;
};

static struct unit unit_of(const struct summary *m)
{
	uint64_t ns = m->point_count ? m->points[m->point_count - 1].sampled_ns : 0;

	return ns >= UINT64_C(7200000000000) ? (struct unit){3.6e12, "hours of sampling"}
					     : (struct unit){6e10, "minutes of sampling"};
}

/*
 * Draw the line of one value over time: value() reads it from a point. The line of a count begins at the origin, and that of an
 * estimate at its first value above 0.
 */
static void put_line(const struct plot *p, const struct summary *m, struct unit unit, const char *class,
		     double (*value)(const struct summary_point *p))
{
	bool begun = value != estimate_of;

	fprintf(p->out, "<path class=\"%s\" d=\"", class);
	if (begun)
		fprintf(p->out, "M%.1f %.1f", plot_x(p, 0), plot_y(p, 0));
	for (size_t i = 0; i < m->point_count; i++) {
		if (!(value(&m->points[i]) > 0))
			continue;
		fprintf(p->out, "%c%.1f %.1f", begun ? 'L' : 'M', plot_x(p, (double)m->points[i].sampled_ns / unit.ns),
			plot_y(p, value(&m->points[i])));
		begun = true;
	}
	fputs("\"/>", p->out);
}

/*
 * Draw a dot of the value that value() reads, at the end of each round. The dot's tooltip says "After round N: VALUE" and
 * `what`.
 */
static void put_dots(const struct plot *p, const struct summary *m, struct unit unit, const char *class,
		     double (*value)(const struct summary_point *p), const char *what)
{
	char says[96];

	for (size_t i = 0; i < m->point_count; i++) {
		if (!(value(&m->points[i]) > 0) || (i + 1 < m->point_count && m->points[i + 1].round == m->points[i].round))
			continue;
		snprintf(says, sizeof(says), "After round %u: %.0f %s", m->points[i].round, value(&m->points[i]), what);
		plot_dot(p, class, plot_x(p, (double)m->points[i].sampled_ns / unit.ns), plot_y(p, value(&m->points[i])), says);
	}
}

static double all_time(const struct summary *m, struct unit unit)
{
	double time = m->point_count ? (double)m->points[m->point_count - 1].sampled_ns / unit.ns : 0;

	return time > 0 ? time : 1;
}

/* Returns the largest value of all points. */
static double largest_of(const struct summary *m, double (*value)(const struct summary_point *p))
{
	double most = 0;

	for (size_t i = 0; i < m->point_count; i++)
		most = largest(most, value(&m->points[i]));
	return most;
}

/*
 * The y axis is logarithmic if an estimate is more than this many times the number of pairs that were seen. On a linear axis,
 * the curve of the pairs that were seen would then lie on the x axis. The first estimates of a campaign can be many times too
 * large.
 */
#define LOG_FROM 5

static void plot_pairs(FILE *out, const struct summary *m)
{
	static const char title[] = "Pairs of sites that raced";
	static const char says[] =
		"How many pairs of sites raced by the end of each round, and the estimate of how many there are";
	double seen = largest_of(m, pairs_of), guess = largest_of(m, estimate_of), most = largest(1, largest(seen, guess));
	struct unit unit = unit_of(m);
	struct plot p;

	if (!(seen > 0)) {
		plot_nothing(out, title, "no run saw a race");
		return;
	}
	p = guess > LOG_FROM * seen ? plot_begin_log(out, title, says, all_time(m, unit), most)
				    : plot_begin(out, title, says, all_time(m, unit), most);
	plot_y_axis(&p, "pairs of sites", "");
	plot_x_axis(&p, unit.name);
	put_line(&p, m, unit, "guess", estimate_of);
	put_line(&p, m, unit, "main", pairs_of);
	put_dots(&p, m, unit, "guess", estimate_of, "pairs estimated");
	put_dots(&p, m, unit, "main", pairs_of, "pairs seen");
	plot_end(&p);
	fputs("<p><span class=\"key main\"></span>seen", out);
	if (guess > 0)
		fputs("<span class=\"key guess\"></span>so many would be seen at least if such runs went on (Chao1 estimate)",
		      out);
	else
		fputs("; no estimate yet: it needs two runs that sampled", out);
	fputs("</p></figure>\n", out);
}

static void plot_sites(FILE *out, const struct summary *m)
{
	struct unit unit = unit_of(m);
	double most = largest_of(m, sites_of);
	struct plot p;

	if (!(most > 0)) {
		plot_nothing(out, "Coverage", "no run left coverage with a site that was hit");
		return;
	}
	p = plot_begin(out, "Coverage", "How many sites were hit by the end of each round", all_time(m, unit), most);
	plot_y_axis(&p, "sites hit", "");
	plot_x_axis(&p, unit.name);
	put_line(&p, m, unit, "main", sites_of);
	put_dots(&p, m, unit, "main", sites_of, "sites hit");
	plot_end(&p);
	fputs("<p><span class=\"key main\"></span>sites hit at least once", out);
	if (m->pool)
		fprintf(out, ", of %s that can be sampled", list_number(m->pool, LIST_WORDS));
	fputs("</p></figure>\n", out);
}

/* ---- overhead ---- */

static void put_lost_bar(const struct plot *p, const struct summary_round *r, double at, double width)
{
	double mean = r->lost_permille / 10.0, worst = r->lost_most / 10.0;

	if (r->lost_permille < 0)
		return;
	fprintf(p->out, "<g><title>Round %u: %.1f %%, at most %.1f %%</title>", r->number, mean, worst);
	plot_bar(p, "fresh", at, width, 0, mean);
	plot_bar(p, "old", at, width, mean, worst);
	fputs("</g>", p->out);
}

/*
 * Plot the share of the time for which CPUs were stopped. If no run reports this share, write a sentence instead of the plot:
 * runs that attached to a machine of another VMM cannot measure the share.
 */
static void plot_lost(FILE *out, const struct summary *m)
{
	size_t count;
	const struct summary_round *rounds = last_rounds(m, &count);
	bool known = false;
	double most = 1;
	struct plot p;

	for (size_t i = 0; i < count; i++)
		known |= rounds[i].lost_permille >= 0;
	if (!known) {
		plot_nothing(out, "Overhead", "no run reports for how long CPUs were stopped");
		return;
	}
	for (size_t i = 0; i < count; i++)
		most = largest(most, largest(rounds[i].lost_permille, rounds[i].lost_most) / 10.0);
	p = plot_begin(out, "Overhead", "The share of the time for which CPUs were stopped in each round", 1, most);
	plot_y_axis(&p, "time that CPUs were stopped", "%");
	put_bars(&p, rounds, count, put_lost_bar);
	plot_x_name(&p, "round");
	plot_end(&p);
	fputs("<p><span class=\"key fresh\"></span>of the time CPUs were stopped<span class=\"key old\"></span>in the worst "
	      "run</p></figure>\n",
	      out);
}

void list_html_plots(FILE *out, const struct summary *m)
{
	if (!m->round_count)
		return;
	fputs("<div class=\"plots\">\n", out);
	plot_races(out, m);
	plot_pairs(out, m);
	plot_sites(out, m);
	plot_lost(out, m);
	fputs("</div>\n", out);
}
