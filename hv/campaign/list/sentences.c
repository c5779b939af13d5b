// SPDX-License-Identifier: GPL-2.0-or-later
/* Sentences about a round that its text, mail and HTML page share. */
#include "hv/campaign/list/sentences.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/campaign/list/ends_text.h"
#include "hv/campaign/list/gate.h"

#define SECOND UINT64_C(1000000000)

/* ---- figures ---- */

const char *list_number(uint64_t n, char out[LIST_WORDS_MAX])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

const char *list_count(uint64_t n, const char *unit, char out[LIST_WORDS_MAX])
{
	snprintf(out, LIST_WORDS_MAX, "%s %s%s", list_number(n, LIST_WORDS), unit, n == 1 ? "" : "s");
	return out;
}

const char *list_stamp(int64_t ms, char out[LIST_WORDS_MAX])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm parts;

	if (!ms || !gmtime_r(&seconds, &parts) || !strftime(out, LIST_WORDS_MAX, "%Y-%m-%dT%H:%M:%SZ", &parts))
		out[0] = '\0';
	return out;
}

const char *list_time(const char *stamp, char out[LIST_WORDS_MAX])
{
	if (strlen(stamp) >= 16 && stamp[10] == 'T')
		snprintf(out, LIST_WORDS_MAX, "%.10s %.5s", stamp, stamp + 11);
	else
		snprintf(out, LIST_WORDS_MAX, "%s", stamp);
	return out;
}

const char *list_span(uint64_t ns, char out[LIST_WORDS_MAX])
{
	uint64_t s = ns / SECOND;

	if (s < 120)
		snprintf(out, LIST_WORDS_MAX, "%" PRIu64 " s", s);
	else if (s < 7200)
		snprintf(out, LIST_WORDS_MAX, "%" PRIu64 " min", s / 60);
	else
		snprintf(out, LIST_WORDS_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	return out;
}

const char *list_file_word(const char *path)
{
	static const char end[] = ".scenario";
	size_t len = strlen(path);

	return len >= sizeof(end) - 1 && strcmp(path + len - (sizeof(end) - 1), end) == 0 ? "scenario" : "console";
}

/* ---- races ---- */

/* Write how many races with this change each class has: ": 1 harmful candidate, 2 benign". */
static void put_classes(FILE *out, const struct summary *m, enum store_change change)
{
	const char *before = ": ";

	for (int class = 0; class < SUMMARY_CLASSES; class ++) {
		size_t n = summary_of_class(m, change, (enum summary_class) class);

		if (!n)
			continue;
		fprintf(out, "%s%zu %s%s", before, n, summary_class_word((enum summary_class) class),
			class == SUMMARY_HARMFUL && n > 1 ? "s" : "");
		before = ", ";
	}
}

static void put_new(FILE *out, const struct summary *m)
{
	size_t n = summary_of(m, STORE_CHANGE_NEW), back = summary_of(m, STORE_CHANGE_BACK);

	if (n) {
		fputs(list_count(n, "race", LIST_WORDS), out);
		put_classes(out, m, STORE_CHANGE_NEW);
	} else {
		fputs("nothing", out);
	}
	if (back)
		fprintf(out, "; and %s seen again, although %s marked as fixed", list_count(back, "race", LIST_WORDS),
			back == 1 ? "it was" : "they were");
}

static void put_gone(FILE *out, const struct summary *m)
{
	size_t n = summary_of(m, STORE_CHANGE_GONE);

	if (!m->base) {
		fputs("nothing to compare with: this is the first round", out);
		return;
	}
	if (n) {
		fprintf(out, "%s of round %u", list_count(n, "race", LIST_WORDS), m->base);
		put_classes(out, m, STORE_CHANGE_GONE);
		fprintf(out, "; %zu of them would most likely have been seen if they still existed", summary_looked_for(m));
	} else {
		fputs("nothing", out);
	}
}

static void put_changed(FILE *out, const struct summary *m)
{
	size_t n = summary_of(m, STORE_CHANGE_VERDICT), worse = summary_worse(m);

	if (!n) {
		fputs("no verdict", out);
		return;
	}
	fputs(list_count(n, "verdict", LIST_WORDS), out);
	if (worse)
		fprintf(out, ", %zu of them for the worse", worse);
}

/* ---- runs ---- */

void list_kinds_put(FILE *out, const struct summary *m)
{
	const char *before = "";

	for (int kind = 0; kind < STORE_OUTCOMES; kind++) {
		const char *word = store_outcome_word((enum store_outcome)kind);
		size_t n = 0;

		for (size_t i = 0; ends_is_finding((enum store_outcome)kind) && i < m->finding_count; i++)
			n += strcmp(m->findings[i].kind, word) == 0;
		if (!n)
			continue;
		fprintf(out, "%s%zu %s", before, n, word);
		before = ", ";
	}
}

static void put_broke(FILE *out, const struct summary *m)
{
	struct summary_round total = summary_total(m);
	size_t findings = gate_count(m, GATE_FINDING);

	if (findings) {
		fprintf(out, "%s, %zu not seen before: ", list_count(findings, "finding", LIST_WORDS),
			gate_count(m, GATE_NEW_FINDING));
		list_kinds_put(out, m);
	} else if (!m->ends.failed) {
		fputs("nothing", out);
	}
	if (m->ends.failed) {
		fprintf(out, "%s%" PRIu64 " of %" PRIu64 " runs gave no answer: ", findings ? "; " : "", m->ends.failed,
			m->ends.ended);
		list_failures_put(out, &m->ends);
	}
	if (total.done < total.runs)
		fprintf(out, "; %u of %u runs are not done", total.runs - total.done, total.runs);
}

static void put_explored(FILE *out, const struct summary *m)
{
	struct summary_round total = summary_total(m);

	if (total.explored)
		fprintf(out, "; %s of two programs in %s, %s left", list_count(total.explored, "exploration", LIST_WORDS),
			list_count(total.trials, "trial", LIST_WORDS), list_count(total.untried, "schedule", LIST_WORDS));
}

static void put_covered(FILE *out, const struct summary *m)
{
	struct summary_point now = summary_covered(m), before = summary_covered_before(m);

	if (now.sites)
		fprintf(out, "%s%s%s sites (%s new); ", list_number(now.sites, LIST_WORDS), m->pool ? " of " : "",
			m->pool ? list_number(m->pool, LIST_WORDS) : "", list_number(now.sites - before.sites, LIST_WORDS));
	if (now.estimate > 0)
		fprintf(out, "%s of some %s pairs raced (Chao1 estimate)", list_number(now.pairs, LIST_WORDS),
			list_number((uint64_t)(now.estimate + 0.5), LIST_WORDS));
	else
		fprintf(out, "%s raced", list_count(now.pairs, "pair", LIST_WORDS));
	put_explored(out, m);
}

void list_effort_put(FILE *out, const struct summary *m)
{
	struct summary_round total = summary_total(m);

	fprintf(out, "%s, %s and %s in %s of sampling", list_count(total.hits, "hit", LIST_WORDS),
		list_count(total.windows, "window", LIST_WORDS), list_count(total.conflicts, "conflict", LIST_WORDS),
		list_span(total.sampled_ns, LIST_WORDS));
	if (total.lost_permille >= 0)
		fprintf(out, "; CPUs were stopped for %d.%d %% of it, in the worst run for %d.%d %%", total.lost_permille / 10,
			total.lost_permille % 10, total.lost_most / 10, total.lost_most % 10);
}

/* ---- answers ---- */

const char *list_answer_word(enum list_answer answer)
{
	static const char *const words[LIST_ANSWERS] = {
		[LIST_NEW] = "new",	[LIST_GONE] = "gone",	    [LIST_CHANGED] = "changed",
		[LIST_BROKE] = "broke", [LIST_COVERED] = "covered",
	};

	return words[answer];
}

void list_answer_put(FILE *out, const struct summary *m, enum list_answer answer)
{
	static void (*const put[LIST_ANSWERS])(FILE * out, const struct summary *m) = {
		[LIST_NEW] = put_new,	  [LIST_GONE] = put_gone,	[LIST_CHANGED] = put_changed,
		[LIST_BROKE] = put_broke, [LIST_COVERED] = put_covered,
	};

	put[answer](out, m);
}

bool list_answer_is_bad(const struct summary *m, enum list_answer answer)
{
	switch (answer) {
	case LIST_NEW:
		for (size_t i = 0; i < m->race_count; i++) {
			if (m->races[i].change <= STORE_CHANGE_BACK && m->races[i].verdict.class == SUMMARY_HARMFUL &&
			    summary_is_worse(&m->races[i]))
				return true;
		}
		return false;
	case LIST_CHANGED:
		return summary_worse(m) != 0;
	case LIST_BROKE:
		return m->finding_count != 0 || m->ends.failed != 0;
	default:
		return false;
	}
}

/*
 * If the round is not complete, write why, and return true: such a round does not show whether the kernel is free of new races.
 * Returns false, without writing, if the round is complete.
 */
static bool put_headline_state(FILE *out, const struct summary *m)
{
	switch (gate_state(&m->ends, m->unfinished)) {
	case GATE_FAILED:
		fputs("FAILED, no run gave an answer", out);
		return true;
	case GATE_PARTLY:
		fprintf(out, "%" PRIu64 " of %" PRIu64 " runs failed", m->ends.failed, m->ends.ended);
		return true;
	case GATE_UNFINISHED:
		fputs("not finished", out);
		return true;
	default:
		return false;
	}
}

void list_headline_put(FILE *out, const struct summary *m)
{
	size_t n = summary_of(m, STORE_CHANGE_NEW), back = summary_of(m, STORE_CHANGE_BACK),
	       changed = summary_of(m, STORE_CHANGE_VERDICT), harmful = summary_of_class(m, STORE_CHANGE_NEW, SUMMARY_HARMFUL);
	size_t findings = gate_count(m, GATE_FINDING);
	const char *before = "";

	if (put_headline_state(out, m))
		before = ", ";
	if (n) {
		fprintf(out, "%s%s", before, list_count(n, "new race", LIST_WORDS));
		if (harmful)
			fprintf(out, " (%zu harmful)", harmful);
		before = ", ";
	}
	if (back) {
		fprintf(out, "%s%zu back", before, back);
		before = ", ";
	}
	if (changed) {
		fprintf(out, "%s%zu changed", before, changed);
		before = ", ";
	}
	if (findings) {
		fprintf(out, "%s%s", before, list_count(findings, "finding", LIST_WORDS));
		before = ", ";
	}
	if (!before[0])
		fputs("nothing new", out);
}

/* ---- rounds ---- */

void list_rounds_put(FILE *out, const struct summary *m)
{
	if (m->from == m->to)
		fprintf(out, "round %u", m->to);
	else
		fprintf(out, "rounds %u to %u", m->from, m->to);
	if (m->base)
		fprintf(out, " against round %u", m->base);
	else
		fputs(m->from == m->to ? ", the first" : "", out);
}

void list_cut_off_put(FILE *out, uint64_t attempts)
{
	if (attempts)
		fprintf(out, "; %s %s cut off", list_count(attempts, "attempt", LIST_WORDS), attempts == 1 ? "was" : "were");
}

void list_when_put(FILE *out, const struct summary *m)
{
	struct summary_round total = summary_total(m);
	const char *started = list_time(total.started, LIST_WORDS), *ended = list_time(total.ended, LIST_WORDS);

	if (!ended[0])
		fprintf(out, "%s UTC, not finished", started);
	else if (strncmp(started, ended, 11) == 0)
		fprintf(out, "%s to %s UTC", started, ended + 11);
	else
		fprintf(out, "%s to %s UTC", started, ended);
	fprintf(out, ", %u of %u run%s done", total.done, total.runs, total.runs == 1 ? "" : "s");
	list_ends_put(out, &m->ends);
	list_cut_off_put(out, total.cut_off);
}

static void put_builds(FILE *out, const struct summary_race *r)
{
	const char *before = "; in ";

	for (size_t i = 0; i < r->build_count; i++) {
		bool twice = false;

		for (size_t j = 0; j < i; j++)
			twice |= strcmp(r->builds[i].release, r->builds[j].release) == 0;
		if (twice || !r->builds[i].release[0])
			continue;
		fprintf(out, "%s%s", before, r->builds[i].release);
		before = ", ";
	}
}

void list_missed_put(FILE *out, const struct summary_race *r)
{
	if (r->missed < 0) {
		fputs("the probability that the windows since then would miss it is not known", out);
		return;
	}
	if (!r->windows_since) {
		fputs("its sites were not sampled since then, so its absence proves nothing", out);
		return;
	}
	fprintf(out, "%s window%s at its sites since then would miss it with a probability of %.1f %%",
		list_number(r->windows_since, LIST_WORDS), r->windows_since == 1 ? "" : "s", 100 * r->missed);
	if (r->missed > SUMMARY_MISSED_MAX)
		fputs(", so its absence proves nothing", out);
}

void list_seen_put(FILE *out, const struct summary *m, const struct summary_race *r)
{
	if (r->change == STORE_CHANGE_GONE)
		fprintf(out, "seen in %s up to round %u", list_count(r->rounds, "round", LIST_WORDS), m->base);
	else
		fprintf(out, "seen %s in %s", list_count(r->instances, "time", LIST_WORDS),
			list_count(r->runs, "run", LIST_WORDS));
	if (r->change != STORE_CHANGE_NEW && r->first_round)
		fprintf(out, ", first in round %u", r->first_round);
	put_builds(out, r);
	if (r->change == STORE_CHANGE_GONE) {
		fputs("; ", out);
		list_missed_put(out, r);
	}
}

/* ---- subsystems ---- */

static int compare_subsystems(const void *x, const void *y)
{
	const struct list_subsystem *a = x, *b = y;

	if (a->worse != b->worse)
		return a->worse < b->worse ? 1 : -1;
	if (a->shown != b->shown)
		return a->shown < b->shown ? 1 : -1;
	if (a->all != b->all)
		return a->all < b->all ? 1 : -1;
	return strcmp(a->name, b->name);
}

struct list_subsystem *list_subsystems(const struct summary *m, size_t *count)
{
	struct list_subsystem *list = m->race_count ? calloc(m->race_count, sizeof(*list)) : NULL;

	*count = 0;
	for (size_t i = 0; list && i < m->race_count; i++) {
		const struct summary_race *r = &m->races[i];
		size_t at = 0;

		if (r->change == STORE_CHANGE_GONE)
			continue;
		while (at < *count && strcmp(list[at].name, r->subsystem) != 0)
			at++;
		*count += at == *count;
		list[at].name = r->subsystem;
		list[at].worse += summary_is_worse(r);
		list[at].shown += r->change < STORE_CHANGE_GONE;
		list[at].all++;
	}
	if (list)
		qsort(list, *count, sizeof(*list), compare_subsystems);
	return list;
}
