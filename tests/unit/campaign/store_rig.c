// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/report/json/document.h"
#include "hv/report/json/race_json.h"
#include "symbols/insn/insn.h"
#include "tests/unit/campaign/store_rig.h"

void store_rig_init(struct store_rig *rig, struct postgres_rig *postgres)
{
	*rig = (struct store_rig){.folder = "/tmp/outrider-store.XXXXXX", .postgres = postgres};
	assert_non_null(mkdtemp(rig->folder));
}

void store_rig_end(struct store_rig *rig)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", rig->folder);
	assert_int_equal(system(command), 0);
}

void store_rig_place(struct store_rig *rig, enum rig_kind kind, char place[RIG_PLACE_MAX])
{
	if (kind == RIG_POSTGRES)
		postgres_rig_database(rig->postgres, place);
	else
		snprintf(place, RIG_PLACE_MAX, "%s/store%u.db", rig->folder, rig->stores++);
}

struct store *store_rig_open(const char *place, enum store_mode mode)
{
	struct err err = {0};
	struct store *s = store_open(place, mode, STORE_WAIT_MS, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

/* ---- reports ---- */

static void make_side(struct race *race, const struct rig_race *r, unsigned which)
{
	static const char *const usual[2] = {"reader", "writer"};
	static struct race_side_room room;
	const char *function = r->function[which] ? r->function[which] : usual[which], *colon = strchr(function, ':');
	struct race_side side = {.kind = RACE_SIDE_CPU, .rw = which || r->both_write ? INSN_WRITE : INSN_READ, .size = 4};

	race_side_use_room(&side, &room);
	side.symbol.addr = 0xffffffff81000000 + which * 0x10000;
	side.symbol.size = 0x1000;
	snprintf(side.symbol.module, sizeof(side.symbol.module), "%.*s", colon ? (int)(colon - function) : 0, function);
	snprintf(side.symbol.name, sizeof(side.symbol.name), "%s", colon ? colon + 1 : function);
	side.pc = side.symbol.addr + r->offset[which];
	side.gva = 0xffff888012345678;
	side.regs.rip = side.pc;
	side.context = (struct guest_context){.pid = 42, .comm = "worker", .known = true};
	assert_int_equal(race_keep_side(race, which, &side), 0);
	race->rw[which] = side.rw;
	site_name(&side, 0, race->site[which]);
}

static void make_datum(struct race *race, const struct rig_race *r)
{
	struct guest_memory *m = &race->first.memory;

	m->cpu = -1;
	if (r->variable) {
		m->kind = GUEST_MEMORY_KERNEL;
		snprintf(m->symbol.name, sizeof(m->symbol.name), "%s", r->variable);
		m->object = 0xffffffff82000000;
		m->object_size = 4096;
		m->offset = r->at;
	} else if (r->type) {
		m->kind = GUEST_MEMORY_SLAB;
		snprintf(m->cache, sizeof(m->cache), "%s", r->type);
		m->object = 0xffff888012345000;
		m->object_size = 4096;
		snprintf(m->type, sizeof(m->type), "%s", r->type);
		snprintf(m->member, sizeof(m->member), "%s", r->member);
	}
	if (!r->owner && !r->global)
		return;
	race->names = calloc(1, sizeof(*race->names));
	assert_non_null(race->names);
	for (unsigned i = 0; i < 2; i++) {
		struct datum_name *d = &race->names->datum[i];

		d->by = r->global ? DATUM_BY_VARIABLE : DATUM_BY_REGISTER;
		snprintf(d->variable, sizeof(d->variable), "%s", r->global ? r->global : "p");
		snprintf(d->owner, sizeof(d->owner), "%s", r->owner ? r->owner : "struct {...}");
		snprintf(d->member, sizeof(d->member), "%s", r->path ? r->path : "");
		snprintf(d->path, sizeof(d->path), "%s.%s", r->global ? r->global : "p", r->path ? r->path : "");
		snprintf(d->type, sizeof(d->type), "int");
	}
}

struct race *store_rig_race(const struct rig_race *r)
{
	struct race *race = race_new();

	assert_non_null(race);
	race->first.how = RACE_BY_WATCH;
	race->first.data_len = 4;
	race->count = r->count ? r->count : 1;
	race->first_ns = 1000000;
	race->last_ns = 1000000 * race->count;
	for (unsigned i = 0; i < 2; i++)
		make_side(race, r, i);
	make_datum(race, r);
	race_id(race->site[0], race->site[1], race->id);
	for (unsigned i = 0; i < race->count && i < RACE_INSTANCES_MAX; i++) {
		struct race_instance *in = race_add_instance(race);

		assert_non_null(in);
		in->time_ns = 1000000 * (i + 1);
		in->held_ns = 5000;
		in->how = RACE_BY_WATCH;
		in->data_len = 4;
		for (unsigned k = 0; k < 2; k++)
			in->sides[k] =
				(struct race_instance_side){.kind = RACE_SIDE_CPU, .cpu = (uint16_t)k, .rw = race->rw[k]};
	}
	return race;
}

static json_t *race_object(const struct rig_race *r)
{
	struct race *race = store_rig_race(r);
	json_t *object = race_json(race);

	assert_non_null(object);
	if (r->rule)
		json_object_set_new(object, "verdict",
				    json_pack("{s:s, s:s, s:i, s:s, s:n}", "class", verdict_class_word(r->class), "rule",
					      r->rule, "rank", r->rank, "evidence", "the sentence of this rule", "suppressed"));
	race_free(race);
	return object;
}

static const char *path_of(struct store_rig *rig, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
	return path;
}

const char *store_rig_file(struct store_rig *rig, const char *name, const char *text)
{
	const char *path = path_of(rig, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void set_build_id(struct run_kernel *kernel, const char *hex)
{
	for (; hex[0] && hex[1]; hex += 2)
		sscanf(hex, "%2hhx", &kernel->build_id[kernel->build_id_len++]);
}

const char *store_rig_report(struct store_rig *rig, const char *name, const struct rig_report *report)
{
	static const char *const options[] = {"run", "--kernel", "vmlinuz"};
	struct run_facts run = {.tool_version = "0.1.0",
				.started = "2026-11-22T01:00:00.000Z",
				.ended = "2026-11-22T01:10:00.000Z",
				.host = {.name = "host", .release = "6.1", .cpu = "a CPU", .cpus = 2},
				.options = options,
				.option_count = 3,
				.seed = 7,
				.cpus = 2,
				.finished = !report->killed,
				.judged = !report->killed,
				.end = "the guest powered off",
				.sampled_ns = 10000000000};
	struct detect_stats stats = {.hits = 100, .windows = 80, .conflicts = 9, .sampling_ns = run.sampled_ns};
	struct report_modules modules = {0};
	const char *path = path_of(rig, name);
	FILE *f = fopen(path, "w");
	char *head, *tail;

	stats.target.stopped_ns = 400000000;
	run.kernel.banner = strdup(report->banner ? report->banner : "Linux version 6.1.0-55-cloud-amd64 (debian)");
	run.kernel.symbols = strdup("the guest's kallsyms");
	set_build_id(&run.kernel, report->build_id ? report->build_id : "aabbcc");
	head = document_head(&run);
	tail = document_tail(&run, &modules, &stats, NULL, NULL);
	assert_true(f && head && tail);
	fputs(head, f);
	for (size_t i = 0; i < report->count; i++) {
		json_t *object = race_object(&report->races[i]);

		fputs(i ? ",\n" : "\n", f);
		json_dumpf(object, f, JSON_COMPACT);
		json_decref(object);
	}
	fputs(tail, f);
	assert_int_equal(fclose(f), 0);
	free(head);
	free(tail);
	run_kernel_free(&run.kernel);
	return path;
}

/* ---- rounds and runs ---- */

int64_t store_rig_round(struct store *s, const char *campaign, const char *uuid)
{
	struct store_round_plan plan = {.campaign = campaign, .uuid = uuid, .plan_hash = "0123456789abcdef", .planned = 2};
	struct store_rounds rounds;
	struct err err = {0};
	int64_t id;

	/* Rounds are told apart by the millisecond of their start. */
	usleep(2000);
	if (store_round_begin(s, &plan, &rounds, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(rounds.count, 1);
	id = rounds.list[0].id;
	store_rounds_free(&rounds);
	return id;
}

int64_t store_rig_run(struct store *s, int64_t round, const char *key, const char *races, const char *coverage)
{
	struct store_run_plan plan = {.key = key,
				      .kernel = "stock",
				      .image = "small",
				      .workload = "files",
				      .sampling = "plain",
				      .seed = UINT64_MAX,
				      .engine = "run",
				      .command = "outrider run --seed 7",
				      .folder = "runs/1"};
	struct store_run_result result = {.outcome = STORE_OK, .detail = "", .races = races, .coverage = coverage};
	struct err err = {0};
	int64_t id = 0;

	usleep(2000);
	if (store_run_begin(s, round, &plan, &id, &err) < 0 || store_run_end(s, id, &result, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return id;
}

/* ---- what a store has ---- */

static void dump_races(struct store *s, FILE *out, int64_t round)
{
	struct store_races_query q = {.round = round};
	struct store_races races;
	struct err err = {0};

	if (store_races(s, &q, &races, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < races.count; i++) {
		const struct store_race *r = &races.list[i];
		struct store_builds builds;

		fprintf(out, " %s %s %s:%s:%s:%s %s:%s:%s:%s on '%s' %d %d %s '%s' was %d %d %s %lu",
			store_change_word(r->change), r->name, r->sides[0].kind, r->sides[0].module, r->sides[0].function,
			r->sides[0].file, r->sides[1].kind, r->sides[1].module, r->sides[1].function, r->sides[1].file,
			r->datum, (int)r->verdict.class, r->verdict.rank, r->verdict.rule, r->verdict.evidence,
			(int)r->before.class, r->before.rank, r->before.rule, r->earlier);
		fprintf(out, " %s '%s' %s %ld seen %lu %lu from %ld %lu to %ld %lu of %s, all %lu %lu %lu %lu %s\n",
			store_triage_word(r->triage), r->note, r->who, r->triaged, r->seen, r->runs, r->first, r->first_round,
			r->last, r->last_round, r->first_campaign, r->total_seen, r->total_runs, r->rounds, r->builds,
			r->reports);
		q.race = r->id;
		assert_int_equal(store_builds(s, &q, &builds, &err), 0);
		for (size_t k = 0; k < builds.count; k++)
			fprintf(out, "  in %s %s %s %s %s %lu %lu %ld %ld %d\n", builds.list[k].build_id, builds.list[k].banner,
				builds.list[k].report, builds.list[k].site[0], builds.list[k].site[1], builds.list[k].seen,
				builds.list[k].runs, builds.list[k].first, builds.list[k].last, builds.list[k].now);
		store_builds_free(&builds);
		for (int latest = 0; latest < 2; latest++) {
			char *record = store_race_record(s, r->id, latest, &err);

			fprintf(out, "  record %s\n", record ? record : "none");
			free(record);
		}
	}
	store_races_free(&races);
}

static void dump_runs(struct store *s, FILE *out, int64_t round)
{
	struct store_runs runs;
	struct store_findings findings;
	struct err err = {0};

	assert_int_equal(store_runs(s, round, &runs, &err), 0);
	for (size_t i = 0; i < runs.count; i++) {
		const struct store_run *r = &runs.list[i];

		fprintf(out, " run %s %s %s %s %s %s %s %s %s %s %lu %d %s '%s' %ld %ld %s %s %lu %lu %lu %lu %d %lu %lu\n",
			r->uuid, r->key, r->kernel, r->image, r->workload, r->sampling, r->engine, r->command, r->folder,
			r->shard, r->seed, (int)r->state, store_outcome_word(r->outcome), r->detail, r->started, r->ended,
			r->build_id, r->banner, r->hits, r->windows, r->conflicts, r->sampled_ns, r->lost_permille, r->races,
			r->new_races);
	}
	store_runs_free(&runs);
	assert_int_equal(store_findings(s, round, &findings, &err), 0);
	for (size_t i = 0; i < findings.count; i++) {
		const struct store_finding_entry *f = &findings.list[i];

		fprintf(out, " finding %s %s '%s' %s '%s' %s %lu %d\n", f->key, f->kind, f->line, f->file, f->command,
			f->folder, f->seed, f->is_new);
	}
	store_findings_free(&findings);
}

static int dump_site(void *ctx, const struct store_site *site)
{
	fprintf(ctx, " site %s %lu %lu %lu %lu %lu %lu\n", site->name, site->armed, site->hits, site->windows, site->conflicts,
		site->talks, site->runs);
	return 0;
}

static void dump_coverage(struct store *s, FILE *out, const char *campaign)
{
	struct store_coverage c;
	struct store_pairs p;
	struct err err = {0};

	assert_int_equal(store_coverage(s, campaign, 0, &c, &err), 0);
	for (size_t i = 0; i < c.count; i++)
		fprintf(out, "covered %lu %ld %lu %lu %lu %lu %lu %lu %lu %lu\n", c.list[i].number, c.list[i].ended,
			c.list[i].sampled_ns, c.list[i].sites_armed, c.list[i].sites_hit, c.list[i].pairs, c.list[i].once,
			c.list[i].twice, c.list[i].races, c.list[i].pool);
	store_coverage_free(&c);
	assert_int_equal(store_pairs(s, NULL, 0, &p, &err), 0);
	fprintf(out, "pairs %lu %lu %lu %lu %lu\n", p.observed, p.once, p.twice, p.runs, p.observations);
	assert_int_equal(store_sites(s, "aabbcc", dump_site, out, &err), 0);
}

char *store_rig_dump(struct store *s)
{
	struct store_rounds_query q = {0};
	struct store_rounds rounds;
	struct err err = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(store_rounds(s, &q, &rounds, &err), 0);
	for (size_t i = 0; i < rounds.count; i++) {
		const struct store_round *r = &rounds.list[i];

		fprintf(out,
			"round %s %s %lu %s %ld %ld: %lu %lu %lu %lu %lu, %lu %lu %lu, %lu %lu %lu %lu %lu %d %d, %lu %lu %lu "
			"%lu\n",
			r->uuid, r->campaign, r->number, r->plan_hash, r->started, r->ended, r->planned, r->begun, r->done,
			r->ends.ok, r->cut_off, r->races, r->new_races, r->findings, r->hits, r->windows, r->conflicts,
			r->sampled_ns, r->sampled_runs, r->lost_permille, r->lost_most, r->of_class[0], r->of_class[1],
			r->of_class[2], r->of_class[3]);
		dump_runs(s, out, r->id);
		dump_races(s, out, r->id);
		dump_coverage(s, out, r->campaign);
	}
	store_rounds_free(&rounds);
	fputs("all\n", out);
	dump_races(s, out, 0);
	assert_int_equal(fclose(out), 0);
	return text;
}
