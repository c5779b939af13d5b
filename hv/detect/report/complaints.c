// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes the complaints in the log of the guest's kernel to the sink. */
#include "hv/detect/report/complaints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"

/*
 * Periods of reading the guest's log: 100 ms, which is no delay for a user; 1 s on a target where each read stops the guest.
 */
#define LOG_NS UINT64_C(100000000)
#define COSTLY_LOG_NS UINT64_C(1000000000)
/*
 * Until the log can be read, the reporter tries every 10 ms. The first reading only finds the end of the log, so earlier
 * complaints are missed. It must come early, because after an attachment the guest may complain as soon as sampling begins.
 */
#define UNREAD_LOG_NS UINT64_C(10000000)
#define INT3 0xcc
#define CODE_BYTES_MAX 64 /* maximum number of bytes in an oops's code line (OPCODE_BUFSIZE in arch/x86/kernel/dumpstack.c) */

/* The bytes of a code line. */
struct oops_code {
	uint8_t bytes[CODE_BYTES_MAX];
	/* The place of each byte's two digits in the text. */
	size_t at[CODE_BYTES_MAX];
	unsigned count;
	/* Index of the byte at RIP, which the kernel prints as <xx>. */
	unsigned rip;
};

/* Returns false if the text is no code line that marks one byte. */
static bool read_code(const char *text, struct oops_code *out)
{
	bool marked = false;
	const char *at = text;

	*out = (struct oops_code){0};
	while (out->count < CODE_BYTES_MAX) {
		char *end;

		at += strspn(at, " >");
		if (*at == '<') {
			marked = true;
			out->rip = out->count;
			at++;
		}
		if (!*at)
			break;
		out->bytes[out->count] = (uint8_t)strtoul(at, &end, 16);
		if (end != at + 2)
			return false;
		out->at[out->count++] = (size_t)(at - text);
		at = end;
	}
	return marked;
}

/*
 * An oops prints the bytes of memory around RIP, with the INT3s of the points that were armed. Put back the guest's own
 * bytes: where the text has an INT3 and the guest's code has another byte. Nothing is changed if any other byte differs,
 * because then the function was not found, or the guest has changed its text.
 */
static void restore_code(struct detect *d, struct complaint *c)
{
	struct oops_code line;
	uint8_t own[CODE_BYTES_MAX];
	uint64_t function = guest_symbol_address(d->guest, c->where.module, c->where.function);

	if (!c->code[0] || !function || !read_code(c->code, &line) ||
	    detect_code(d, function + c->where.offset - line.rip, own, line.count))
		return;
	for (unsigned i = 0; i < line.count; i++) {
		if (line.bytes[i] != own[i] && line.bytes[i] != INT3)
			return;
	}
	for (unsigned i = 0; i < line.count; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", own[i]);
		memcpy(c->code + line.at[i], digits, 2);
	}
}

static void on_complaint(void *ctx, const struct complaint *found)
{
	struct detect *d = ctx;
	struct complaint c = *found;
	uint64_t started = atomic_load(&d->life.started_ns);

	c.time_ns = started ? monotonic_ns() - started : 0;
	restore_code(d, &c);
	d->sink.complaint(d->sink.ctx, &c);
}

uint64_t complaints_period(const struct detect *d)
{
	if (!atomic_load(&d->life.ready_ns))
		return UNREAD_LOG_NS;
	return d->target->caps.costly_stops ? COSTLY_LOG_NS : LOG_NS;
}

void complaints_poll(struct detect *d, bool last)
{
	/* guest_poll_complaints() may be called only after guest_poll() has returned 1. ready_ns is set after that. */
	if (!d->sink.complaint || !atomic_load(&d->life.ready_ns) || !guest_poll_complaints(d->guest, last, on_complaint, d) ||
	    d->life.log_read)
		return;
	d->life.log_read = true;
	d->sink.log_read(d->sink.ctx);
}
