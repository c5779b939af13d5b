/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report that anybody may have written: read, judged, shown, exported in every form, and written again. */
#include "hv/export/export.h"
#include "hv/export/locks.h"
#include "hv/report/json/load.h"
#include "hv/report/listing.h"
#include "hv/report/text/text.h"
#include "pruner/locks/protect.h"
#include "pruner/prune.h"
#include "pruner/verdicts.h"
#include "tests/fuzz/fuzz.h"

static void export_all(FILE *out, const struct report_load *l, const struct verdicts *v, struct listing_maker *listing)
{
	static int (*const forms[])(FILE *, const struct export_run *, struct err *) = {export_sarif, export_junit,
											export_kcsan, export_html};
	struct export_race *races = calloc(v->count + 1, sizeof(*races));
	struct export_run run = {
		.tool_version = "0", .runs = &l->run, .run_count = 1, .races = races, .count = v->count, .listing = listing};

	fuzz_require(races);
	for (size_t i = 0; i < v->count; i++)
		races[i] = (struct export_race){.race = v->list[i].race,
						.level = (enum export_level)(i % 3),
						.verdict = verdict_class_word(v->list[i].verdict.class),
						.rank = v->list[i].verdict.rank,
						.folded = i % 2,
						.rule = &rule_table[v->list[i].verdict.rule],
						.evidence = v->list[i].verdict.evidence};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct err err = {0};

		if (forms[i](out, &run, &err))
			fuzz_refused(&err);
	}
	free(races);
}

/* Which lock protects what, in every form. */
static void export_chart(FILE *out, const struct report_load *l)
{
	static int (*const forms[])(FILE *, const struct export_locks *, struct err *) = {export_locks_text, export_locks_json,
											  export_locks_html};
	const char *const file = "fuzz";
	struct lock_chart chart;
	const struct export_locks locks = {.tool_version = "0", .chart = &chart, .files = &file, .file_count = 1, .all = true};
	struct err err = {0};

	fuzz_require(lock_chart_make(&chart, &l->locks, 1, NULL, NULL, &err) == 0);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		fuzz_require(forms[i](out, &locks, &err) == 0);
	lock_chart_fini(&chart);
}

static void use_locks(FILE *out, const struct report_load *l, const struct prune_rules *rules, const struct text_style *style)
{
	struct suspicions anew = {0};
	struct err err = {0};

	if (!l->locks.protection)
		return;
	text_suspicions(out, l->locks.protection, &l->locks.suspicions, style);
	export_chart(out, l);
	fuzz_require(protect_judge(l->locks.protection, rules, &anew, &err) == 0);
	text_suspicions(out, l->locks.protection, &anew, style);
	suspicions_fini(&anew);
}

static void use(struct report_load *l, const struct prune_rules *rules, struct listing_maker *listing, FILE *out)
{
	struct text_style style = {.listing = listing};
	struct verdicts v = {0};
	struct err err = {0};

	fuzz_require(verdicts_judge(&v, rules, NULL, l->races, l->count, &err) == 0);
	verdicts_sort(&v, VERDICTS_BY_RANK);
	text_run(out, &l->run, "fuzz", &style);
	for (size_t i = 0; i < v.count; i++)
		text_race(out, v.list[i].race, &style);
	export_all(out, l, &v, listing);
	use_locks(out, l, rules, &style);
	report_load_write(l, out, NULL, NULL, &err);
	verdicts_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	static struct prune_rules *rules;
	static struct listing_maker *listing;
	static FILE *out;
	struct report_load l;
	struct err err = {0};

	if (!rules) {
		rules = prune_rules_new(&err);
		listing = listing_maker_new(NULL, &err);
		out = fopen("/dev/null", "w");
	}
	fuzz_require(rules && listing && out);
	if (report_load(&l, fuzz_file(&file, data, size), &err)) {
		fuzz_refused(&err);
		return 0;
	}
	use(&l, rules, listing, out);
	report_load_free(&l);
	return 0;
}
