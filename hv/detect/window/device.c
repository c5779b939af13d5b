// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds conflicts of devices' accesses with windows (device.h). */
#include "hv/detect/window/device.h"

#include "hv/race/conflict.h"

/* ---- which accesses devices report ---- */

static uint64_t window_filter(const struct window *w)
{
	uint64_t filter = 0;

	for (unsigned i = 0; i < w->data_count; i++) {
		for (unsigned e = 0; e < w->data[i].extent_count; e++)
			filter |= device_filter(w->data[i].extents[e].gpa, w->data[i].extents[e].len);
	}
	return filter;
}

static uint64_t open_filter(const struct detect *d)
{
	uint64_t filter = 0;

	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		if (d->hit.windows[c].open)
			filter |= window_filter(&d->hit.windows[c]);
	}
	return filter;
}

void device_window_closed(struct detect *d)
{
	if (d->target->caps.devices)
		target_devices_watch(d->target, open_filter(d));
}

/* ---- accesses that devices report ---- */

static uint8_t rw_of(const struct device_access *access)
{
	return access->write ? INSN_WRITE : INSN_READ;
}

struct device_conflict device_find_conflict(const struct window *w, const struct device_access *access)
{
	const struct conflict_access device = {.known = true, .rw = rw_of(access)};

	for (unsigned i = 0; i < w->data_count; i++) {
		const struct datum *datum = &w->data[i];
		const struct conflict_access sampled = {.known = true, .rw = datum->access.rw};
		struct extent common;

		if (race_is_conflict(&sampled, &device) && datum_bytes_in(datum, access->gpa, access->len, &common)) {
			struct device_conflict conflict = {.datum = datum, .access = *access};

			conflict.access.gpa = common.gpa;
			conflict.access.len = common.len;
			return conflict;
		}
	}
	return (struct device_conflict){0};
}

void device_ring_explain(struct detect *d, struct window *w, const struct device_access *access)
{
	for (unsigned i = 0; i < w->data_count; i++) {
		struct datum *datum = &w->data[i];
		uint64_t bytes = datum_bytes_in(datum, access->gpa, access->len, NULL);

		if (access->write)
			datum->explained |= bytes;
		if (bytes && (access->write || (datum->access.rw & INSN_WRITE)))
			d->stats.ring_accesses++;
	}
}

/* ---- a window opens ---- */

/* Collects what the target reports about requests in flight. */
struct look {
	struct detect *d;
	struct window *w;
	struct device_conflict first;
};

static void on_segment(void *ctx, const struct device_access *access)
{
	struct look *look = ctx;

	if (!look->first.datum)
		look->first = device_find_conflict(look->w, access);
}

static void on_ring(void *ctx, const struct device_access *access)
{
	struct look *look = ctx;

	device_ring_explain(look->d, look->w, access);
}

struct device_conflict device_window_opens(struct detect *d, struct window *w)
{
	struct look look = {.d = d, .w = w};
	const struct device_observer observer = {.segment = on_segment, .ring = on_ring, .ctx = &look};

	if (d->target->caps.devices) {
		target_devices_watch(d->target, open_filter(d) | window_filter(w));
		target_devices_in_flight(d->target, &observer);
	}
	return look.first;
}
