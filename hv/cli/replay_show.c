// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/replay_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/report/replay.h"
#include "hv/report/text/place.h"
#include "hv/report/words.h"

#define OUTCOME_MAX (REPLAY_TEXT_MAX + 128)

/* ---- the race ---- */

static void show_side(struct scene *s, unsigned side)
{
	const struct rendezvous_side *at = &s->scenario.rendezvous.sides[side];
	char phrase[CONTEXT_PHRASE_MAX] = "context unknown", source[TEXT_SOURCE_MAX];
	struct source_line line;

	if (at->context.known)
		context_phrase(&at->context, phrase);
	printf("  side %u  %s, %s, %" PRIu32 " bytes at 0x%016" PRIx64 "\n", side + 1, s->scenario.facts.site[side],
	       access_word(at->rw), at->size, at->gva);
	printf("          CPU %u, %s (pid %" PRId32 "), %s\n", at->cpu, at->context.comm[0] ? at->context.comm : "unknown task",
	       at->context.pid, phrase);
	if (side == 1 && s->scenario.config.paused)
		printf("          has made its access, and was paused directly after it\n");
	if (scene_source(s, side, &line) && line.file[0]) {
		text_source(&line, source);
		printf("          at %s\n", source);
	}
}

static void show_race(const struct scene *s)
{
	const struct scenario_facts *f = &s->scenario.facts;

	printf("RACE %s  %s  <->  %s\n", f->race, f->site[0], f->site[1]);
}

static void show_origin(struct scene *s)
{
	const struct scenario_facts *f = &s->scenario.facts;

	for (unsigned side = 0; side < 2; side++)
		show_side(s, side);
	printf("  kept    %s by outrider %s\n", f->date, f->version);
	if (f->banner[0])
		printf("  guest   %u CPUs, %" PRIu64 " MiB, %.*s\n", s->machine.cpus, s->machine.memory >> 20,
		       (int)strcspn(f->banner, "("), f->banner);
	if (!s->known)
		printf("  names   none: %s\n", s->why_not);
}

/* ---- both orders ---- */

static void outcome_phrase(const struct replay_instance *i, char out[OUTCOME_MAX])
{
	int order = replay_troubled_order(i);

	if (order >= 0)
		snprintf(out, OUTCOME_MAX, "the %s order ends in trouble, the other one does not: %s",
			 replay_order_word((unsigned)order), replay_trouble(&i->orders[order]));
	else if (i->outcome == REPLAY_STATE_CHANGE)
		snprintf(out, OUTCOME_MAX, "state change: the orders differ in %" PRIu64 " place%s", i->difference_count,
			 i->difference_count == 1 ? "" : "s");
	else if (i->outcome == REPLAY_NO_STATE_CHANGE)
		snprintf(out, OUTCOME_MAX, "no state change: both orders lead to the same state");
	else
		snprintf(out, OUTCOME_MAX, "replay failure: %s%s%s", replay_failure_word(i->why), i->why_text[0] ? ": " : "",
			 i->why_text);
}

static void show_verdict(const struct scene *s, const struct replay_shown *shown)
{
	char now[OUTCOME_MAX], then[OUTCOME_MAX];

	outcome_phrase(&shown->instance, now);
	outcome_phrase(&s->scenario.facts.instance, then);
	printf("  %s\n", now);
	if (shown->times > 1)
		printf("  %" PRIu64 " replays: %" PRIu64 " came out as recorded, %" PRIu64
		       " of them with the same regions and differences to the byte\n",
		       shown->times, shown->same, shown->identical);
	if (shown->same < shown->times)
		printf("  this is not what was recorded: %s\n", then);
	else if (shown->times == 1)
		printf("  this is what was recorded%s\n", shown->identical ? ", to the byte" : ", but for details");
}

static void show_differences(const struct replay_instance *i)
{
	char datum[REPLAY_DATUM_MAX], value[2][VALUE_TEXT_MAX];

	for (uint32_t n = 0; n < i->kept; n++) {
		const struct replay_difference *d = &i->differences[n];

		replay_datum(d, datum);
		for (unsigned order = 0; order < 2; order++)
			value_text(d->bytes[order], d->len, value[order]);
		printf("  %s is %s after the first order, %s after the second\n", datum, value[0], value[1]);
	}
	if (i->difference_count > i->kept)
		printf("  and %" PRIu64 " more\n", i->difference_count - i->kept);
}

static const char *end_phrase(enum replay_end end)
{
	switch (end) {
	case REPLAY_END_NOT_RUN:
		return "does not come to an end";
	case REPLAY_END_RETURN:
		return "returns from its function";
	case REPLAY_END_BLOCKED:
		return "goes to sleep";
	case REPLAY_END_LIMIT:
		return "is cut off";
	case REPLAY_END_FAULT:
		return "runs into a fault";
	case REPLAY_ENDS:
		break;
	}
	return "";
}

static void machine_phrase(const struct replay_order *o, char out[OUTCOME_MAX])
{
	if (replay_in_trouble(o))
		snprintf(out, OUTCOME_MAX, "; then: %s", replay_trouble(o));
	else if (o->machine == REPLAY_MACHINE_OFF)
		snprintf(out, OUTCOME_MAX, "; then the machine is switched off");
	else
		snprintf(out, OUTCOME_MAX, "%s",
			 o->machine == REPLAY_MACHINE_RUNS ? "; then the machine runs on without trouble" : "");
}

static void show_order(const struct scene *s, unsigned first, const struct replay_order *o)
{
	char machine[OUTCOME_MAX];

	machine_phrase(o, machine);
	printf("  %s order  %s first:", replay_order_word(first), s->scenario.facts.site[first]);
	for (unsigned side = 0; side < 2; side++)
		printf(" side %u %s after %" PRIu64 " instruction%s%s", side + 1, end_phrase(o->regions[side].end),
		       o->regions[side].instructions, o->regions[side].instructions == 1 ? "" : "s", side ? "" : ",");
	printf("%s\n", machine);
}

void replay_show_both(struct scene *s, const struct replay_shown *shown)
{
	show_race(s);
	show_verdict(s, shown);
	show_differences(&shown->instance);
	for (unsigned order = 0; order < 2; order++)
		show_order(s, order, &shown->instance.orders[order]);
	show_origin(s);
}

/* ---- one order ---- */

void replay_show_one(struct scene *s, unsigned first, const struct alone *one, bool same)
{
	show_race(s);
	if (one->failure != REPLAY_NO_FAILURE)
		printf("  the %s order fails: %s: %s\n", replay_order_word(first), replay_failure_word(one->failure), one->why);
	show_order(s, first, &one->order);
	printf("  this is %swhat was recorded\n", same ? "" : "not ");
	if (!same)
		show_order(s, first, &s->scenario.facts.instance.orders[first]);
	show_origin(s);
}

void replay_intro(const struct scene *s, unsigned first, char out[REPLAY_INTRO_MAX])
{
	const struct scenario_facts *f = &s->scenario.facts;

	snprintf(out, REPLAY_INTRO_MAX, "Race %s: %.280s and %.280s, of which side %u goes first.\n", f->race, f->site[0],
		 f->site[1], first + 1);
}
