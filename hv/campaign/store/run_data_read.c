// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a run's report into a struct run_data. The file is not trusted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/complaints.h"
#include "hv/campaign/store/run_data.h"
#include "hv/campaign/store/run_file.h"
#include "hv/campaign/store/sections.h"
#include "hv/report/json/load.h"
#include "hv/report/json/race_json.h"
#include "pruner/verdicts.h"

#define SUPPRESSED_MAX 256 /* bytes of a suppression's reason */

/* ---- verdicts ---- */

static int class_from_word(const char *word)
{
	for (int class = VERDICT_HARMFUL; word && class <= VERDICT_BENIGN; class ++) {
		if (strcmp(word, verdict_class_word((enum verdict_class) class)) == 0)
			return class;
	}
	return -1;
}

/* Read the verdict from the report. Returns false if there is none, or this version does not know it. */
static bool verdict_of_file(const json_t *o, struct store_text *text, struct store_verdict *out)
{
	const char *rule = json_string_value(json_object_get(o, "rule")), *suppressed;
	const char *evidence = json_string_value(json_object_get(o, "evidence"));
	int class = class_from_word(json_string_value(json_object_get(o, "class")));
	json_int_t rank = json_integer_value(json_object_get(o, "rank"));

	if (class < 0 || !rule || rank < 0 || rank > 99)
		return false;
	suppressed = json_string_value(json_object_get(o, "suppressed"));
	*out = (struct store_verdict){
		.class = (enum verdict_class) class,
		.rank = (int)rank,
		.rule = text_printf(text, "%.64s", rule),
		.evidence = text_printf(text, "%.*s", VERDICT_EVIDENCE_MAX - 1, evidence ? evidence : ""),
		.suppressed = text_printf(text, "%.*s", SUPPRESSED_MAX, suppressed ? suppressed : ""),
	};
	return true;
}

/*
 * Judge the races without a verdict in the report, with the rules that are compiled into this program: a killed run leaves a
 * report without verdicts.
 */
static int judge(struct run_data *d, const struct report_load *l, struct err *err)
{
	struct verdicts verdicts = {0};
	struct prune_rules *rules = prune_rules_new(err);
	int rc = -1;

	if (!rules)
		return -1;
	prune_rules_set_kernel(rules, l->run.kernel.banner);
	if (verdicts_judge(&verdicts, rules, NULL, l->races, l->count, err) < 0)
		goto out;
	for (size_t i = 0; i < l->count; i++) {
		const struct judged *j = &verdicts.list[i];

		if (verdict_of_file(l->verdicts[j->found], d->text, &d->races[j->found].verdict))
			continue;
		d->races[j->found].verdict = (struct store_verdict){
			.class = j->verdict.class,
			.rank = j->verdict.rank,
			.rule = text_copy(d->text, rule_name(j->verdict.rule)),
			.evidence = text_copy(d->text, j->verdict.evidence),
			.suppressed = "",
		};
	}
	rc = 0;
out:
	verdicts_free(&verdicts);
	prune_rules_free(rules);
	return rc;
}

static int take_verdicts(struct run_data *d, const struct report_load *l, struct err *err)
{
	for (size_t i = 0; i < l->count; i++) {
		if (!verdict_of_file(l->verdicts[i], d->text, &d->races[i].verdict))
			return judge(d, l, err);
	}
	return 0;
}

/* ---- races ---- */

static int64_t cpu_of(const struct race_instance_side *side)
{
	return side->kind == RACE_SIDE_CPU ? side->cpu : -1;
}

static int take_instances(struct run_data_race *out, const struct race *race, struct err *err)
{
	out->instances = calloc(race->kept + 1, sizeof(*out->instances));
	if (!out->instances)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	out->instance_count = race->kept;
	for (unsigned i = 0; i < race->kept; i++) {
		const struct race_instance *in = &race->instances[i];

		out->instances[i] = (struct run_data_instance){
			.how = in->how,
			.cpu = {cpu_of(&in->sides[0]), cpu_of(&in->sides[1])},
			.time_ns = (int64_t)in->time_ns,
			.held_ns = (int64_t)in->held_ns,
		};
	}
	return 0;
}

static int take_record(struct run_data_race *out, const struct race *race, const json_t *verdict, struct err *err)
{
	json_t *object = race_json(race);

	if (object && verdict && json_object_set(object, "verdict", (json_t *)verdict) < 0) {
		json_decref(object);
		object = NULL;
	}
	return run_data_keep(out, object, err);
}

static int take_race(struct run_data *d, size_t i, const struct report_load *l, struct err *err)
{
	struct run_data_race *out = &d->races[i];
	const struct race *race = l->races[i];
	bool swap = strcmp(race->site[0], race->site[1]) > 0;

	store_key(race, d->text, &out->key);
	out->report = text_copy(d->text, race->id);
	out->site[0] = text_copy(d->text, race->site[swap]);
	out->site[1] = text_copy(d->text, race->site[!swap]);
	out->seen = (int64_t)race->count;
	out->first_ns = (int64_t)race->first_ns;
	out->last_ns = (int64_t)race->last_ns;
	return take_instances(out, race, err) < 0 ? -1 : take_record(out, race, l->verdicts[i], err);
}

/* ---- the run ---- */

static int64_t counter(const json_t *sampling, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(sampling, name));

	return value < 0 ? 0 : value;
}

/*
 * Returns the share of CPU time that breakpoint handling took, in thousandths, or -1 if it is unknown: the run did not finish,
 * or attached to a machine of another VMM.
 */
static int64_t lost_permille(const struct run_facts *run, int64_t stopped_us)
{
	double all_us = (double)run->sampled_ns / 1000 * run->cpus, lost;

	if (!run->finished || all_us <= 0 || !run->option_count || strcmp(run->options[0], "run") != 0)
		return -1;
	lost = 1000 * (double)stopped_us / all_us;
	return lost < 0 ? 0 : lost > 1000 ? 1000 : (int64_t)(lost + 0.5);
}

static void take_run(struct run_data *d, const struct report_load *l)
{
	const json_t *sampling = json_object_get(json_object_get(l->document, "summary"), "sampling");
	const struct run_kernel *kernel = &l->run.kernel;
	char build_id[2 * REPORT_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < kernel->build_id_len; i++)
		snprintf(build_id + 2 * i, 3, "%02x", kernel->build_id[i]);
	d->build_id = text_copy(d->text, build_id);
	d->banner = text_copy(d->text, kernel->banner);
	d->finished = l->run.finished;
	d->hits = counter(sampling, "hits");
	d->windows = counter(sampling, "windows");
	d->conflicts = counter(sampling, "conflicts");
	d->sampled_ns = (int64_t)l->run.sampled_ns;
	d->lost_permille = lost_permille(&l->run, counter(sampling, "stopped_us"));
}

int run_data_read_races(struct run_data *d, const char *path, struct err *err)
{
	struct run_file file;
	struct report_load l;
	int rc = -1;

	if (run_file_open(&file, path, err) < 0)
		return -1;
	if (report_load(&l, file.name, err) < 0) {
		run_file_explain(&file, err);
		run_file_close(&file);
		return -1;
	}
	run_file_close(&file);
	take_run(d, &l);
	d->races = calloc(l.count + suspicions_of_atomicity(&l.locks.suspicions) + 1, sizeof(*d->races));
	if (!d->races) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto out;
	}
	for (; d->race_count < l.count; d->race_count++) {
		if (take_race(d, d->race_count, &l, err) < 0) {
			d->race_count++;
			goto out;
		}
	}
	if (take_verdicts(d, &l, err) < 0 || complaints_take(d, &l.run.complaints, err) < 0 ||
	    run_data_take_sections(d, &l.locks, err) < 0)
		goto out;
	if (text_failed(d->text, err))
		goto out;
	run_data_sort(d);
	rc = 0;
out:
	report_load_free(&l);
	return rc;
}
