/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes complaints in lines of a Linux kernel's log, and collects the CPU, task, place and call trace from the lines that
 * follow the first one. The lines may be anything: they come from the guest. No locks: one thread uses a collector.
 */
#ifndef OUTRIDER_GUEST_LINUX_COMPLAINT_H
#define OUTRIDER_GUEST_LINUX_COMPLAINT_H

#include "hv/race/complaint.h"

/*
 * Skip the prefixes that printk() gives a line on a console, "[   12.345678] " and "[   12.345678][    T1] ". Returns the rest
 * of the line, which ends at `end`.
 */
const char *linux_line_text(const char *line, const char *end);

/*
 * Returns the kind of complaint that a line begins, or COMPLAINT_NONE. `line` has `len` bytes, without printk()'s prefixes.
 * Messages of user programs seldom begin like this.
 */
enum complaint_kind linux_complaint_of(const char *line, size_t len);

/* Returns true if the kernel does not continue after a complaint with this first line. */
bool linux_complaint_is_fatal(enum complaint_kind kind, const char *line, size_t len);

/* Called with each whole complaint, which is valid during the call. `time_ns` of the complaint is not set. */
typedef void linux_complaint_found(void *ctx, const struct complaint *c);

/* Collects one complaint at a time. All zero at first. */
struct linux_complaints {
	/* The complaint whose lines are being collected. kind COMPLAINT_NONE: none. */
	struct complaint open;
	/*
	 * The `caller` of the complaint's records (struct linux_log_record). Lines of other callers do not belong to the
	 * complaint.
	 */
	uint32_t caller;
	/* Lines collected. */
	unsigned lines;
	/* The lines of the call trace are being read. */
	bool in_trace;
	/* The line before was "------------[ cut here ]------------", from this caller. */
	bool cut_here;
	uint32_t cut_caller;
	/* The text that a WARN() prints before the line with its place. "": none. */
	char warn_text[COMPLAINT_TEXT_MAX];
};

/*
 * Take the next line of the log, without printk()'s prefixes. `log_ns` and `caller` are those of the log record that has the
 * line; 0: unknown. When a line shows that a complaint is whole, `found` is called.
 */
void linux_complaints_line(struct linux_complaints *l, uint64_t log_ns, uint32_t caller, const char *line, size_t len,
			   linux_complaint_found *found, void *ctx);

/* Finish the complaint that is being collected, if there is one: no more lines come for it. */
void linux_complaints_finish(struct linux_complaints *l, linux_complaint_found *found, void *ctx);

#endif
