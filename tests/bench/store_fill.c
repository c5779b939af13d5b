// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How large and how fast a store is: store_fill STORE ROUNDS RUNS RACES SITES makes a new store with so many rounds of so many
 * runs, each of which saw so many races with 8 single observations each, of some 2000 that there are, and armed so many sites
 * of 400,000. The runs come in by the store's own way for what a report says. Then it makes the queries that a round summary
 * needs, and says how long each took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/base/rng.h"
#include "hv/campaign/store/db.h"
#include "hv/campaign/store/run_data.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/compress.h"

#define POPULATION 2000 /* races that can be seen */
#define POOL 400000	/* sites that can be armed */
#define BUILDS 4	/* of the kernel, one after the other */
#define RECORD 3500	/* bytes of a race's record, as those of stock kernels have */
#define INSTANCES 8

static struct rng rng = {0x0123456789abcdef};

static void die(const struct err *err)
{
	fprintf(stderr, "store_fill: %s\n", err->text);
	exit(err->code);
}

static uint64_t draw(uint64_t below)
{
	return rng_next(&rng) % below;
}

/* Which race is seen: some often, most seldom, as in kernels. */
static unsigned draw_race(unsigned round)
{
	double u = (double)draw(1u << 30) / (1u << 30);
	/* More of them are within reach as rounds go by. */
	unsigned reach = 400 + round * 13 < POPULATION ? 400 + round * 13 : POPULATION;

	return (unsigned)(u * u * u * reach);
}

static void make_key(struct run_data *d, struct store_key *key, unsigned race)
{
	const char *module = race % 3 ? "" : "ext4";

	*key = (struct store_key){
		.sides = {{text_printf(d->text, "reader_of_something_%u", race), module, "read", "fs/ext4/inode.c"},
			  {text_printf(d->text, "writer_of_something_%u", race), module, "write", "fs/ext4/inode.c"}},
		.datum = race % 4 ? text_printf(d->text, "struct inode.i_member_%u", race) : "",
		.place = race % 4 ? "" : text_printf(d->text, "variable_%u+8", race),
	};
	store_key_seal(key, d->text);
}

static void make_race(struct run_data *d, struct run_data_race *r, unsigned race, unsigned build, const void *record,
		      size_t size)
{
	static const struct {
		enum verdict_class class;
		const char *rule;
	} verdicts[] = {{VERDICT_HARMFUL, "no-pattern"}, {VERDICT_UNCLEAR, "publish"}, {VERDICT_BENIGN, "safe-flag-update"}};

	make_key(d, &r->key, race);
	r->report = text_printf(d->text, "%06x%06x", race, build);
	r->site[0] = text_printf(d->text, "reader_of_something_%u+0x%x", race, 16 + build);
	r->site[1] = text_printf(d->text, "writer_of_something_%u+0x%x", race, 32 + build);
	r->seen = INSTANCES;
	r->first_ns = (int64_t)draw(600000000000);
	r->last_ns = r->first_ns + 1000000000;
	r->verdict = (struct store_verdict){
		.class = verdicts[race % 3].class,
		.rank = (int)(70 - race % 60),
		.rule = verdicts[race % 3].rule,
		.evidence = text_printf(
			d->text, "no benign pattern fits i_member_%u; the writer holds no lock that the reader holds", race),
		.suppressed = ""};
	r->instances = calloc(INSTANCES, sizeof(*r->instances));
	for (r->instance_count = 0; r->instances && r->instance_count < INSTANCES; r->instance_count++)
		r->instances[r->instance_count] = (struct run_data_instance){.how = 0,
									     .cpu = {(int64_t)draw(4), (int64_t)draw(4)},
									     .time_ns = r->first_ns + (int64_t)draw(1000000000),
									     .held_ns = (int64_t)draw(8000000)};
	r->record = malloc(size);
	r->record_size = size;
	if (r->record)
		memcpy(r->record, record, size);
}

static int by_identity(const void *left, const void *right)
{
	const struct run_data_race *a = left, *b = right;

	return strcmp(a->key.identity, b->key.identity);
}

/* A race that is drawn twice is seen once. */
static void make_races(struct run_data *d, unsigned round, unsigned build, unsigned races, const void *record, size_t size)
{
	static bool seen[POPULATION];

	memset(seen, 0, sizeof(seen));
	d->races = calloc(races, sizeof(*d->races));
	while (d->races && d->race_count < races) {
		unsigned race = draw_race(round);

		while (seen[race])
			race = (race + 1) % POPULATION;
		seen[race] = true;
		make_race(d, &d->races[d->race_count++], race, build, record, size);
	}
	qsort(d->races, d->race_count, sizeof(*d->races), by_identity);
}

static void make_cover(struct run_data *d, unsigned sites)
{
	FILE *out = open_memstream(&d->coverage.text, &d->coverage.len);

	for (unsigned i = 0; out && i < sites; i++) {
		unsigned site = (unsigned)draw(POOL);

		fprintf(out, "function_%u+0x%x 1 %u %u 0\n", site / 16, site % 16 * 8, site % 3 == 0, site % 3 == 0);
	}
	if (out)
		fclose(out);
}

static void put_run(struct store *s, const struct store_round *round, unsigned nth, const struct run_data *d)
{
	struct store_run_plan plan = {.kernel = "6.1",
				      .image = "small",
				      .workload = "files",
				      .sampling = "plain",
				      .seed = nth,
				      .command = "outrider run --kernel vmlinuz --seed 1",
				      .folder = "runs"};
	struct run_data_run run = {.round = round->id};
	char key[64], uuid[STORE_UUID_MAX];
	struct err err = {0};

	snprintf(key, sizeof(key), "6.1/small/files/plain/%u", nth);
	plan.key = key;
	store_uuid(round->uuid, key, uuid);
	run.uuid = uuid;
	run.started = realtime_ms();
	if (store_run_begin(s, round->id, &plan, &run.id, &err) < 0 || db_begin(s->db, true, &err) < 0 ||
	    db_run(s->db, &err, "UPDATE run SET state = 1, started = $2, ended = $2 WHERE id = $1", "ii", run.id, run.started) <
		    0 ||
	    run_data_write(s->db, d, &run, &err) < 0 || db_commit(s->db, &err) < 0)
		die(&err);
}

static void fill(struct store *s, unsigned rounds, unsigned runs, unsigned races, unsigned sites)
{
	char text[RECORD];
	uint64_t start = monotonic_ns(), stored = 0;
	struct err err = {0};
	size_t size;
	void *record;

	/* As hard to compress as a record is: some 3 KB of a stock kernel's are left. */
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "0123456789abcdef{}[]:,\"abcdefghijklmnopqrstuvwxyz"[draw(48)];
	record = record_compress(text, sizeof(text), &size, &err);
	for (unsigned round = 0; round < rounds; round++) {
		struct store_round_plan plan = {.campaign = "nightly", .planned = runs};
		struct store_rounds begun;

		if (store_round_begin(s, &plan, &begun, &err) < 0)
			die(&err);
		for (unsigned i = 0; i < runs; i++, stored += races) {
			unsigned build = round * BUILDS / rounds;
			struct run_data d;

			run_data_init(&d, &err);
			d.build_id = text_printf(d.text, "aa%02x", build);
			d.banner = text_printf(d.text, "Linux version 6.1.0-%u-cloud-amd64", 53 + build);
			d.hits = 20000;
			d.windows = 9000;
			d.sampled_ns = 600000000000;
			d.lost_permille = 30;
			make_races(&d, round, build, races, record, size);
			make_cover(&d, sites);
			put_run(s, &begun.list[0], i, &d);
			run_data_free(&d);
		}
		if (store_round_end(s, begun.list[0].id, "", &err) < 0)
			die(&err);
		store_rounds_free(&begun);
		if (round % 10 == 9)
			fprintf(stderr, "%u rounds, %" PRIu64 " instances, %.0f s\n", round + 1, stored * INSTANCES,
				(double)(monotonic_ns() - start) / 1e9);
	}
	printf("filled with %" PRIu64 " instances in %.0f s: %.1f runs/s, %.0f instances/s\n", stored * INSTANCES,
	       (double)(monotonic_ns() - start) / 1e9, rounds * runs / ((double)(monotonic_ns() - start) / 1e9),
	       (double)(stored * INSTANCES) / ((double)(monotonic_ns() - start) / 1e9));
	free(record);
}

/* ---- queries of a round summary ---- */

static uint64_t before;

static void took(const char *what, uint64_t rows)
{
	uint64_t now = monotonic_ns();

	printf("%-28s %8.1f ms  %" PRIu64 " rows\n", what, (double)(now - before) / 1e6, rows);
	before = monotonic_ns();
}

static int count_site(void *ctx, const struct store_site *site)
{
	(void)site;
	++*(uint64_t *)ctx;
	return 0;
}

static void ask(struct store *s)
{
	struct store_rounds rounds;
	struct store_races races;
	struct store_runs runs;
	struct store_findings findings;
	struct store_builds builds;
	struct store_coverage coverage;
	struct store_pairs pairs;
	struct err err = {0};
	uint64_t sites = 0;
	int64_t last;

	before = monotonic_ns();
	if (store_rounds(s, &(struct store_rounds_query){.campaign = "nightly", .last = 1}, &rounds, &err) < 0)
		die(&err);
	last = rounds.list[0].id;
	took("the last round", rounds.count);
	store_rounds_free(&rounds);
	if (store_rounds(s, &(struct store_rounds_query){.campaign = "nightly"}, &rounds, &err) < 0)
		die(&err);
	took("all rounds", rounds.count);
	store_rounds_free(&rounds);
	if (store_races(s, &(struct store_races_query){.round = last}, &races, &err) < 0)
		die(&err);
	took("races of the last round", races.count);
	for (size_t i = 0; i < races.count && i < 100; i++) {
		struct store_races_query q = {.round = last, .race = races.list[i].id};

		if (store_builds(s, &q, &builds, &err) < 0)
			die(&err);
		store_builds_free(&builds);
	}
	took("builds of 100 races", 100);
	store_races_free(&races);
	if (store_runs(s, last, &runs, &err) < 0)
		die(&err);
	took("runs of the last round", runs.count);
	store_runs_free(&runs);
	if (store_findings(s, last, &findings, &err) < 0)
		die(&err);
	took("findings of the last round", findings.count);
	store_findings_free(&findings);
	if (store_coverage(s, "nightly", 0, &coverage, &err) < 0)
		die(&err);
	took("coverage over all runs", coverage.count);
	store_coverage_free(&coverage);
	if (store_pairs(s, "aa03", 0, &pairs, &err) < 0)
		die(&err);
	took("pairs of one build", pairs.observed);
	if (store_sites(s, "aa03", count_site, &sites, &err) < 0)
		die(&err);
	took("sites of one build", sites);
	if (store_races(s, &(struct store_races_query){0}, &races, &err) < 0)
		die(&err);
	took("all races of the store", races.count);
	store_races_free(&races);
}

int main(int argc, char **argv)
{
	struct err err = {0};
	struct store *s;

	if (argc != 2 && argc != 6) {
		fprintf(stderr, "usage: store_fill STORE [ROUNDS RUNS RACES SITES]\n");
		return EXIT_USAGE;
	}
	s = store_open(argv[1], STORE_MAKE, STORE_WAIT_MS, &err);
	if (!s)
		die(&err);
	if (argc == 6)
		fill(s, (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]), (unsigned)atoi(argv[5]));
	ask(s);
	printf("%-28s %8.1f MiB\n", "size", (double)db_size(s->db, &err) / (1 << 20));
	store_close(s);
	return 0;
}
