// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws plots with axes as inline SVG, for the HTML page of a campaign. */
#include "hv/campaign/list/plot.h"

#include <math.h>
#include <stddef.h>

/* Size of the drawing, and the edges of the area between the axes, in SVG units. */
#define WIDTH 400.0
#define HEIGHT 220.0
#define LEFT 60.0 /* x of the y axis; the axis's numbers and name are to its left */
#define NAME_X 12.0
#define RIGHT 388.0
#define TOP 12.0
#define BOTTOM 178.0

#define STEPS 5 /* maximum number of steps of an axis */

/*
 * Returns the smallest step of 1, 2, 5, 10, 20, ... that divides an axis up to `most` into at most STEPS steps. Counts need no
 * step below 1.
 */
static double step_of(double most)
{
	static const double of_ten[] = {1, 2, 5};

	for (double ten = 1; ten < 1e18; ten *= 10) {
		for (size_t i = 0; i < sizeof(of_ten) / sizeof(of_ten[0]); i++) {
			if (of_ten[i] * ten * STEPS >= most)
				return of_ten[i] * ten;
		}
	}
	return most;
}

/* Returns the first multiple of step_of(most) that is not less than `most`: the value at the end of an axis. */
static double end_of(double most)
{
	double step = step_of(most), end = step;

	while (end < most)
		end += step;
	return end;
}

/* Write a number in short form: "40k". */
static void put_number(FILE *out, double value)
{
	if (value >= 1e6)
		fprintf(out, "%gM", value / 1e6);
	else if (value >= 1e4)
		fprintf(out, "%gk", value / 1e3);
	else
		fprintf(out, "%g", value);
}

double plot_x(const struct plot *p, double value)
{
	return LEFT + (RIGHT - LEFT) * value / p->x_max;
}

double plot_y(const struct plot *p, double value)
{
	if (p->log_y)
		return BOTTOM - (BOTTOM - TOP) * log10(value > 1 ? value : 1) / log10(p->y_max);
	return BOTTOM - (BOTTOM - TOP) * value / p->y_max;
}

static void begin(FILE *out, const char *title, const char *says)
{
	fprintf(out,
		"<figure><figcaption>%s</figcaption>\n<svg class=\"plot\" viewBox=\"0 0 %g %g\" role=\"img\" "
		"aria-label=\"%s\">",
		title, WIDTH, HEIGHT, says);
}

struct plot plot_begin(FILE *out, const char *title, const char *says, double x_most, double y_most)
{
	struct plot p = {.out = out, .x_max = end_of(x_most), .y_max = end_of(y_most)};

	begin(out, title, says);
	return p;
}

/* Returns the first of 10, 20, 50, 100, 200, ... that is not less than `most`. */
static double log_end_of(double most)
{
	double end = 10;

	/* Multiply in turn by 2 (from 10 to 20), by 2.5 (from 20 to 50) and by 2 (from 50 to 100). */
	for (unsigned i = 0; end < most && end < 1e18; i++)
		end *= i % 3 == 1 ? 2.5 : 2;
	return end;
}

struct plot plot_begin_log(FILE *out, const char *title, const char *says, double x_most, double y_most)
{
	struct plot p = {.out = out, .x_max = end_of(x_most), .y_max = log_end_of(y_most), .log_y = true};

	begin(out, title, says);
	return p;
}

void plot_nothing(FILE *out, const char *title, const char *why)
{
	fprintf(out, "<figure><figcaption>%s</figcaption>\n<p class=\"nothing\">No data: %s.</p></figure>\n", title, why);
}

void plot_end(const struct plot *p)
{
	fputs("</svg>\n", p->out);
}

static void put_y_number(const struct plot *p, double value, const char *unit)
{
	fprintf(p->out, "<path class=\"grid\" d=\"M%g %.1fH%g\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">", LEFT,
		plot_y(p, value), RIGHT, LEFT - 6, plot_y(p, value) + 4);
	put_number(p->out, value);
	fprintf(p->out, "%s</text>", unit);
}

void plot_y_axis(const struct plot *p, const char *name, const char *unit)
{
	double step = step_of(p->y_max), middle = (TOP + BOTTOM) / 2;

	for (double v = 1; p->log_y && v <= p->y_max; v *= 10)
		put_y_number(p, v, unit);
	for (double v = 0; !p->log_y && v <= p->y_max; v += step)
		put_y_number(p, v, unit);
	fprintf(p->out, "<text class=\"name\" transform=\"translate(%g %g) rotate(-90)\" text-anchor=\"middle\">%s%s</text>",
		NAME_X, middle, name, p->log_y ? ", logarithmic" : "");
}

void plot_x_name(const struct plot *p, const char *name)
{
	fprintf(p->out, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>", (LEFT + RIGHT) / 2, BOTTOM + 35, name);
}

void plot_x_axis(const struct plot *p, const char *name)
{
	double step = step_of(p->x_max);

	for (double v = 0; v <= p->x_max; v += step) {
		fprintf(p->out, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">", plot_x(p, v), BOTTOM + 17);
		put_number(p->out, v);
		fputs("</text>", p->out);
	}
	plot_x_name(p, name);
}

void plot_x_label(const struct plot *p, double at, unsigned number)
{
	fprintf(p->out, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%u</text>", at, BOTTOM + 17, number);
}

double plot_bar_middle(size_t i, size_t count)
{
	return LEFT + (RIGHT - LEFT) * ((double)i + 0.5) / (double)count;
}

double plot_bar_width(size_t count)
{
	double width = (RIGHT - LEFT) / (double)count * 0.7;

	return width > 40 ? 40 : width;
}

void plot_bar(const struct plot *p, const char *class, double at, double width, double from, double to)
{
	if (to > from)
		fprintf(p->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", class,
			at - width / 2, plot_y(p, to), width, plot_y(p, from) - plot_y(p, to));
}

void plot_dot(const struct plot *p, const char *class, double x, double y, const char *says)
{
	fprintf(p->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>%s</title></circle>", class, x, y, says);
}
