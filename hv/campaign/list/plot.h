/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws plots as inline SVG. The drawing has a fixed size, which fits a phone, and a browser scales the drawing to the width of
 * the page. Only hv/campaign/list/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_PLOT_H
#define OUTRIDER_CAMPAIGN_LIST_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* A plot whose axes both begin at 0, or whose y axis is logarithmic and begins at 1. */
struct plot {
	FILE *out;
	double x_max, y_max; /* values at the ends of the axes, above 0 */
	bool log_y;
};

/*
 * Begin a figure with a title, and a description for screen readers. `x_most` and `y_most` are the largest values to draw; each
 * axis ends at the next round number, so nothing is cut off. The texts are written as they are, so the caller must escape them.
 */
struct plot plot_begin(FILE *out, const char *title, const char *says, double x_most, double y_most);

/* Begin a figure as plot_begin() does, but with a logarithmic y axis. Values below 1 are drawn at the axis's lower end. */
struct plot plot_begin_log(FILE *out, const char *title, const char *says, double x_most, double y_most);

/*
 * Write a whole figure without a drawing, which says why there is none. The texts are written as they are, so the caller must
 * escape them.
 */
void plot_nothing(FILE *out, const char *title, const char *why);

/*
 * Draw the lines and numbers of the y axis, and its name along it. Each number is followed by `unit`. If the axis is
 * logarithmic, the name says so.
 */
void plot_y_axis(const struct plot *p, const char *name, const char *unit);

/* Draw the numbers of a continuous x axis, and `name` below it. */
void plot_x_axis(const struct plot *p, const char *name);

/* Write the name of the x axis below it. */
void plot_x_name(const struct plot *p, const char *name);

/*
 * plot_x() returns the x coordinate of a value on the x axis, and plot_y() the y coordinate of a value on the y axis, in SVG
 * units.
 */
double plot_x(const struct plot *p, double value);
double plot_y(const struct plot *p, double value);

/* Write one number below the x axis, at the x coordinate `at`. */
void plot_x_label(const struct plot *p, double at, unsigned number);

/* Draw a bar from the value `from` to the value `to`, centred at the x coordinate `at`. A bar of height 0 is not drawn. */
void plot_bar(const struct plot *p, const char *class, double at, double width, double from, double to);

/* Draw a dot at the coordinates `x` and `y`, with the tooltip `says`. */
void plot_dot(const struct plot *p, const char *class, double x, double y, const char *says);

/*
 * For a plot with `count` bars, plot_bar_middle() returns the x coordinate of the middle of bar `i`, counted from 0, and
 * plot_bar_width() the width of a bar, in SVG units.
 */
double plot_bar_middle(size_t i, size_t count);
double plot_bar_width(size_t count);

/* End the drawing. The caller writes the rest of the figure, up to "</figure>". */
void plot_end(const struct plot *p);

#endif
