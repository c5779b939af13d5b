// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "hv/report/text_internal.h"
#include "hv/report/words.h"

static const char *origin_phrase(enum guest_origin origin)
{
	static const char *const phrases[] = {
		[GUEST_ORIGIN_SYSCALL] = "a system call",
		[GUEST_ORIGIN_EXCEPTION] = "an exception of user mode",
		[GUEST_ORIGIN_INTERRUPT] = "an interrupt of user mode",
		[GUEST_ORIGIN_NMI] = "an NMI of user mode",
		[GUEST_ORIGIN_KTHREAD] = "a kernel thread's start",
		[GUEST_ORIGIN_IDLE] = "the CPU's start",
	};

	return origin < sizeof(phrases) / sizeof(phrases[0]) ? phrases[origin] : NULL;
}

static void put_frame(FILE *out, const struct guest_frame *frame)
{
	char place[TEXT_SITE_MAX];

	if (frame->symbol.name[0])
		text_place(&frame->symbol, frame->pc, place);
	else
		snprintf(place, sizeof(place), "0x%016" PRIx64, frame->pc);
	fprintf(out, "%s%s\n", frame->reliable ? "" : "? ", place);
}

/* The part of the stack a frame is in, where that begins. */
static const char *part_word(const struct guest_calls *calls, unsigned i)
{
	const struct guest_context part = {.known = true, .kind = calls->frames[i].context};

	return i && part.kind == calls->frames[i - 1].context ? "" : context_word(&part);
}

void text_calls(FILE *out, const struct guest_calls *calls)
{
	const char *origin = origin_phrase(calls->origin), *trouble = trouble_phrase(calls);

	for (unsigned i = 0; i < calls->count; i++) {
		fprintf(out, "             %-7s%-9s", i ? "" : "calls", part_word(calls, i));
		put_frame(out, &calls->frames[i]);
	}
	if (origin)
		fprintf(out, "             %-16sfrom %s\n", "", origin);
	if (calls->count && trouble)
		fprintf(out, "             %-16s(%s: %s)\n", "", calls->guessed ? "guessed from ? on" : "not followed further",
			trouble);
}
