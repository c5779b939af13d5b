/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the log of a Linux guest from its memory: the ring buffer of printk() since Linux 5.10
 * (kernel/printk/printk_ringbuffer.h). A descriptor says which bytes of the text ring belong to a record, and in which state
 * the record is. Writers take no lock, so a reader checks the state both before and after it copies a record.
 *
 * The ring is guest memory: each size, index and length in it is checked.
 */
#ifndef OUTRIDER_GUEST_LINUX_LOG_H
#define OUTRIDER_GUEST_LINUX_LOG_H

#include "hv/guest/guest.h"
#include "hv/guest/linux_layout.h"

/*
 * At most this many bytes of a record's text are read. printk() itself stores at most 1024 bytes (LOG_LINE_MAX) in stock
 * kernels.
 */
#define LINUX_LOG_TEXT_MAX 1024

struct linux_log_record {
	/* Number of the record since boot. */
	uint64_t seq;
	/* Time in ns of the guest's log clock. */
	uint64_t ts_ns;
	/* The task's id, or 0x80000000 plus the CPU's number for a record from an interrupt. 0: unknown. */
	uint32_t caller;
	/* A program wrote the record to /dev/kmsg: the record's facility is not 0, the facility of the kernel. */
	bool by_user;
	/* Lines of text, separated by newlines. May have unprintable bytes, and has no NUL at the end. */
	char text[LINUX_LOG_TEXT_MAX];
	size_t len;
};

/* Find the guest's log when the kernel's text is final. Sets out->ring to 0 if this kernel has no log that can be read. */
void linux_find_log(struct guest *g, struct linux_log *out);

/*
 * Read records that were finished since the last call, and pass each to `each`; a first call only sets the position to the end
 * of the log. Reads at most 512 records, so that a guest that floods its log does not keep the caller busy for long. Records
 * that the ring has overwritten meanwhile are skipped. If there is nothing new, one word of guest memory is read. Not in a
 * callback.
 */
void linux_read_log(struct guest *g, struct linux_log_position *at, void (*each)(void *ctx, const struct linux_log_record *r),
		    void *ctx);

#endif
