// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the call stack of a race's side, one frame per line. */
#include "hv/report/text/calls.h"

#include <inttypes.h>

#include "hv/base/clean.h"
#include "hv/report/text/place.h"
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

/* Print the functions that were inlined into a frame, as deeper calls, above the frame. Returns the frame's own source line. */
static const struct source_line *put_inlined(FILE *out, const struct source_line *line, size_t n)
{
	char source[TEXT_SOURCE_MAX], function[CLEAN_MAX(sizeof(line->function))];

	for (; n > 1; n--, line++) {
		text_source(line, source);
		clean_text(line->function, sizeof(line->function), function, sizeof(function));
		fprintf(out, "%-48s %s\n             %-16s", function, source, "");
	}
	return n ? line : NULL;
}

static void put_frame(FILE *out, const struct race *race, unsigned which, unsigned i)
{
	const struct guest_frame *frame = &race->first.sides[which].calls.frames[i];
	char place[TEXT_SITE_MAX], source[TEXT_SOURCE_MAX];
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, i, &n);

	line = put_inlined(out, line, n);
	if (frame->symbol.name[0])
		text_place(&frame->symbol, frame->pc, place);
	else
		snprintf(place, sizeof(place), "0x%016" PRIx64, frame->pc);
	if (!line) {
		fprintf(out, "%s%s\n", frame->reliable ? "" : "? ", place);
		return;
	}
	text_source(line, source);
	fprintf(out, "%s%-48s %s\n", frame->reliable ? "" : "? ", place, source);
}

/* Returns the word for the context of frame `i`, or "" if the previous frame has the same context. */
static const char *part_word(const struct guest_calls *calls, unsigned i)
{
	const struct guest_context part = {.known = true, .kind = calls->frames[i].context};

	return i && part.kind == calls->frames[i - 1].context ? "" : context_word(&part);
}

void text_calls(FILE *out, const struct race *race, unsigned which)
{
	const struct guest_calls *calls = &race->first.sides[which].calls;
	const char *origin = origin_phrase(calls->origin), *trouble = trouble_phrase(calls);

	for (unsigned i = 0; i < calls->count; i++) {
		fprintf(out, "             %-7s%-9s", i ? "" : "calls", part_word(calls, i));
		put_frame(out, race, which, i);
	}
	if (origin)
		fprintf(out, "             %-16sfrom %s\n", "", origin);
	if (calls->count && trouble)
		fprintf(out, "             %-16s(%s: %s)\n", "", calls->guessed ? "guessed from ? on" : "not followed further",
			trouble);
}
