// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the state of a campaign: which runs are running, how many are left, and what the latest rounds found. */
#include "hv/campaign/list/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/campaign/list/ends_text.h"
#include "hv/campaign/list/gate.h"
#include "hv/campaign/list/json.h"
#include "hv/campaign/list/sentences.h"
#include "hv/report/text/fold.h"

#define SCHEMA "outrider-campaign-status/1"
#define TEXT_WIDTH 100
#define ROUNDS 2

/*
 * Whether a process of an unfinished run is alive: yes; no, so the run was cut off; or unknown, for example because the run is
 * on another machine.
 */
enum life { LIFE_RUNS, LIFE_CUT_OFF, LIFE_UNKNOWN };

struct status {
	char store[CLEAN_FIELD_MAX]; /* the path or URL, printable */
	struct store_rounds rounds;  /* the latest rounds of the campaign, oldest first: at most ROUNDS */
	struct store_runs runs[ROUNDS];
};

/* ---- queries ---- */

/*
 * Returns whether a process of the run with this folder is alive: such a process holds a lock on the folder's stderr.log. If
 * the run is on another machine, the file does not exist here, and the result is LIFE_UNKNOWN.
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

/* Returns whether the run has begun and not ended. */
static bool is_unfinished(const struct store_run *r)
{
	return !store_is_attempt(r->key) && r->state != STORE_DONE;
}

/* Get the campaign's rounds. If `campaign` is NULL, take the campaign of the round that started last. */
static int get_rounds(struct status *s, struct store *store, const char *campaign, struct err *err)
{
	struct store_rounds_query q = {.campaign = campaign, .last = 1};
	struct store_rounds last = {0};
	int rc = store_rounds(store, &q, &last, err);

	if (rc == 0 && !last.count)
		rc = err_set(err, EXIT_INPUT, "%s: no round of %s%s is in this store", store_where(store),
			     campaign ? "the campaign " : "any campaign", campaign ? campaign : "");
	if (rc == 0) {
		q = (struct store_rounds_query){.campaign = last.list[0].campaign, .last = ROUNDS};
		rc = store_rounds(store, &q, &s->rounds, err);
	}
	store_rounds_free(&last);
	for (size_t i = 0; rc == 0 && i < s->rounds.count; i++)
		rc = store_runs(store, s->rounds.list[i].id, &s->runs[i], err);
	return rc;
}

struct status *status_get(struct store *store, const char *campaign, struct err *err)
{
	struct status *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	snprintf(s->store, sizeof(s->store), "%s", store_where(store));
	clean_line(s->store, sizeof(s->store));
	if (get_rounds(s, store, campaign, err) == 0)
		return s;
	status_free(s);
	return NULL;
}

void status_free(struct status *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ROUNDS; i++)
		store_runs_free(&s->runs[i]);
	store_rounds_free(&s->rounds);
	free(s);
}

/* ---- text ---- */

static const char *minute_of(int64_t ms, char out[LIST_WORDS_MAX])
{
	return list_time(list_stamp(ms, LIST_WORDS), out);
}

static uint64_t left_of(const struct store_round *r)
{
	return r->planned > r->begun ? r->planned - r->begun : 0;
}

static void put_head(FILE *out, const struct store_round *r)
{
	fprintf(out, "%s, round %" PRIu64 ": started %s UTC, ", r->campaign, r->number, minute_of(r->started, LIST_WORDS));
	if (r->ended)
		fprintf(out, "ended %s UTC, ", minute_of(r->ended, LIST_WORDS));
	else
		fputs("not ended, ", out);
	fprintf(out, "%" PRIu64 " of %" PRIu64 " runs done, %" PRIu64 " left", r->done,
		r->planned > r->begun ? r->planned : r->begun, left_of(r));
	list_ends_put(out, &r->ends);
	list_cut_off_put(out, r->cut_off);
	fputc('\n', out);
}

static void put_run(FILE *out, const struct store_run *run)
{
	static const char *const words[] = {[LIFE_RUNS] = "now", [LIFE_CUT_OFF] = "cut off", [LIFE_UNKNOWN] = "begun"};
	static const char *const means[] = {
		[LIFE_RUNS] = "",
		[LIFE_CUT_OFF] = "; its processes are gone, and --resume starts it again",
		[LIFE_UNKNOWN] = "; its files are not on this machine",
	};
	enum life life = life_of(run->folder);

	fprintf(out, "  %-8s  %s, since %s UTC%s\n", words[life], run->key, minute_of(run->started, LIST_WORDS), means[life]);
}

static void put_ended(FILE *out, const struct store_ends *ends)
{
	const char *before = "  ended     ";

	for (int i = 0; i < STORE_OUTCOMES; i++) {
		if (!ends->of_outcome[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, ends->of_outcome[i], store_outcome_word((enum store_outcome)i));
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

static void put_found(FILE *out, const struct store_round *r)
{
	fprintf(out, "  found     %s, %" PRIu64 " of them new; %s; %s in %s of sampling\n",
		list_count(r->races, "race", LIST_WORDS), r->new_races, list_count(r->findings, "finding", LIST_WORDS),
		list_count(r->hits, "hit", LIST_WORDS), list_span(r->sampled_ns, LIST_WORDS));
}

void status_text(FILE *out, const struct status *s, unsigned width)
{
	FILE *folded = fold_open(out, width ? width : TEXT_WIDTH), *to = folded ? folded : out;

	for (size_t i = s->rounds.count; i-- > 0;) {
		const struct store_round *r = &s->rounds.list[i];

		put_head(to, r);
		for (size_t j = 0; j < s->runs[i].count; j++) {
			if (is_unfinished(&s->runs[i].list[j]))
				put_run(to, &s->runs[i].list[j]);
		}
		put_ended(to, &r->ends);
		put_found(to, r);
	}
	if (folded)
		fclose(folded);
}

/* ---- JSON ---- */

static json_t *runs_json(struct json_builder *b, const struct store_runs *runs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < runs->count; i++) {
		const struct store_run *run = &runs->list[i];
		enum life life;
		json_t *o;

		if (!is_unfinished(run))
			continue;
		life = life_of(run->folder);
		o = json_object();
		json_put(b, o, "run", json_text(run->key));
		json_put(b, o, "started", json_text(list_stamp(run->started, LIST_WORDS)));
		/* null: this machine cannot tell whether the run's process is still alive */
		json_put(b, o, "alive", life == LIFE_UNKNOWN ? json_null() : json_boolean(life == LIFE_RUNS));
		json_append(b, list, o);
	}
	return list;
}

static json_t *round_json(struct json_builder *b, const struct store_round *r, const struct store_runs *runs)
{
	json_t *o = json_object(), *outcomes = json_object();

	for (int i = 0; i < STORE_OUTCOMES; i++)
		json_put(b, outcomes, store_outcome_word((enum store_outcome)i), json_whole(r->ends.of_outcome[i]));
	json_put(b, o, "campaign", json_text(r->campaign));
	json_put(b, o, "number", json_whole(r->number));
	json_put(b, o, "started", json_text(list_stamp(r->started, LIST_WORDS)));
	json_put(b, o, "ended", json_text(list_stamp(r->ended, LIST_WORDS)));
	json_put(b, o, "planned", json_whole(r->planned));
	json_put(b, o, "begun", json_whole(r->begun));
	json_put(b, o, "done", json_whole(r->done));
	json_put(b, o, "cut_off", json_whole(r->cut_off));
	json_put(b, o, "state", json_string(gate_state_word(gate_state(&r->ends, !r->ended || r->missing_shards))));
	json_put(b, o, "outcomes", outcomes);
	list_json_ends(b, o, &r->ends);
	json_put(b, o, "running", runs_json(b, runs));
	json_put(b, o, "races", json_whole(r->races));
	json_put(b, o, "new", json_whole(r->new_races));
	json_put(b, o, "findings", json_whole(r->findings));
	json_put(b, o, "hits", json_whole(r->hits));
	json_put(b, o, "sampled_s", json_seconds(r->sampled_ns));
	return o;
}

int status_json(FILE *out, const struct status *s, struct err *err)
{
	struct json_builder b = {0};
	json_t *o = json_object(), *rounds = json_array();

	for (size_t i = s->rounds.count; i-- > 0;)
		json_append(&b, rounds, round_json(&b, &s->rounds.list[i], &s->runs[i]));
	json_put(&b, o, "schema", json_string(SCHEMA));
	json_put(&b, o, "store", json_text(s->store));
	json_put(&b, o, "rounds", rounds);
	return json_document_write(out, &b, o, err);
}
