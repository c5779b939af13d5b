/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots as inline SVG, drawn in units that fit a phone and stretched by the page to the width that it has. Only
 * hv/campaign/list/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_PLOT_H
#define OUTRIDER_CAMPAIGN_LIST_PLOT_H

#include <stdio.h>

/* Both axes begin at 0. */
struct plot {
	FILE *out;
	double x_max, y_max; /* What the ends of the axes stand for, above 0. */
};

/*
 * Begin a figure: its title, and a sentence for readers who cannot see it. `x_most` and `y_most` are the largest values that
 * are drawn; the axes end at a round number at or behind them. Both texts are ours.
 */
struct plot plot_begin(FILE *out, const char *title, const char *says, double x_most, double y_most);

/* Draw the lines and numbers of the y axis; a number is followed by `unit`. */
void plot_y_axis(const struct plot *p, const char *unit);

/* Draw the numbers of an x axis that is measured, with `name` under it. */
void plot_x_axis(const struct plot *p, const char *name);

/* Write the name of the x axis under it. */
void plot_x_name(const struct plot *p, const char *name);

/* The place of a value on the drawing. */
double plot_x(const struct plot *p, double value);
double plot_y(const struct plot *p, double value);

/* Write one number under the x axis, at the place `at` of the drawing. */
void plot_x_label(const struct plot *p, double at, unsigned number);

/* A bar of the values `from` to `to` whose middle is at the place `at`. What is 0 high is not drawn. */
void plot_bar(const struct plot *p, const char *class, double at, double width, double from, double to);

/* A dot with a text for a reader who points at it. */
void plot_dot(const struct plot *p, const char *class, double x, double y, const char *says);

/* Where a plot with `count` bars side by side has the middle of bar `i`, and how wide a bar is. */
double plot_bar_middle(size_t i, size_t count);
double plot_bar_width(size_t count);

/* End the drawing. What follows, until "</figure>", is the caller's. */
void plot_end(const struct plot *p);

#endif
