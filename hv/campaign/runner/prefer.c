// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights for a run's --prefer, from the store's coverage of the kernel build that last ran under the same name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/learn/learn.h"
#include "hv/campaign/runner/state.h"

#define ROUNDS 8 /* latest rounds that are searched for a build id */
#define BUILD_MAX 64

/* Find the build id of the kernel's last run in a round. Returns whether there is one. */
static bool find_in(const struct runner *r, int64_t round, const char *kernel, char build[BUILD_MAX])
{
	struct store_runs runs = {0};
	struct err err = {0};
	int64_t last = -1;

	if (store_runs(r->store, round, &runs, &err) < 0)
		return false;
	for (size_t i = 0; i < runs.count; i++) {
		const struct store_run *run = &runs.list[i];

		if (strcmp(run->kernel, kernel) != 0 || !run->build_id[0] || run->started < last)
			continue;
		last = run->started;
		snprintf(build, BUILD_MAX, "%s", run->build_id);
	}
	store_runs_free(&runs);
	return last >= 0;
}

/*
 * Find the build id of the kernel's last run. The kernel's file can be replaced between rounds, so the last run is the best
 * guess of its build.
 */
static bool find_build(const struct runner *r, const char *kernel, char build[BUILD_MAX])
{
	const struct store_rounds_query query = {.campaign = plan_name(r->plan), .last = ROUNDS};
	struct store_rounds rounds = {0};
	struct err err = {0};
	bool found = false;

	if (store_rounds(r->store, &query, &rounds, &err) < 0)
		return false;
	for (size_t i = rounds.count; i-- > 0 && !found;)
		found = find_in(r, rounds.list[i].id, kernel, build);
	store_rounds_free(&rounds);
	return found;
}

const char *runner_write_prefer(const struct runner *r, const struct job *j)
{
	char build[BUILD_MAX], *path;
	struct err err = {0};
	int rc;

	if (!plan_learns(r->plan) || r->store_ns || !find_build(r, j->run->kernel, build))
		return NULL;
	path = spool_path(j->folder, "prefer.json", &err);
	rc = path ? learn_prefer(r->store, build, path, &err) : -1;
	free(path);
	return rc == 0 ? "prefer.json" : NULL;
}
