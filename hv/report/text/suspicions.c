// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the suspicions of a run that followed locks (--locks). */
#include <inttypes.h>

#include "hv/report/lock_words.h"
#include "hv/report/text/text.h"

static void put_side(FILE *out, const struct protection *p, const struct suspicion *s, unsigned side)
{
	const char *site = suspicion_of_accesses(s) ? p->accesses[s->side[side]].site : p->takes[s->side[side]].site;

	fprintf(out, "               %s\n", site);
}

void text_sections(FILE *out, const struct chart_suspicion *c)
{
	char confirm[CONFIRM_TEXT_MAX];

	for (unsigned i = 0; i < ATOMICITY_STEPS; i++)
		fprintf(out, "               %-11s %s %s\n", atomicity_step_when(i), chart_step_site(c, i),
			atomicity_step_words(c->suspicion.pattern, i));
	confirm_text(&c->suspicion, confirm);
	fprintf(out, "               %s\n", confirm);
}

/* Print the sections of an atomicity suspicion in the order in which they are executed. */
static void put_atomicity(FILE *out, const struct protection *p, const struct suspicion *s)
{
	struct chart_suspicion c;

	chart_suspicion_name(p, s, &c);
	fprintf(out, "  %s %s\n", s->id, s->text);
	text_sections(out, &c);
}

static void put_suspicion(FILE *out, const struct protection *p, const struct suspicion *s)
{
	char confirm[CONFIRM_TEXT_MAX];

	confirm_text(s, confirm);
	fprintf(out, "  %s %s\n", s->id, s->text);
	put_side(out, p, s, 0);
	put_side(out, p, s, 1);
	fprintf(out, "               %s\n", confirm);
}

static void put_left_out(FILE *out, const struct suspicions *s)
{
	const char *before = "  left out      ";

	for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++) {
		if (!s->left_out[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, s->left_out[i], left_out_phrase(i));
		before = ", ";
	}
	/* If the loop has printed a reason, `before` is ", ", and the line has no end yet. */
	if (before[0] == ',')
		fputc('\n', out);
}

/*
 * Print how many pairs of critical sections are correct although another section can come in between: one line for each reason,
 * with an example.
 */
static void put_told(FILE *out, const struct suspicions *s)
{
	for (unsigned i = 0; i < ATOMICITY_TOLD; i++) {
		if (s->told[i])
			fprintf(out, "  told apart    %" PRIu64 " pairs of sections %s, such as %s\n", s->told[i],
				atomicity_told_phrase(i), s->told_text[i]);
	}
}

/*
 * Print how many locks, calls that take a lock, accesses and pairs of functions the record `p` has. The suspicions are derived
 * from these.
 */
static void put_record(FILE *out, const struct protection *p)
{
	fprintf(out,
		"  locks         %" PRIu32 " locks, taken %" PRIu64 " times; %" PRIu64 " accesses, %" PRIu32
		" different ones; %" PRIu32 " pairs of functions seen at the same time\n",
		p->lock_count, p->moments[LOCK_MOMENT_TAKE], p->moments[LOCK_MOMENT_ACCESS], p->access_count, p->pair_count);
	if (p->lost)
		fprintf(out,
			"  lost          %" PRIu64 " of the accesses and lock events: there were too many different ones\n",
			p->lost);
}

void text_suspicions(FILE *out, const struct protection *p, const struct suspicions *s, const struct text_style *style)
{
	fprintf(out, "%sSUSPICIONS%s  ", text_colour(style, TEXT_STRONG), text_colour(style, TEXT_PLAIN));
	if (s->count)
		fprintf(out, "%zu, derived from the locks that were held; a suspicion is not a race\n", s->count);
	else
		fputs("none, from the locks that were held\n", out);
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].kind == SUSPICION_ATOMICITY)
			put_atomicity(out, p, &s->list[i]);
		else
			put_suspicion(out, p, &s->list[i]);
	}
	if (s->lost)
		fprintf(out, "  lost          %" PRIu64 " pairs of accesses: more were suspected than are kept\n", s->lost);
	put_left_out(out, s);
	put_told(out, s);
	put_record(out, p);
	fputc('\n', out);
}
