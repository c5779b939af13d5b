// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores and lists the rounds of campaigns, with the numbers of their runs and races. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hv/campaign/store/internal.h"

/*
 * From this number of rounds on, one query over the whole store counts the races of all rounds. For fewer rounds, one query a
 * round is cheaper.
 */
#define MANY 16

/* ---- begin and end ---- */

static void random_uuid(char out[STORE_UUID_MAX])
{
	struct siphash_seed {
		uint64_t word[2];
	} seed = {{0}};
	char text[2][17];

	/* If the host gives no random numbers, make the uuid from the time, which is unique enough. */
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed.word[0] = (uint64_t)realtime_ms();
	snprintf(text[0], sizeof(text[0]), "%016llx", (unsigned long long)seed.word[0]);
	snprintf(text[1], sizeof(text[1]), "%016llx", (unsigned long long)seed.word[1]);
	store_uuid(text[0], text[1], out);
}

/*
 * Find the next number of a round: one more than the largest number among the campaign's rounds and the numbers that
 * store_round_number() reserved. The caller has a transaction that writes, so no other process can get the same number.
 */
static int next_number(struct store *s, const char *campaign, int64_t *number, struct err *err)
{
	int64_t last = 0;

	if (db_number(
		    s->db, err, &last,
		    "SELECT max(u.number) FROM (SELECT coalesce(max(r.number), 0) AS number FROM round r WHERE r.campaign = $1 "
		    "UNION ALL SELECT coalesce(max(g.number), 0) FROM given g WHERE g.campaign = $1) u",
		    "t", campaign) < 0)
		return -1;
	if (last < 0 || last >= STORE_NUMBER_MAX)
		return err_set(err, EXIT_INPUT,
			       "%s: the last round of %.64s has the number %" PRId64
			       ", and no number follows that one; give one with --round",
			       store_where(s), campaign, last);
	*number = last + 1;
	return 0;
}

/*
 * Check that no other round of the campaign has the number. A number given with --round belongs to one round, whose uuid is
 * computed from it.
 */
static int check_number(struct store *s, const struct store_round_plan *plan, const char *uuid, struct err *err)
{
	int64_t others = 0;

	if (db_number(s->db, err, &others, "SELECT count(*) FROM round WHERE campaign = $1 AND number = $2 AND uuid <> $3",
		      "tit", plan->campaign, (int64_t)plan->number, uuid) < 0)
		return -1;
	return others ? err_set(err, EXIT_USAGE,
				"%s: round %" PRIu64
				" of %.64s was begun without --round, so it is not one that several machines "
				"share; give another number",
				store_where(s), plan->number, plan->campaign)
		      : 0;
}

int store_round_write(struct db *db, const char *uuid, const char *campaign, int64_t number, const char *plan_hash,
		      int64_t started, int64_t *id, struct err *err)
{
	int64_t made = db_run(db, err,
			      "INSERT INTO round (uuid, campaign, number, plan_hash, started) VALUES ($1, $2, $3, $4, $5) "
			      "ON CONFLICT (uuid) DO NOTHING",
			      "ttiti", uuid, campaign, number, plan_hash, started);

	if (made < 0 || db_number(db, err, id, "SELECT id FROM round WHERE uuid = $1", "t", uuid) < 0)
		return -1;
	return made > 0;
}

static int insert_round(struct store *s, const struct store_round_plan *plan, const char *uuid, int64_t *id, struct err *err)
{
	int64_t number = (int64_t)plan->number;
	int rc = number ? check_number(s, plan, uuid, err) : next_number(s, plan->campaign, &number, err);

	if (rc < 0)
		return -1;
	return store_round_write(s->db, uuid, plan->campaign, number, plan->plan_hash, realtime_ms(), id, err);
}

static int begin(struct store *s, const struct store_round_plan *plan, const char *uuid, int64_t *id, struct err *err)
{
	if (insert_round(s, plan, uuid, id, err) < 0)
		return -1;
	/* Insert the shard, or continue it if it was begun before. */
	return db_exec(s->db, err,
		       "INSERT INTO part (round_id, shard, planned, started, ended) VALUES ($1, $2, $3, $4, 0) "
		       "ON CONFLICT (round_id, shard) DO UPDATE SET planned = excluded.planned, ended = 0",
		       "itii", *id, plan->shard, (int64_t)plan->planned, realtime_ms());
}

int store_round_number(struct store *s, const char *campaign, uint64_t *number, struct err *err)
{
	int64_t given = 0;

	if (db_begin(s->db, true, err) < 0)
		return -1;
	if (next_number(s, campaign, &given, err) < 0 ||
	    db_run(s->db, err,
		   "INSERT INTO given (campaign, number) VALUES ($1, $2) ON CONFLICT (campaign) DO UPDATE SET number = "
		   "excluded.number",
		   "ti", campaign, given) < 0) {
		db_rollback(s->db);
		return -1;
	}
	*number = (uint64_t)given;
	return db_commit(s->db, err);
}

int store_round_begin(struct store *s, const struct store_round_plan *plan, struct store_rounds *out, struct err *err)
{
	struct store_rounds_query q = {0};
	char uuid[STORE_UUID_MAX];

	*out = (struct store_rounds){0};
	random_uuid(uuid);
	if (db_begin(s->db, true, err) < 0)
		return -1;
	if (db_end(s->db, begin(s, plan, plan->uuid ? plan->uuid : uuid, &q.id, err), err) < 0)
		return -1;
	return store_rounds(s, &q, out, err);
}

int store_round_end(struct store *s, int64_t round, const char *shard, struct err *err)
{
	if (db_begin(s->db, true, err) < 0)
		return -1;
	return db_end(s->db,
		      db_exec(s->db, err, "UPDATE part SET ended = $1 WHERE round_id = $2 AND shard = $3 AND ended = 0", "iit",
			      realtime_ms(), round, shard),
		      err);
}

/* ---- queries ---- */

static int read_head(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_rounds *out = ctx;
	struct store_round *r = list_grow(&out->list, &out->count, sizeof(*r), err);
	const char *uuid;

	if (!r)
		return -1;
	store_columns(rows, 0, out->text, "ittiti", &r->id, &uuid, &r->campaign, &r->number, &r->plan_hash, &r->started);
	snprintf(r->uuid, sizeof(r->uuid), "%s", uuid);
	r->lost_permille = r->lost_most = -1;
	return 0;
}

/* Read the rounds, newest first, so that LIMIT keeps the newest ones. */
static int read_heads(struct store *s, const struct store_rounds_query *q, struct store_rounds *out, struct err *err)
{
	const char *name = q->name ? q->name : "";
	struct db_rows *rows = db_query(
		s->db, err,
		"SELECT r.id, r.uuid, r.campaign, r.number, r.plan_hash, r.started FROM round r WHERE ($1 = '' OR "
		"r.campaign = $1) "
		"AND ($2 = 0 OR r.id = $2) AND ($3 = '' OR CAST(r.number AS TEXT) = $3 OR (length($3) >= 4 AND "
		"substr(r.uuid, 1, length($3)) = $3)) "
		"AND ($4 = 0 OR (r.started, r.uuid) < (SELECT b.started, b.uuid FROM round b WHERE b.id = $4)) "
		"AND ($5 = 0 OR EXISTS (SELECT 1 FROM part p WHERE p.round_id = r.id AND p.shard = $6 AND p.ended = 0)) "
		"ORDER BY r.started DESC, r.uuid DESC LIMIT $7",
		"titiiti", q->campaign, q->id, name, q->before, (int64_t)q->unfinished, q->shard,
		q->last ? (int64_t)q->last : INT64_MAX);

	return db_each(rows, read_head, out, err);
}

static void reverse(struct store_rounds *r)
{
	for (size_t i = 0; i < r->count / 2; i++) {
		struct store_round swap = r->list[i];

		r->list[i] = r->list[r->count - 1 - i];
		r->list[r->count - 1 - i] = swap;
	}
}

/* The shards of a round while they are read. */
struct shards {
	unsigned long of; /* into how many shards the round is split: N of "I/N"; 0: it is not split */
	uint64_t count;
};

static int read_shard(const struct db_rows *rows, void *ctx, struct err *err)
{
	const char *slash = strchr(db_text(rows, 0), '/');
	unsigned long of = slash ? strtoul(slash + 1, NULL, 10) : 0;
	struct shards *shards = ctx;

	(void)err;
	/* If shards of the round come from several splits (2/4, 3/8), count only those of the finest split. */
	if (of > shards->of)
		*shards = (struct shards){.of = of};
	shards->count += of == shards->of;
	return 0;
}

static int read_shards(struct store *s, struct store_round *r, struct err *err)
{
	struct shards shards = {0};

	if (db_each(db_query(s->db, err, "SELECT shard FROM part WHERE round_id = $1", "i", r->id), read_shard, &shards, err) <
	    0)
		return -1;
	r->missing_shards = shards.of > shards.count ? shards.of - shards.count : 0;
	return 0;
}

static int read_parts(struct store *s, struct store_round *r, struct err *err)
{
	struct db_rows *rows =
		db_query(s->db, err,
			 "SELECT coalesce(sum(planned), 0), coalesce(min(ended), 0), coalesce(max(ended), 0) FROM part "
			 "WHERE round_id = $1",
			 "i", r->id);
	int64_t first = 0, last = 0;

	if (store_row(rows, NULL, err, "iii", &r->planned, &first, &last) < 0)
		return -1;
	r->ended = first ? last : 0;
	return read_shards(s, r, err);
}

/*
 * Read into `r` the sums over a round's runs. In the query, `whole` is 0 for an attempt that was cut off (see
 * store_is_attempt()), and 1 for a run of the plan. The hits and windows of attempts are added to the sums, but attempts are
 * not counted as runs.
 */
static int read_runs(struct store *s, struct store_round *r, struct err *err)
{
	struct db_rows *rows = db_query(
		s->db, err,
		"SELECT coalesce(sum(whole), 0), coalesce(sum(whole * state), 0), "
		"coalesce(sum(hits), 0), coalesce(sum(windows), 0), coalesce(sum(conflicts), 0), "
		"CAST(coalesce(sum(sampled_ns), 0) AS BIGINT), coalesce(sum(CASE WHEN sampled_ns > 0 THEN 1 ELSE 0 END), 0), "
		"coalesce(max(lost_permille), -1), "
		"CAST(coalesce(sum(CASE WHEN lost_permille >= 0 THEN sampled_ns / 1000000 * lost_permille ELSE 0 END), 0) AS "
		"BIGINT), "
		"CAST(coalesce(sum(CASE WHEN lost_permille >= 0 THEN sampled_ns / 1000000 ELSE 0 END), 0) AS BIGINT), "
		"coalesce(sum(1 - whole), 0) "
		"FROM (SELECT state, hits, windows, conflicts, sampled_ns, lost_permille, "
		"CASE WHEN cell LIKE '%~%' THEN 0 ELSE 1 END AS whole FROM run WHERE round_id = $1) u",
		"i", r->id);
	int64_t lost = 0, all = 0;
	int rc = store_row(rows, NULL, err, "iiiiiiiniii", &r->begun, &r->done, &r->hits, &r->windows, &r->conflicts,
			   &r->sampled_ns, &r->sampled_runs, &r->lost_most, &lost, &all, &r->cut_off);

	r->lost_permille = all > 0 ? (int)(lost / all) : r->lost_most;
	return rc;
}

/* Read into `r` what the round's runs explored. */
static int read_explored(struct store *s, struct store_round *r, struct err *err)
{
	struct db_rows *rows = db_query(s->db, err,
					"SELECT count(*), coalesce(sum(e.trials), 0), coalesce(sum(e.untried), 0) FROM run u "
					"JOIN explored e ON e.run_id = "
					"u.id WHERE u.round_id = $1",
					"i", r->id);

	return store_row(rows, NULL, err, "iii", &r->explored, &r->trials, &r->untried);
}

/* Add to the round's figures `races` races of this class, of which `fresh` were seen in no earlier round. */
static void count_races(struct store_round *r, int64_t class, int64_t races, int64_t fresh)
{
	if (class < 0 || class >= STORE_CLASSES)
		return;
	r->of_class[class] = (uint64_t)races;
	r->races += (uint64_t)races;
	r->new_races += (uint64_t)fresh;
}

static int add_class(const struct db_rows *rows, void *ctx, struct err *err)
{
	(void)err;
	count_races(ctx, db_int(rows, 0), db_int(rows, 1), db_int(rows, 2));
	return 0;
}

/* Count each race of the round once, by its most serious verdict in the round. The race is new if no earlier round has it. */
static int read_races(struct store *s, struct store_round *r, struct err *err)
{
	struct db_rows *rows =
		db_query(s->db, err,
			 "SELECT w.class, count(*), sum(CASE WHEN EXISTS (SELECT 1 FROM race o JOIN race_round e ON e.race_id "
			 "= o.id JOIN round q ON q.id = e.round_id WHERE o.line = w.line AND (q.started, q.uuid) < ($1, $2)) "
			 "THEN 0 ELSE 1 END) FROM (SELECT r.line AS line, min(v.class) AS class FROM race_round x JOIN race r "
			 "ON r.id = x.race_id JOIN verdict v ON v.id = x.verdict_id WHERE x.round_id = $3 GROUP BY r.line) w "
			 "GROUP BY w.class",
			 "iti", r->started, r->uuid, r->id);

	return db_each(rows, add_class, r, err);
}

/*
 * Count the races as read_races() does, for all rounds in one query. The rounds of each race are numbered by their start, and
 * the race is new in the round with number 1.
 */
static const char all_races_sql[] =
	"SELECT y.round_id, y.class, count(*), sum(CASE WHEN y.nth = 1 THEN 1 ELSE 0 END) FROM (SELECT x.round_id, "
	"min(v.class) AS class, "
	"row_number() OVER (PARTITION BY r.line ORDER BY min(q.started), min(q.uuid)) AS nth FROM race_round x JOIN race r ON "
	"r.id = "
	"x.race_id JOIN round q ON q.id = x.round_id JOIN verdict v ON v.id = x.verdict_id GROUP BY r.line, x.round_id) y "
	"GROUP BY y.round_id, y.class";

static struct store_round *find_round(struct store_rounds *out, int64_t id)
{
	for (size_t i = 0; i < out->count; i++) {
		if (out->list[i].id == id)
			return &out->list[i];
	}
	return NULL;
}

static int add_races(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_round *r = find_round(ctx, db_int(rows, 0));

	(void)err;
	if (r)
		count_races(r, db_int(rows, 1), db_int(rows, 2), db_int(rows, 3));
	return 0;
}

static int read_all_races(struct store *s, struct store_rounds *out, struct err *err)
{
	return db_each(db_query(s->db, err, all_races_sql, ""), add_races, out, err);
}

static int add_finding(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_round *r = ctx;
	int kind = store_outcome_from_word(db_text(rows, 0));

	(void)err;
	if (kind >= 0 && ends_is_finding((enum store_outcome)kind))
		r->findings += (uint64_t)db_int(rows, 1);
	return 0;
}

static int read_findings(struct store *s, struct store_round *r, struct err *err)
{
	return db_each(db_query(s->db, err,
				"SELECT f.kind, count(*) FROM finding f JOIN run u ON u.id = f.run_id WHERE u.round_id = $1 "
				"GROUP BY f.kind",
				"i", r->id),
		       add_finding, r, err);
}

/* ---- how runs ended ---- */

/*
 * Select how each run ended. A run that explored has no hits, and gave an answer all the same. The query lists the kinds of
 * findings that are failures; ends_is_failure() must list the same kinds.
 */
static const char ends_sql[] = "SELECT u.outcome, CASE WHEN u.engine = 'explore' THEN 1 ELSE u.hits END, coalesce((SELECT "
			       "f.kind FROM finding f WHERE f.run_id = u.id AND f.kind IN ('failed', "
			       "'no-report', 'truncated', 'unsampled') ORDER BY f.number LIMIT 1), 'ok') FROM run u "
			       "WHERE u.round_id = $1 AND u.state = 1 AND u.cell NOT LIKE '%~%' AND ($2 = '' OR u.shard = $2)";

static int read_end(const struct db_rows *rows, void *ctx, struct err *err)
{
	int64_t outcome = db_int(rows, 0), hits = db_int(rows, 1);
	int failure = store_outcome_from_word(db_text(rows, 2));

	(void)err;
	/*
	 * An outcome that this version does not know comes from a newer version. Count such a run as failed: it cannot be
	 * called ok.
	 */
	ends_count(ctx, outcome >= 0 && outcome < STORE_OUTCOMES ? (enum store_outcome)outcome : STORE_FAILED,
		   failure < 0 ? STORE_FAILED : (enum store_outcome)failure, hits > 0 ? (uint64_t)hits : 0);
	return 0;
}

static int read_ends(struct store *s, int64_t round, const char *shard, struct store_ends *out, struct err *err)
{
	*out = (struct store_ends){0};
	return db_each(db_query(s->db, err, ends_sql, "it", round, shard ? shard : ""), read_end, out, err);
}

int store_round_ends(struct store *s, int64_t round, const char *shard, struct store_ends *out, struct err *err)
{
	struct store_text *text = NULL;
	int rc = store_read_begin(s, &text, err);

	if (rc == 0)
		rc = read_ends(s, round, shard, out, err);
	rc = store_read_end(s, rc, text, err);
	text_free(text);
	return rc;
}

static int read_all(struct store *s, const struct store_rounds_query *q, struct store_rounds *out, struct err *err)
{
	if (read_heads(s, q, out, err) < 0)
		return -1;
	reverse(out);
	for (size_t i = 0; i < out->count; i++) {
		struct store_round *r = &out->list[i];

		if (read_parts(s, r, err) < 0 || read_runs(s, r, err) < 0 || read_explored(s, r, err) < 0 ||
		    read_findings(s, r, err) < 0 || read_ends(s, r->id, "", &r->ends, err) < 0 ||
		    (out->count < MANY && read_races(s, r, err) < 0))
			return -1;
	}
	return out->count >= MANY ? read_all_races(s, out, err) : 0;
}

int store_rounds(struct store *s, const struct store_rounds_query *q, struct store_rounds *out, struct err *err)
{
	int rc;

	*out = (struct store_rounds){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = read_all(s, q, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_rounds_free(out);
	return rc;
}
