/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A campaign file that anybody may have written: read, checked and expanded.
 *
 * fuzz: slow: libxml2 reads the grammar anew for each document, which takes most of the time
 */
#include "hv/campaign/plan/plan.h"
#include "tests/fuzz/fuzz.h"

/* The folder of this campaign file takes the place of every file that the campaign file names. */
static void use(const struct plan *plan)
{
	struct plan_runs runs;
	struct err err = {0};

	if (plan_check_host(plan, 2, &err))
		fuzz_refused(&err);
	err = (struct err){0};
	if (plan_expand(plan, 3, &runs, &err)) {
		fuzz_refused(&err);
		return;
	}
	fuzz_require(runs.count > 0);
	for (size_t i = 0; i < runs.count; i++) {
		const struct plan_run *r = &runs.list[i];

		fuzz_require(r->key && r->vcpus && r->duration_ns && (!r->attach || r->domain));
		fuzz_require(r->argv[r->argc] == NULL);
		plan_is_selected(r->key, "a*,b");
		fuzz_require(plan_in_shard(r->key, 1, 2) != plan_in_shard(r->key, 2, 2));
	}
	plan_runs_free(&runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct err err = {0};
	struct plan *plan = plan_load(fuzz_file(&file, data, size), &err);

	if (plan)
		use(plan);
	else
		fuzz_refused(&err);
	plan_free(plan);
	return 0;
}
