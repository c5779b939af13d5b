// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the guest's log, and passes its lines to the collector of complaints (linux_complaint.h). */
#include <string.h>

#include "hv/base/clock.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_log.h"

/*
 * The last line of a complaint is not always marked, for example in a lockup. Such a complaint is whole when no line came for
 * one second: the kernel writes all lines of one complaint within some milliseconds, and by default the detector holds a
 * vCPU for at most 10 ms (--delay).
 */
#define SILENCE_NS UINT64_C(1000000000)

struct reading {
	struct guest *g;
	linux_complaint_found *found;
	void *ctx;
};

static void take_record(void *ctx, const struct linux_log_record *record)
{
	struct reading *r = ctx;
	const char *at = record->text, *end = record->text + record->len;

	/* A program may write "Oops" to the log: that is no complaint of the kernel. */
	if (record->by_user)
		return;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;

		linux_complaints_line(&r->g->complaints, record->ts_ns, record->caller, at, (size_t)(stop - at), r->found,
				      r->ctx);
		at = newline ? newline + 1 : end;
	}
	r->g->log_read_ns = monotonic_ns();
}

bool guest_poll_complaints(struct guest *g, bool last, linux_complaint_found *found, void *ctx)
{
	struct reading r = {g, found, ctx};

	if (g->stage != LINUX_READY || !g->log.ring)
		return false;
	linux_read_log(g, &g->log_at, take_record, &r);
	if (g->complaints.open.kind != COMPLAINT_NONE && (last || monotonic_ns() - g->log_read_ns >= SILENCE_NS))
		linux_complaints_finish(&g->complaints, found, ctx);
	return true;
}
