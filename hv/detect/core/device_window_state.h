/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of windows that begin at a device (hv/detect/window/device_window.h). d->lock guards all but `copy` and `copied`.
 */
#ifndef OUTRIDER_DETECT_CORE_DEVICE_WINDOW_STATE_H
#define OUTRIDER_DETECT_CORE_DEVICE_WINDOW_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/device.h"
#include "hv/base/rng.h"
#include "hv/target/target.h"

/* Remember this many touched words of requests (struct touched_word). A new word replaces the oldest. */
#define DEVICE_WORDS_KEPT 16u

/* A naturally aligned word, of 1, 2, 4 or 8 bytes, that lies in one segment of a request. */
struct device_word {
	uint64_t gpa;
	uint32_t len;
	/* Index of the segment. */
	unsigned segment;
};

/* The place of a touched word in its request. The same place is worth watching in the next request of this kind. */
struct touched_word {
	/* The kind of request: the device's type, and the operation. Type "": no word. */
	char type[DEVICE_TYPE_MAX];
	enum device_op op;
	/* Index of the segment, and offset in it in bytes. */
	unsigned segment;
	uint32_t offset;
};

/* Remember this many segments (pieces of memory) of requests that were held earlier. A new segment replaces the oldest. */
#define DEVICE_SEGMENTS_KEPT 64u

/* A segment of a request that was held, and is done by now. `len` 0: none. */
struct held_segment {
	uint64_t gpa;
	uint32_t len;
	/* The kind of request (device's type and operation), and the segment's index. */
	char type[DEVICE_TYPE_MAX];
	enum device_op op;
	unsigned segment;
};

/* A watched word of the held request. */
struct device_watch {
	struct device_word word;
	uint64_t gva;
	/* The watch slot, and the number (cookie) by which the target reports a hit of the watchpoint in this slot. */
	unsigned slot;
	uint32_t cookie;
	/* The bytes before the watch was in force. */
	uint8_t before[8];
};

/* A window that begins at a device: one request is held before its device accesses the request's memory. */
struct device_window {
	bool open;
	/* The device's thread still works on this window, and may take d->lock again, even if the window has closed. */
	bool busy;
	/* No window may open: a copy of the machine is being made. */
	bool refused;
	/*
	 * When the request was taken (CLOCK_MONOTONIC), and for how long it is held once the watches are in force. Both in ns.
	 */
	uint64_t opened_ns, hold_ns;
	/* When the window closes (CLOCK_MONOTONIC, ns). Until the watches are in force, an estimate. */
	uint64_t until_ns;
	/*
	 * When the watches were in force on all CPUs (CLOCK_MONOTONIC, ns). 0: they are not in force yet, or there are no
	 * watches.
	 */
	uint64_t watched_ns;
	/* The watches are in force, and the memory was copied. */
	bool settled;
	struct device_request request;
	/*
	 * The request's segments, owned by the device. Valid while the window is open. The device's own thread may use them
	 * until it goes on with the request.
	 */
	const struct device_segment *segments;
	unsigned segment_count;
	struct device_watch watches[TARGET_MAX_WATCHES];
	unsigned watch_count;
	/*
	 * A copy of the request's memory as it was when the watches came into force: the first bytes of all segments, one
	 * segment after another, at most DEVICE_COPY_MAX bytes. `copied` is the number of these bytes. Only the thread of the
	 * held device uses the bytes and their number. `copy` is NULL if this run opens no windows at devices.
	 */
	uint8_t *copy;
	uint32_t copied;
	/* The earliest time of the next window (CLOCK_MONOTONIC, ns). */
	uint64_t next_ns;
	struct rng rng;
	struct touched_word touched[DEVICE_WORDS_KEPT];
	unsigned touched_count;
	struct held_segment held[DEVICE_SEGMENTS_KEPT];
	unsigned held_count;
};

/* Returns the time that an open window may still take, in ns. */
static inline double device_window_left(const struct device_window *w, uint64_t now)
{
	return w->open && w->until_ns > now ? (double)(w->until_ns - now) : 0;
}

#endif
