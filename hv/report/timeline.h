/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events around the first observation of a race, in their order, as far as the record has them. No time is guessed: an
 * event whose time was not recorded has only the limits that follow from the record, and its place in the order.
 *
 * All times are nanoseconds from the opening of the window. As everywhere in a report, the locks of a side are those of the
 * first instance with known locks.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_REPORT_TIMELINE_H
#define OUTRIDER_REPORT_TIMELINE_H

#include "hv/race/race.h"
#include "hv/report/lock_words.h"

enum timeline_kind {
	/* The side has taken the locks that it holds at its access. */
	TIMELINE_LOCKS_TAKEN,
	/* The device has taken the request, and is held; the window opens (RACE_BY_DEVICE_WINDOW). */
	TIMELINE_TAKEN,
	/* The sampled CPU stops before its access; if it is held, the window opens. */
	TIMELINE_STOPPED,
	/* The watchpoints are in force on all other CPUs. */
	TIMELINE_WATCHED,
	/* The held context has returned from an interrupt to its access. */
	TIMELINE_RETURNED,
	/* The context of the other access begins by interrupting what its CPU ran. */
	TIMELINE_ENTERED,
	/* The other side's access, or what was seen of it: see enum race_how. */
	TIMELINE_MET,
	/* The window closes, and the held CPU goes on. */
	TIMELINE_CLOSED,
	/* The side makes the access before which its CPU had stopped. */
	TIMELINE_ACCESSED,
	/* The side releases its locks. */
	TIMELINE_LOCKS_BACK,
	/* The device has made its access, and hands the request back. */
	TIMELINE_SERVED,
};

/* How exactly an event's time is known. */
enum timeline_when {
	TIMELINE_AT, /* the event was at from_ns */
	/* The event happened several times, first at from_ns. The last known time is to_ns. */
	TIMELINE_SPAN,
	TIMELINE_BEFORE,  /* only the order is known: before to_ns */
	TIMELINE_BETWEEN, /* only the order is known: after from_ns, before to_ns */
	TIMELINE_AFTER,	  /* only the order is known: after from_ns */
};

struct timeline_event {
	enum timeline_kind kind;
	/* Index of the race's side that the event is about. */
	unsigned side;
	/* Index in `lanes`. */
	unsigned lane;
	enum timeline_when when;
	/* Which of the two times have a meaning depends on `when` (enum timeline_when). A time without a meaning is 0. */
	uint64_t from_ns, to_ns;
};

/* Where events happen. */
struct timeline_lane {
	/* A vCPU, a device or an unseen writer. */
	enum race_side_kind kind;
	/* Number of the vCPU. */
	uint16_t cpu;
};

#define TIMELINE_LANES_MAX 2
#define TIMELINE_EVENTS_MAX 16

struct timeline {
	/* The first lane is the sampled CPU's. If an interrupt of this CPU made the other access, there is only this lane. */
	struct timeline_lane lanes[TIMELINE_LANES_MAX];
	unsigned lane_count;
	/* When the conflict was noticed. */
	uint64_t end_ns;
	/*
	 * The sampled CPU was held. False: when the CPU stopped, a device was already serving a request with the datum's
	 * memory.
	 */
	bool held;
	/*
	 * The events in their order. If the order of two events of different sides is not known, both events have one of the
	 * last three values of enum timeline_when.
	 */
	struct timeline_event events[TIMELINE_EVENTS_MAX];
	unsigned count;
};

/* Find the events of a race. A race of an older report has fewer events, because older versions recorded less. */
void timeline_make(const struct race *race, struct timeline *out);

/*
 * Write the times at which the held context had returned from an interrupt to its access: the first RACE_RETURNS_MAX, in their
 * order. Returns how many were written.
 */
unsigned timeline_returns(const struct race *race, const struct timeline *timeline, uint64_t ns[RACE_RETURNS_MAX]);

/* Returns true if the event's time is known. */
bool timeline_timed(const struct timeline_event *event);

/* Bytes of the texts below, including the NUL. */
#define TIMELINE_WHEN_MAX 64
#define TIMELINE_LANE_MAX 320
#define TIMELINE_TEXT_MAX (SIDE_LOCKS_TEXT_MAX + SITE_NAME_MAX + 256)

/*
 * Write when an event was, in milliseconds from the opening of the window: "2.061 ms", "0.045 to 2.061 ms", "before 2.061 ms"
 * or "after 2.061 ms". Writes "earlier" for an event before the window.
 */
void timeline_when(const struct timeline_event *event, char out[TIMELINE_WHEN_MAX]);

/* Write where a lane's events happened, and who was there: "CPU 1, held: gt/rwrace/write". Printable. */
void timeline_lane(const struct race *race, const struct timeline *timeline, unsigned lane, char out[TIMELINE_LANE_MAX]);

/* Write what happened, as a sentence without a full stop: "CPU 1 stops before its write in f+0x1c". Printable. */
void timeline_text(const struct race *race, const struct timeline *timeline, const struct timeline_event *event,
		   char out[TIMELINE_TEXT_MAX]);

#endif
