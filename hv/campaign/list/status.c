// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the state of a campaign: which runs are running, how many are left, and what the latest rounds found. */
#include "hv/campaign/list/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "hv/campaign/list/ends_text.h"
#include "hv/campaign/list/fill_internal.h"
#include "hv/campaign/list/gate.h"
#include "hv/campaign/list/json.h"
#include "hv/campaign/list/sentences.h"
#include "hv/report/text/fold.h"

#define SCHEMA "outrider-campaign-status/1"
#define TEXT_WIDTH 100
#define ROUNDS 2

/* Whether the processes of an unfinished run live. */
enum life { LIFE_RUNS, LIFE_CUT_OFF, LIFE_UNKNOWN };

struct status_run {
	const char *key, *started;
	enum life life;
};

struct status_round {
	const char *campaign, *started, *ended;
	struct store_round figures; /* Use only its numbers: its strings are freed. The members above have copies. */
	struct status_run *runs;    /* runs that have begun and not ended */
	size_t run_count;
};

struct status {
	struct summary m; /* owns all strings */
	struct status_round rounds[ROUNDS];
	size_t count;
};

/* ---- queries ---- */

/*
 * Returns whether the run lives: the runner locks stderr.log as long as any process of the run lives. If the run is on another
 * machine, the file does not exist here.
 */
static enum life life_of(const char *folder)
{
	enum life life = LIFE_UNKNOWN;
	char *path = NULL;
	int fd;

	if (!folder[0] || asprintf(&path, "%s/stderr.log", folder) < 0)
		return LIFE_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	free(path);
	if (fd < 0)
		return LIFE_UNKNOWN;
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		life = LIFE_CUT_OFF;
	else if (errno == EWOULDBLOCK)
		life = LIFE_RUNS;
	close(fd);
	return life;
}

static int add_run(struct fill *f, const struct store_run *from, struct status_round *r)
{
	struct status_run *to = &r->runs[r->run_count++];

	*to = (struct status_run){
		.key = fill_line(f, from->key), .started = fill_time(f, from->started), .life = life_of(from->folder)};
	return to->key && to->started ? 0 : -1;
}

static int get_runs(struct fill *f, int64_t round, struct status_round *r)
{
	struct store_runs runs = {0};
	int rc = store_runs(f->store, round, &runs, f->err);

	if (rc == 0 && runs.count && !(r->runs = calloc(runs.count, sizeof(*r->runs))))
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < runs.count; i++) {
		if (!store_is_attempt(runs.list[i].key) && runs.list[i].state != STORE_DONE)
			rc = add_run(f, &runs.list[i], r);
	}
	store_runs_free(&runs);
	return rc;
}

static int get_round(struct fill *f, const struct store_round *from, struct status *s)
{
	struct status_round *r = &s->rounds[s->count++];

	r->campaign = fill_line(f, from->campaign);
	r->started = fill_time(f, from->started);
	r->ended = fill_time(f, from->ended);
	r->figures = *from;
	return r->campaign && r->started && r->ended ? get_runs(f, from->id, r) : -1;
}

/* Get the campaign's rounds. If `campaign` is NULL, take the campaign of the round that started last. */
static int get_rounds(struct fill *f, const char *campaign, struct status *s)
{
	struct store_rounds_query q = {.campaign = campaign, .last = 1};
	struct store_rounds last = {0}, rounds = {0};
	int rc = store_rounds(f->store, &q, &last, f->err);

	if (rc == 0 && !last.count)
		rc = err_set(f->err, EXIT_INPUT, "%s: no round of %s%s is in this store", store_where(f->store),
			     campaign ? "the campaign " : "any campaign", campaign ? campaign : "");
	if (rc == 0) {
		q = (struct store_rounds_query){.campaign = last.list[0].campaign, .last = ROUNDS};
		rc = store_rounds(f->store, &q, &rounds, f->err);
	}
	for (size_t i = rounds.count; rc == 0 && i-- > 0 && s->count < ROUNDS;)
		rc = get_round(f, &rounds.list[i], s);
	store_rounds_free(&last);
	store_rounds_free(&rounds);
	return rc;
}

struct status *status_get(struct store *store, const char *campaign, struct err *err)
{
	struct status *s = calloc(1, sizeof(*s));
	struct fill f = {.store = store, .err = err};

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	f.m = &s->m;
	s->m.store = fill_line(&f, store_where(store));
	if (s->m.store && get_rounds(&f, campaign, s) == 0)
		return s;
	status_free(s);
	return NULL;
}

void status_free(struct status *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ROUNDS; i++)
		free(s->rounds[i].runs);
	summary_free(&s->m);
	free(s);
}

/* ---- text ---- */

static uint64_t left_of(const struct store_round *r)
{
	return r->planned > r->begun ? r->planned - r->begun : 0;
}

static void put_head(FILE *out, const struct status_round *r)
{
	char started[LIST_TIME_MAX], ended[LIST_TIME_MAX];

	fprintf(out, "%s, round %" PRIu64 ": started %s UTC, ", r->campaign, r->figures.number, list_time(r->started, started));
	if (r->ended[0])
		fprintf(out, "ended %s UTC, ", list_time(r->ended, ended));
	else
		fputs("not ended, ", out);
	fprintf(out, "%" PRIu64 " of %" PRIu64 " runs done, %" PRIu64 " left", r->figures.done,
		r->figures.planned > r->figures.begun ? r->figures.planned : r->figures.begun, left_of(&r->figures));
	list_ends_put(out, &r->figures.ends);
	list_cut_off_put(out, r->figures.cut_off);
	fputc('\n', out);
}

static void put_run(FILE *out, const struct status_run *run)
{
	static const char *const words[] = {[LIFE_RUNS] = "now", [LIFE_CUT_OFF] = "cut off", [LIFE_UNKNOWN] = "begun"};
	static const char *const means[] = {
		[LIFE_RUNS] = "",
		[LIFE_CUT_OFF] = "; its processes are gone, and --resume starts it again",
		[LIFE_UNKNOWN] = "; its files are not on this machine",
	};
	char started[LIST_TIME_MAX];

	fprintf(out, "  %-8s  %s, since %s UTC%s\n", words[run->life], run->key, list_time(run->started, started),
		means[run->life]);
}

static void put_ended(FILE *out, const struct status_round *r)
{
	const char *before = "  ended     ";

	for (int i = 0; i < STORE_OUTCOMES; i++) {
		if (!r->figures.ends.of_outcome[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, r->figures.ends.of_outcome[i],
			store_outcome_word((enum store_outcome)i));
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

static void put_found(FILE *out, const struct store_round *r)
{
	fputs("  found     ", out);
	list_count_put(out, r->races, "race");
	fprintf(out, ", %" PRIu64 " of them new; ", r->new_races);
	list_count_put(out, r->findings, "finding");
	fputs("; ", out);
	list_count_put(out, r->hits, "hit");
	fputs(" in ", out);
	list_span_put(out, r->sampled_ns);
	fputs(" of sampling\n", out);
}

void status_text(FILE *out, const struct status *s, unsigned width)
{
	FILE *folded = fold_open(out, width ? width : TEXT_WIDTH), *to = folded ? folded : out;

	for (size_t i = 0; i < s->count; i++) {
		const struct status_round *r = &s->rounds[i];

		put_head(to, r);
		for (size_t j = 0; j < r->run_count; j++)
			put_run(to, &r->runs[j]);
		put_ended(to, r);
		put_found(to, &r->figures);
	}
	if (folded)
		fclose(folded);
}

/* ---- JSON ---- */

static json_t *runs_json(struct json_builder *b, const struct status_round *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->run_count; i++) {
		json_t *o = json_object();

		json_put(b, o, "run", json_text(r->runs[i].key));
		json_put(b, o, "started", json_text(r->runs[i].started));
		/* null: this machine cannot tell whether the run's process is still alive */
		json_put(b, o, "alive",
			 r->runs[i].life == LIFE_UNKNOWN ? json_null() : json_boolean(r->runs[i].life == LIFE_RUNS));
		json_append(b, list, o);
	}
	return list;
}

static json_t *round_json(struct json_builder *b, const struct status_round *r)
{
	json_t *o = json_object(), *outcomes = json_object();

	for (int i = 0; i < STORE_OUTCOMES; i++)
		json_put(b, outcomes, store_outcome_word((enum store_outcome)i), json_whole(r->figures.ends.of_outcome[i]));
	json_put(b, o, "campaign", json_text(r->campaign));
	json_put(b, o, "number", json_whole(r->figures.number));
	json_put(b, o, "started", json_text(r->started));
	json_put(b, o, "ended", json_text(r->ended));
	json_put(b, o, "planned", json_whole(r->figures.planned));
	json_put(b, o, "begun", json_whole(r->figures.begun));
	json_put(b, o, "done", json_whole(r->figures.done));
	json_put(b, o, "cut_off", json_whole(r->figures.cut_off));
	json_put(b, o, "state",
		 json_string(gate_state_word(gate_state(&r->figures.ends, !r->figures.ended || r->figures.missing_shards))));
	json_put(b, o, "outcomes", outcomes);
	list_json_ends(b, o, &r->figures.ends);
	json_put(b, o, "running", runs_json(b, r));
	json_put(b, o, "races", json_whole(r->figures.races));
	json_put(b, o, "new", json_whole(r->figures.new_races));
	json_put(b, o, "findings", json_whole(r->figures.findings));
	json_put(b, o, "hits", json_whole(r->figures.hits));
	json_put(b, o, "sampled_s", json_seconds(r->figures.sampled_ns));
	return o;
}

int status_json(FILE *out, const struct status *s, struct err *err)
{
	struct json_builder b = {0};
	json_t *o = json_object(), *rounds = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_append(&b, rounds, round_json(&b, &s->rounds[i]));
	json_put(&b, o, "schema", json_string(SCHEMA));
	json_put(&b, o, "store", json_text(s->m.store));
	json_put(&b, o, "rounds", rounds);
	return json_document_write(out, &b, o, err);
}
