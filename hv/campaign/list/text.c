// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a round summary for a terminal, or as a mail. The mail has the same lines, with another width and no colours. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/list/list.h"
#include "hv/campaign/list/sentences.h"
#include "hv/report/text/fold.h"
#include "hv/report/text/style.h"

#define TEXT_WIDTH 100
#define MAIL_WIDTH 72
#define GONE_MAX 20 /* Without --all, at most this many of the races that are gone are shown. */

struct paper {
	FILE *out;
	const struct summary *m;
	const struct text_style *style;
	bool all;
};

static const char *colour(const struct paper *p, enum text_colour c)
{
	return text_colour(p->style, c);
}

/* ---- the answers ---- */

static void put_answers(const struct paper *p)
{
	for (int i = 0; i < LIST_ANSWERS; i++) {
		bool bad = list_answer_is_bad(p->m, (enum list_answer)i);

		fprintf(p->out, "  %s%-8s  ", bad ? colour(p, TEXT_TITLE) : "", list_answer_word((enum list_answer)i));
		list_answer_put(p->out, p->m, (enum list_answer)i);
		fprintf(p->out, "%s\n", bad ? colour(p, TEXT_PLAIN) : "");
	}
}

static void put_head(const struct paper *p)
{
	fprintf(p->out, "%s%s, ", colour(p, TEXT_STRONG), p->m->campaign);
	list_rounds_put(p->out, p->m);
	fprintf(p->out, "%s: ", colour(p, TEXT_PLAIN));
	list_when_put(p->out, p->m);
	fputc('\n', p->out);
	put_answers(p);
}

/* ---- races ---- */

static void put_before(const struct paper *p, const struct summary_race *r)
{
	if (r->change != STORE_CHANGE_VERDICT)
		return;
	fprintf(p->out, "     was %s%s%s\n", summary_class_word(r->before.class), r->before.rule[0] ? ", " : "",
		r->before.rule);
}

static void put_triage(const struct paper *p, const struct summary_race *r)
{
	if (r->triage == STORE_TRIAGE_NEW && !r->note[0])
		return;
	fprintf(p->out, "     %s%s%s%s%s%s%.10s%s%s\n", store_triage_word(r->triage), r->mended[0] ? " in " : "", r->mended,
		r->who[0] ? ", says " : "", r->who, r->when[0] ? ", " : "", list_time(r->when, LIST_WORDS),
		r->note[0] ? ": " : "", r->note);
}

/* Print a race in short: one line, and for a race that is gone a second line with the probability that it was missed. */
static void put_short(const struct paper *p, const struct summary_race *r)
{
	fprintf(p->out, "  %s  %s%s%s: %s <-> %s%s%s\n", r->id, summary_class_word(r->verdict.class),
		r->verdict.rule[0] ? ", " : "", r->verdict.rule, r->side[0], r->side[1], r->datum[0] ? ": " : "", r->datum);
	if (r->change != STORE_CHANGE_GONE)
		return;
	fputs("     ", p->out);
	list_missed_put(p->out, r);
	fputc('\n', p->out);
}

/* Returns whether put_short() prints a race, because the race is gone, likely no bug, or suppressed. */
static bool is_folded(const struct summary_race *r)
{
	return r->change == STORE_CHANGE_GONE || r->verdict.class >= SUMMARY_SYNCHRONISATION || r->suppressed[0];
}

static void put_race(const struct paper *p, const struct summary_race *r)
{
	bool bad = summary_is_worse(r) && r->verdict.class == SUMMARY_HARMFUL;

	fprintf(p->out, "  %s%s%s  %s%s%s\n", bad ? colour(p, TEXT_TITLE) : colour(p, TEXT_STRONG), r->id,
		colour(p, TEXT_PLAIN), summary_class_word(r->verdict.class), r->verdict.rule[0] ? ", " : "", r->verdict.rule);
	fprintf(p->out, "     %s <-> %s%s%s\n", r->side[0], r->side[1], r->datum[0] ? ": " : "", r->datum);
	fprintf(p->out, "     %s; ", r->subsystem);
	list_seen_put(p->out, p->m, r);
	fputc('\n', p->out);
	put_before(p, r);
	if (r->verdict.evidence[0] && r->change != STORE_CHANGE_GONE)
		fprintf(p->out, "     %s%s%s\n", colour(p, TEXT_FAINT), r->verdict.evidence, colour(p, TEXT_PLAIN));
	if (r->suppressed[0])
		fprintf(p->out, "     suppressed: %s\n", r->suppressed);
	put_triage(p, r);
}

static void put_heading(const struct paper *p, enum store_change change)
{
	static const char *const words[STORE_CHANGES] = {"NEW", "BACK", "CHANGED", "GONE", "AGAIN", "SAME"};

	fprintf(p->out, "\n%s%-8s%s  %s\n", colour(p, TEXT_STRONG), words[change], colour(p, TEXT_PLAIN),
		summary_change_means(p->m, change));
}

/*
 * Returns whether a race is only counted. Without --all, these are races that did not change, and gone races that were likely
 * no bugs.
 */
static bool is_left_out(const struct paper *p, const struct summary_race *r)
{
	return !p->all && (r->change > STORE_CHANGE_GONE ||
			   (r->change == STORE_CHANGE_GONE && r->verdict.class >= SUMMARY_SYNCHRONISATION));
}

static void put_left_out(const struct paper *p, size_t more, const char *which)
{
	if (more)
		fprintf(p->out, "  %s that %s: --all shows them\n", list_count(more, "race", LIST_WORDS), which);
}

/*
 * Returns whether enough races of this change were printed. A short round misses many races that the kernel still has, so its
 * list of gone races is long and proves little. Without --all, show only the GONE_MAX gone races with the highest rank.
 */
static bool is_enough(const struct paper *p, enum store_change change, size_t shown)
{
	return change == STORE_CHANGE_GONE && !p->all && shown >= GONE_MAX;
}

static void put_races(const struct paper *p, enum store_change change)
{
	size_t shown = 0, more = 0, harmless = 0;

	if (!summary_of(p->m, change) || (change > STORE_CHANGE_GONE && !p->all))
		return;
	put_heading(p, change);
	for (size_t i = 0; i < p->m->race_count; i++) {
		const struct summary_race *r = &p->m->races[i];

		if (r->change != change)
			continue;
		if (is_left_out(p, r)) {
			harmless++;
			continue;
		}
		if (is_enough(p, change, shown)) {
			more++;
			continue;
		}
		shown++;
		if (is_folded(r) && change != STORE_CHANGE_BACK && change != STORE_CHANGE_VERDICT && !p->all)
			put_short(p, r);
		else
			put_race(p, r);
	}
	put_left_out(p, more, "rank lower");
	put_left_out(p, harmless, "likely were no bugs");
}

/* ---- findings ---- */

static void put_finding(const struct paper *p, const struct summary_finding *f)
{
	fprintf(p->out, "  %s%-8s%s  %s%s\n", colour(p, f->is_new ? TEXT_TITLE : TEXT_STRONG), f->kind, colour(p, TEXT_PLAIN),
		f->run, f->is_new ? "" : " (not for the first time)");
	if (f->line[0])
		fprintf(p->out, "     %s\n", f->line);
	if (f->console[0])
		fprintf(p->out, "     %s: %s\n", list_file_word(f->console), f->console);
	/* Print a file's path instead of the command, because a folded command cannot be copied. */
	if (f->folder[0])
		fprintf(p->out, "     again:   sh %s/command\n", f->folder);
	else if (f->command[0])
		fprintf(p->out, "     again:   %s\n", f->command);
}

static void put_findings(const struct paper *p)
{
	if (p->m->finding_count)
		fprintf(p->out, "\n%sBROKE%s     runs that ended with a finding, which is no race\n", colour(p, TEXT_STRONG),
			colour(p, TEXT_PLAIN));
	for (size_t i = 0; i < p->m->finding_count; i++)
		put_finding(p, &p->m->findings[i]);
}

/* ---- tables ---- */

static void put_subsystems(const struct paper *p)
{
	size_t count;
	struct list_subsystem *list = list_subsystems(p->m, &count);

	if (count)
		fprintf(p->out, "\n%sRACES BY SUBSYSTEM%s\n   worse  changed  all\n", colour(p, TEXT_STRONG),
			colour(p, TEXT_PLAIN));
	for (size_t i = 0; i < count; i++)
		fprintf(p->out, "  %6zu  %7zu  %3zu  %s\n", list[i].worse, list[i].shown, list[i].all, list[i].name);
	free(list);
}

static void put_verdicts(const struct paper *p)
{
	unsigned of_class[SUMMARY_CLASSES];

	summary_classes(p->m, of_class);
	fprintf(p->out, "\n%sRACES BY VERDICT%s\n", colour(p, TEXT_STRONG), colour(p, TEXT_PLAIN));
	for (int i = 0; i < SUMMARY_CLASSES; i++)
		fprintf(p->out, "  %6u  %s\n", of_class[i], summary_class_word((enum summary_class)i));
}

static void put_foot(const struct paper *p)
{
	size_t folded = summary_of(p->m, STORE_CHANGE_AGAIN) + summary_of(p->m, STORE_CHANGE_NONE);

	fputc('\n', p->out);
	if (folded && !p->all)
		fprintf(p->out, "%s %s.\n", list_count(folded, "race", LIST_WORDS),
			folded == 1 ? "is as it was" : "are as they were");
	list_effort_put(p->out, p->m);
	fprintf(p->out, "\noutrider %s, from %s\n", p->m->version, p->m->store);
}

static void put_list(const struct paper *p)
{
	put_head(p);
	put_races(p, STORE_CHANGE_NEW);
	put_races(p, STORE_CHANGE_BACK);
	put_races(p, STORE_CHANGE_VERDICT);
	put_findings(p);
	put_races(p, STORE_CHANGE_GONE);
	put_races(p, STORE_CHANGE_AGAIN);
	put_races(p, STORE_CHANGE_NONE);
	put_verdicts(p);
	put_subsystems(p);
	put_foot(p);
}

/* ---- the two formats ---- */

/* Write the whole list folded at `width`, or unfolded if memory runs out. */
static void put_folded(FILE *to, const struct summary *m, const struct list_style *style, unsigned width)
{
	struct text_style colours = {.colour = style->colour};
	FILE *folded = fold_open(to, width);
	struct paper p = {.out = folded ? folded : to, .m = m, .style = &colours, .all = style->all};

	put_list(&p);
	if (folded)
		fclose(folded);
}

void list_text(FILE *out, const struct summary *m, const struct list_style *style)
{
	put_folded(out, m, style, style->width ? style->width : TEXT_WIDTH);
}

/* Write text in a mail header, which has one line and only ASCII. Other characters of the campaign's name become '?'. */
static void put_word(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text >= ' ' && *text < 0x7f ? *text : '?', out);
}

void list_mail(FILE *out, const struct summary *m, const struct list_style *style)
{
	struct list_style plain = {.all = style->all};

	fputs("Subject: [outrider] ", out);
	put_word(out, m->campaign);
	fprintf(out, " round %u: ", m->to);
	list_headline_put(out, m);
	fputs("\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"
	      "Auto-Submitted: auto-generated\n\n",
	      out);
	put_folded(out, m, &plain, MAIL_WIDTH);
}
