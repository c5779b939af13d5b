// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the events around a race. Places along the time are percentages of the drawing's width, and everything else is in
 * pixels, so that the text stays readable on every screen. From left to right there are three zones: what came before the
 * window, the window as a scale of time, and what came after the conflict. Only the zone in the middle has a scale.
 *
 * A number stands for each event, and the list below the drawing has the same numbers. Where events are close to each other,
 * their numbers move apart, and a line leads from each number to its event's time. Each CPU, and each device, has a lane: a
 * horizontal line with its events.
 */
#include <inttypes.h>

#include "hv/export/html.h"
#include "hv/report/timeline.h"

/* Where the zone with the scale of time begins (SCALE_FROM) and ends (SCALE_TO), in percent of the drawing's width. */
#define SCALE_FROM 13.0
#define SCALE_TO 80.0
/*
 * In percent of the drawing's width: the least distance of two numbers of a lane, and the first and last place that a number
 * can have. A number is 20 px wide, and the drawing at least 320 px.
 */
#define NUMBER_GAP 7.0
#define NUMBER_MIN 3.5
#define NUMBER_MAX 96.5
/* Heights of a lane and of the scale, and places in a lane from its top, in pixels. */
#define LANE_HEIGHT 66
#define LANE_TEXT 14   /* the baseline of the lane's name: the line on which its letters stand */
#define LANE_NUMBER 34 /* the centre of the numbers */
#define LANE_LINE 56   /* the horizontal line with the lane's events */
#define AXIS_HEIGHT 22

/* One number in the drawing. */
struct mark {
	/* Index of the event. */
	unsigned event;
	/* In percent of the drawing's width: `place` is where the event is drawn, and `number` where its number is. */
	double place, number;
};

static double place_of(const struct timeline *t, uint64_t ns)
{
	double whole = t->end_ns ? (double)t->end_ns : 1;

	return SCALE_FROM + (double)ns / whole * (SCALE_TO - SCALE_FROM);
}

/*
 * Returns where an event is drawn. If only the order of an event is known, and not its time, the event is drawn in the middle
 * of the range in which it happened.
 */
static double event_place(const struct timeline *t, const struct timeline_event *e)
{
	switch (e->when) {
	case TIMELINE_AT:
	case TIMELINE_SPAN:
		break;
	case TIMELINE_BEFORE:
		return (e->to_ns ? place_of(t, e->to_ns) : SCALE_FROM) / 2;
	case TIMELINE_BETWEEN:
		return (place_of(t, e->from_ns) + place_of(t, e->to_ns)) / 2;
	case TIMELINE_AFTER:
		return SCALE_TO + NUMBER_GAP;
	}
	return place_of(t, e->from_ns);
}

/*
 * Find the marks of the lane `lane`, in the order of the events, and move their numbers so far apart that none covers another.
 * Returns the number of marks.
 */
static unsigned find_marks(const struct timeline *t, unsigned lane, struct mark marks[TIMELINE_EVENTS_MAX])
{
	double least = NUMBER_MIN, most = NUMBER_MAX;
	unsigned n = 0;

	for (unsigned i = 0; i < t->count; i++) {
		if (t->events[i].lane == lane)
			marks[n++] = (struct mark){.event = i, .place = event_place(t, &t->events[i])};
	}
	for (unsigned i = 0; i < n; i++) {
		marks[i].number = marks[i].place > least ? marks[i].place : least;
		least = marks[i].number + NUMBER_GAP;
	}
	for (unsigned i = n; i-- > 0; most = marks[i].number - NUMBER_GAP) {
		if (marks[i].number > most)
			marks[i].number = most;
	}
	return n;
}

static void put_line(FILE *out, const char *class, double x1, double y1, double x2, double y2)
{
	fprintf(out, "<line class=\"%s\" x1=\"%.2f%%\" y1=\"%.0f\" x2=\"%.2f%%\" y2=\"%.0f\"/>", class, x1, y1, x2, y2);
}

static void put_mark(FILE *out, const struct timeline *t, const struct mark *mark, unsigned top)
{
	const struct timeline_event *e = &t->events[mark->event];
	bool timed = timeline_timed(e);

	if (timed)
		put_line(out, "lead", mark->number, top + LANE_NUMBER + 10, mark->place, top + LANE_LINE);
	fprintf(out,
		"<circle class=\"%s\" cx=\"%.2f%%\" cy=\"%u\" r=\"9\"/><text class=\"number\" x=\"%.2f%%\" y=\"%u\">%u</text>",
		timed ? "mark" : "mark order", mark->number, top + LANE_NUMBER, mark->number, top + LANE_NUMBER + 4,
		mark->event + 1);
	if (e->kind == TIMELINE_MET && timed)
		fprintf(out, "<circle class=\"met\" cx=\"%.2f%%\" cy=\"%u\" r=\"5\"/>", mark->place, top + LANE_LINE);
	else if (timed && e->when != TIMELINE_SPAN)
		put_line(out, "tick", mark->place, top + LANE_LINE - 5, mark->place, top + LANE_LINE + 5);
}

/* If only the order of an event is known, and not its time, draw the range in which it happened. */
static void put_range(FILE *out, const struct timeline *t, const struct timeline_event *e, unsigned y)
{
	switch (e->when) {
	case TIMELINE_AT:
	case TIMELINE_SPAN:
		break;
	case TIMELINE_BEFORE:
		put_line(out, "range", 0, y, e->to_ns ? place_of(t, e->to_ns) : SCALE_FROM, y);
		break;
	case TIMELINE_BETWEEN:
		put_line(out, "range", place_of(t, e->from_ns), y, place_of(t, e->to_ns), y);
		break;
	case TIMELINE_AFTER:
		put_line(out, "range", SCALE_TO, y, 100, y);
		break;
	}
}

static void put_returns(FILE *out, const struct race *race, const struct timeline *t, unsigned y)
{
	uint64_t ns[RACE_RETURNS_MAX];
	unsigned n = timeline_returns(race, t, ns);

	for (unsigned i = 0; i < n; i++)
		put_line(out, "tick", place_of(t, ns[i]), y - 5, place_of(t, ns[i]), y + 5);
}

static void put_lane(FILE *out, const struct race *race, const struct timeline *t, unsigned lane)
{
	struct mark marks[TIMELINE_EVENTS_MAX];
	unsigned n = find_marks(t, lane, marks), top = lane * LANE_HEIGHT;
	char name[TIMELINE_LANE_MAX];

	timeline_lane(race, t, lane, name);
	fprintf(out, "<text class=\"lane\" x=\"0\" y=\"%u\">", top + LANE_TEXT);
	html_text(out, name);
	fputs("</text>", out);
	put_line(out, "lane", 0, top + LANE_LINE, 100, top + LANE_LINE);
	for (unsigned i = 0; i < n; i++)
		put_range(out, t, &t->events[marks[i].event], top + LANE_LINE);
	if (lane == 0 && t->held) {
		put_line(out, "held", SCALE_FROM, top + LANE_LINE, SCALE_TO, top + LANE_LINE);
		put_returns(out, race, t, top + LANE_LINE);
	}
	for (unsigned i = 0; i < n; i++)
		put_mark(out, t, &marks[i], top);
}

/*
 * Draw the scale: a vertical line at each end, through all lanes, and below the lanes the times of both ends and the words
 * "before" and "after". If t->held is false, the scale has no right end.
 */
static void put_axis(FILE *out, const struct timeline *t)
{
	unsigned bottom = t->lane_count * LANE_HEIGHT, y = bottom + AXIS_HEIGHT - 6;

	fprintf(out, "<text class=\"axis\" x=\"0\" y=\"%u\">before</text>", y);
	fprintf(out, "<text class=\"axis\" x=\"99.5%%\" y=\"%u\" text-anchor=\"end\">after</text>", y);
	put_line(out, "limit", SCALE_FROM, LANE_TEXT + 6, SCALE_FROM, bottom + 2);
	fprintf(out, "<text class=\"axis\" x=\"%.2f%%\" y=\"%u\">0</text>", SCALE_FROM, y);
	if (!t->held)
		return;
	put_line(out, "limit", SCALE_TO, LANE_TEXT + 6, SCALE_TO, bottom + 2);
	fprintf(out, "<text class=\"axis\" x=\"%.2f%%\" y=\"%u\" text-anchor=\"end\">%.3f ms</text>", SCALE_TO, y,
		(double)t->end_ns / 1e6);
}

static void put_event(FILE *out, const struct race *race, const struct timeline *t, const struct timeline_event *e)
{
	char when[TIMELINE_WHEN_MAX], text[TIMELINE_TEXT_MAX];

	timeline_when(e, when);
	timeline_text(race, t, e, text);
	fprintf(out, "<li%s><span class=\"when\">%s</span> <span>", timeline_timed(e) ? "" : " class=\"order\"", when);
	html_text(out, text);
	fputs("</span></li>\n", out);
}

/* Write all events as text, for screen readers and wherever else the drawing cannot be seen. */
static void put_description(FILE *out, const struct race *race, const struct timeline *t)
{
	char when[TIMELINE_WHEN_MAX], text[TIMELINE_TEXT_MAX];

	for (unsigned i = 0; i < t->count; i++) {
		timeline_when(&t->events[i], when);
		timeline_text(race, t, &t->events[i], text);
		fprintf(out, "%u, %s%s: ", i + 1, when, timeline_timed(&t->events[i]) ? "" : ", order only");
		html_text(out, text);
		fputs(". ", out);
	}
}

static void put_drawing(FILE *out, const struct race *race, const struct timeline *t)
{
	fprintf(out,
		"<svg height=\"%u\" role=\"img\" aria-labelledby=\"timeline-%s-title\" aria-describedby=\"timeline-%s-desc\">"
		"<title id=\"timeline-%s-title\">Timeline of the first instance</title><desc id=\"timeline-%s-desc\">",
		t->lane_count * LANE_HEIGHT + AXIS_HEIGHT, race->id, race->id, race->id, race->id);
	put_description(out, race, t);
	fputs("</desc>\n", out);
	put_axis(out, t);
	for (unsigned i = 0; i < t->lane_count; i++)
		put_lane(out, race, t, i);
	fputs("</svg>\n", out);
}

void html_timeline(FILE *out, const struct race *race)
{
	struct timeline t;
	bool order = false;

	timeline_make(race, &t);
	fputs("<h3>Timeline of the first instance</h3>\n<div class=\"timeline\">\n", out);
	put_drawing(out, race, &t);
	fputs("<ol>\n", out);
	for (unsigned i = 0; i < t.count; i++) {
		order |= !timeline_timed(&t.events[i]);
		put_event(out, race, &t, &t.events[i]);
	}
	fputs("</ol>\n</div>\n", out);
	if (order)
		fputs("<p class=\"faint\">A dashed number or line shows only the order of events: their times were not "
		      "recorded.</p>\n",
		      out);
}
