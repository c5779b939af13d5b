// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints a race, and the results of running it in both orders. */
#include "hv/report/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/race/race_key.h"
#include "hv/race/complaint_link.h"
#include "hv/report/datum.h"
#include "hv/report/device.h"
#include "hv/report/replay.h"
#include "hv/report/text/place.h"
#include "hv/report/text/side.h"
#include "hv/report/words.h"

static void title_side(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	char site[TEXT_SITE_MAX], kind[DEVICE_TEXT_MAX];

	if (side->kind == RACE_SIDE_DEVICE) {
		device_kind(&side->device, kind);
		fprintf(out, "%s by %s", access_word(race->rw[which]), kind);
		return;
	}
	if (side->kind != RACE_SIDE_CPU) {
		fputs("changed by an unseen writer", out);
		return;
	}
	text_site(side, site);
	/*
	 * If the accessing instruction is unknown, `site` is where the vCPU stopped, directly after the access. So print "just
	 * before".
	 */
	fprintf(out, "%s%s %s %s", side->locked ? "locked " : "", access_word(race->rw[which]), side->pc ? "in" : "just before",
		site);
}

/* Format a value according to the datum's type, or as a number if the type is unknown. */
static void title_bytes(const char *decoded, const uint8_t *bytes, uint32_t len, char out[VALUE_TEXT_MAX])
{
	if (decoded[0])
		clean_text(decoded, strlen(decoded), out, VALUE_TEXT_MAX);
	else
		value_text(bytes, len, out);
}

static void title_value(FILE *out, const struct race *race)
{
	const struct observation *o = &race->first;
	const struct datum_name *d = text_datum(race);
	char before[VALUE_TEXT_MAX], after[VALUE_TEXT_MAX], path[DATUM_TEXT_MAX];

	if (datum_path(race, path))
		fprintf(out, "   %s,", path);
	fprintf(out, "%s%" PRIu32 " byte%s at 0x%016" PRIx64, path[0] ? " " : "   ", o->data_len, o->data_len == 1 ? "" : "s",
		o->sides[0].gva);
	/* Print long values with the details, since they would make the first line unreadable. */
	if (o->data_len == 0 || o->data_len > sizeof(uint64_t))
		return;
	title_bytes(d ? d->before : "", o->before, o->data_len, before);
	title_bytes(d ? d->after : "", o->after, o->data_len, after);
	if (memcmp(o->before, o->after, o->data_len) == 0)
		fprintf(out, ", %s unchanged", before);
	else
		fprintf(out, ", %s -> %s", before, after);
}

/* Returns true if the name of the datum suggests a set of flags. */
static bool is_flags(const struct datum_name *d)
{
	static const char *const words[] = {"flag", "state", "mask", "bits"};
	const char *last = strrchr(d->path, '.'), *arrow = strrchr(d->path, '>');

	last = last > arrow ? last : arrow ? arrow : d->path;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(last, words[i]))
			return true;
	}
	return false;
}

static void put_bits(FILE *out, const char *what, uint64_t bits)
{
	if (!bits)
		return;
	fprintf(out, "  %s bit", what);
	for (unsigned bit = 0; bit < 64; bit++) {
		if (bits >> bit & 1)
			fprintf(out, " %u", bit);
	}
}

/* Print the flags that changed, if the access covers all of them. */
static void put_flags(FILE *out, const struct race *race)
{
	const struct observation *o = &race->first;
	const struct datum_name *d = text_datum(race);
	uint64_t before = 0, after = 0;

	if (!d || !d->before[0] || o->data_len > sizeof(before) || !is_flags(d) || d->bit_size)
		return;
	memcpy(&before, o->before, o->data_len);
	memcpy(&after, o->after, o->data_len);
	if (before == after)
		return;
	fputs("  flags  ", out);
	put_bits(out, "set", after & ~before);
	put_bits(out, "cleared", before & ~after);
	fputc('\n', out);
}

/* Print the results of running the race in both orders. */
static void put_replay(FILE *out, const struct race *race)
{
	char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX];
	unsigned n = replay_lines(race, lines);

	for (unsigned i = 0; i < n; i++)
		fprintf(out, "  %s\n", lines[i]);
}

/* Print the course of the window. Prints nothing for a report of an older version. */
static void put_window(FILE *out, const struct observation *o)
{
	const struct race_window *w = &o->window;

	if (!w->known)
		return;
	if (!observation_held(o)) {
		fputs("  window   none: a device was serving a request with this memory when the CPU stopped\n", out);
		return;
	}
	fprintf(out, "  window   of at most %.3f ms%s", (double)w->hold_ns / 1e6,
		o->how == RACE_BY_DEVICE_WINDOW ? ", in which the device's request was held" : "");
	if (w->watched_ns)
		fprintf(out, ", watchpoints in force after %.3f ms", (double)w->watched_ns / 1e6);
	if (w->returns)
		fprintf(out, ", %" PRIu32 " %s meanwhile", w->returns,
			w->returns == 1 ? "return from an interrupt" : "returns from interrupts");
	fputc('\n', out);
}

static void details(FILE *out, const struct race *race)
{
	const struct observation *o = &race->first;
	char value[VALUE_TEXT_MAX], memory[DATUM_TEXT_MAX];
	struct race_key key;

	if (o->data_len > sizeof(uint64_t)) {
		value_text(o->before, o->data_len, value);
		fprintf(out, "  before   %s\n", value);
		value_text(o->after, o->data_len, value);
		fprintf(out, "  after    %s\n", value);
	}
	put_flags(out, race);
	race_key(race, &key);
	if (datum_memory(&o->memory, memory))
		fprintf(out, "  memory   %s\n", memory);
	put_replay(out, race);
	if (race->complaint.link != COMPLAINT_UNLINKED)
		fprintf(out, "  complaint %s within %.1f s of this race, %s: %s\n", complaint_word(race->complaint.kind),
			(double)race->complaint.after_ns / 1e9 + 0.05, complaint_link_word(race->complaint.link),
			race->complaint.text);
	if (race->suspected)
		fputs("  suspected as well: no common lock orders the two accesses\n", out);
	fprintf(out, "  identity %s in every build\n", key.identity);
	fprintf(out, "  seen by %s, %.3f ms into the window, %.3f s into the run; physical 0x%" PRIx64 "\n", how_word(o->how),
		(double)o->held_ns / 1e6, (double)o->time_ns / 1e9, o->gpa);
	put_window(out, o);
}

void text_race(FILE *out, const struct race *race, const struct text_style *style)
{
	fprintf(out, "%sRACE %s%s  %s", text_colour(style, TEXT_TITLE), race->id, text_colour(style, TEXT_PLAIN),
		text_colour(style, TEXT_STRONG));
	title_side(out, race, 0);
	fputs("  <->  ", out);
	title_side(out, race, 1);
	fputs(text_colour(style, TEXT_PLAIN), out);
	title_value(out, race);
	fputc('\n', out);
	if (style->remark)
		fputs(style->remark, out);
	for (unsigned i = 0; i < 2; i++) {
		if (race->first.sides[i].kind == RACE_SIDE_CPU)
			text_side(out, race, i, style);
		else if (race->first.sides[i].kind == RACE_SIDE_DEVICE)
			text_device_side(out, race, i, style);
	}
	details(out, race);
	fputc('\n', out);
}

void text_replay(FILE *out, const struct race *race, const struct text_style *style)
{
	fprintf(out, "%sRACE %s%s  %s  <->  %s\n", text_colour(style, TEXT_TITLE), race->id, text_colour(style, TEXT_PLAIN),
		race->site[0], race->site[1]);
	put_replay(out, race);
	fputc('\n', out);
}
