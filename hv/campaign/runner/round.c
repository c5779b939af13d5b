// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a round, from its beginning to its end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/campaign/learn/pairs.h"
#include "hv/campaign/learn/settings.h"
#include "hv/campaign/runner/state.h"

/* ---- select runs ---- */

static bool is_selected(const struct runner *r, const struct plan_run *run)
{
	const struct runner_config *c = r->config;

	return (!c->shards || plan_in_shard(run->key, c->shard, c->shards)) &&
	       (!r->only || plan_is_selected(run->key, r->only));
}

static size_t count_selected(const struct runner *r, const struct plan_runs *runs)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++)
		count += is_selected(r, &runs->list[i]);
	return count;
}

/*
 * Count the runs of a round that this runner has to execute. A run's key decides whether the runner has to execute the run.
 * Keys do not depend on the round's number, so the plan is expanded for round 1.
 */
static int count_planned(const struct runner *r, size_t *count, struct err *err)
{
	struct plan_runs runs;

	if (plan_expand(r->plan, 1, &runs, err) < 0)
		return -1;
	*count = count_selected(r, &runs);
	plan_runs_free(&runs);
	if (!*count && r->only)
		return err_set(err, EXIT_USAGE, "--only %s: no run has such a name; `outrider campaign check %s` lists them",
			       r->only, plan_path(r->plan));
	return 0;
}

static int make_jobs(struct runner *r, struct err *err)
{
	if (plan_expand(r->plan, (unsigned)r->round_number, &r->runs, err) < 0)
		return -1;
	r->jobs = calloc(count_selected(r, &r->runs) + 1, sizeof(*r->jobs));
	if (!r->jobs)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; i < r->runs.count; i++) {
		struct job *j = &r->jobs[r->job_count];

		if (!is_selected(r, &r->runs.list[i]))
			continue;
		j->run = &r->runs.list[i];
		j->child = (struct child){.life = -1, .result = -1};
		store_uuid(r->round_uuid, j->run->key, j->uuid);
		r->job_count++;
	}
	return 0;
}

/* Sort the jobs in the order of their start. If the plan does not learn, the order is that of the plan. */
static int order_jobs(struct runner *r, struct err *err)
{
	size_t count = r->job_count, *order = calloc(count + 1, sizeof(*order));
	struct learn_setting *list = calloc(count + 1, sizeof(*list));
	struct job *jobs = calloc(count + 1, sizeof(*jobs));
	int rc = -1;

	if (!order || !list || !jobs) {
		err_set(err, EXIT_INTERNAL, "out of memory for the order of runs");
		goto out;
	}
	for (size_t i = 0; i < count; i++) {
		const struct plan_run *run = r->jobs[i].run;

		list[i] = (struct learn_setting){run->kernel, run->image, run->workload, run->sampling};
	}
	rc = learn_order(r->store, plan_name(r->plan), r->run_store.round, r->round_uuid, list, count, order, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < count; i++)
		jobs[i] = r->jobs[order[i]];
	memcpy(r->jobs, jobs, count * sizeof(*jobs));
out:
	free(order);
	free(list);
	free(jobs);
	return rc;
}

/* Sort the jobs that explore pairs. They exchange places only with each other, so all other jobs keep their places. */
static int order_pairs(struct runner *r, struct err *err)
{
	size_t *order = calloc(r->job_count + 1, sizeof(*order)), count = 0;
	struct learn_pair *list = calloc(r->job_count + 1, sizeof(*list));
	struct job *jobs = calloc(r->job_count + 1, sizeof(*jobs));
	int rc = -1;

	if (!order || !list || !jobs) {
		err_set(err, EXIT_INTERNAL, "out of memory for the order of runs");
		goto out;
	}
	for (size_t i = 0; i < r->job_count; i++) {
		const struct plan_run_pair *p = r->jobs[i].run->pair;

		if (!p)
			continue;
		list[count] = (struct learn_pair){r->jobs[i].run->kernel, {p->prepare, {p->command[0], p->command[1]}}};
		jobs[count++] = r->jobs[i];
	}
	rc = count ? learn_pair_order(r->store, plan_name(r->plan), list, count, order, err) : 0;
	for (size_t i = 0, k = 0; rc == 0 && i < r->job_count; i++) {
		if (r->jobs[i].run->pair)
			r->jobs[i] = jobs[order[k++]];
	}
out:
	free(order);
	free(list);
	free(jobs);
	return rc;
}

static void free_jobs(struct runner *r)
{
	for (size_t i = 0; i < r->job_count; i++) {
		free(r->jobs[i].folder);
		free(r->jobs[i].command);
	}
	free(r->jobs);
	plan_runs_free(&r->runs);
}

/* ---- select the round ---- */

static void set_round(struct runner *r, const struct store_round *round)
{
	r->run_store = (struct run_store){r->store, round->id, r->shard};
	snprintf(r->round_uuid, sizeof(r->round_uuid), "%s", round->uuid);
	r->round_number = round->number;
}

static int begin_round(struct runner *r, struct err *err)
{
	char uuid[STORE_UUID_MAX], number[32];
	struct store_rounds rounds = {0};
	struct store_round_plan plan = {
		.campaign = plan_name(r->plan), .number = r->config->round, .plan_hash = plan_hash(r->plan), .shard = r->shard};
	size_t planned;
	int rc;

	if (count_planned(r, &planned, err) < 0)
		return -1;
	plan.planned = (unsigned)planned;
	/* Compute the uuid from the round's number, so that it is the same for all shards of the round, on all machines. */
	if (r->config->round) {
		snprintf(number, sizeof(number), "%" PRIu64, r->config->round);
		store_uuid(plan_name(r->plan), number, uuid);
		plan.uuid = uuid;
	}
	rc = store_round_begin(r->store, &plan, &rounds, err);
	if (rc == 0)
		set_round(r, &rounds.list[0]);
	store_rounds_free(&rounds);
	return rc;
}

/* Find the last round that this shard has begun and not ended. Returns 0; 1 if there is no such round; or -1 with err set. */
static int find_unfinished(struct runner *r, struct err *err)
{
	const struct store_rounds_query query = {
		.campaign = plan_name(r->plan), .unfinished = true, .shard = r->shard, .last = 1};
	struct store_rounds rounds = {0};
	int rc = store_rounds(r->store, &query, &rounds, err);

	if (rc == 0 && rounds.count) {
		set_round(r, &rounds.list[0]);
		if (strcmp(rounds.list[0].plan_hash, plan_hash(r->plan)) != 0)
			progress_say(&r->progress,
				     "%s has changed since round %" PRIu64
				     " began: the round goes on with the runs of the changed file",
				     plan_path(r->plan), r->round_number);
	} else if (rc == 0) {
		rc = 1;
	}
	store_rounds_free(&rounds);
	return rc;
}

/*
 * Save the value of --only in the round's folder. If the round is resumed, read the saved value instead, so that the same runs
 * are selected.
 */
static int save_only(struct runner *r, bool resumed, struct err *err)
{
	if (!resumed)
		return r->only ? spool_write(r->spool.folder, "only", r->only, err) : 0;
	if (!r->only)
		r->only = spool_read(r->spool.folder, "only");
	return 0;
}

/* ---- open and close ---- */

static void block_signals(struct runner *r, sigset_t *before)
{
	sigemptyset(&r->signals);
	sigaddset(&r->signals, SIGINT);
	sigaddset(&r->signals, SIGTERM);
	sigaddset(&r->signals, SIGHUP);
	sigaddset(&r->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &r->signals, before);
	/*
	 * Restore the default action of SIGCHLD. If the parent process ignores the signal, this process ignores it, too, even
	 * after exec(). Then neither the runner nor its children could wait for a child.
	 */
	signal(SIGCHLD, SIG_DFL);
}

static int open_round(struct runner *r, struct err *err)
{
	char *root = store_runs_folder(r->config->store, err);
	int rc = -1;

	if (root && spool_open(&r->spool, root, r->round_uuid, r->shard, err) == 0 &&
	    save_only(r, r->config->resume, err) == 0 && make_jobs(r, err) == 0 &&
	    (!plan_learns(r->plan) || order_jobs(r, err) == 0) && order_pairs(r, err) == 0)
		/* Recover a round with --round, too: a runner that was killed may have begun it. */
		rc = r->config->resume || r->config->round ? runner_recover(r, err) : 0;
	free(root);
	return rc;
}

static int open_runner(struct runner *r, struct err *err)
{
	const struct runner_config *c = r->config;
	int rc;

	r->cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	if (!c->overcommit && plan_check_host(r->plan, r->cpus, err) < 0)
		return -1;
	if (c->shards)
		snprintf(r->shard, sizeof(r->shard), "%u/%u", c->shard, c->shards);
	if (c->only && !(r->only = strdup(c->only)))
		return err_set(err, EXIT_INTERNAL, "out of memory");
	r->store = store_open(c->store, STORE_MAKE, STORE_WAIT_MS, err);
	if (!r->store)
		return -1;
	rc = c->resume ? find_unfinished(r, err) : begin_round(r, err);
	if (rc != 0)
		return rc;
	cgroup_find(&r->groups);
	heartbeat_sweep();
	r->begin_ns = monotonic_ns();
	r->deadline_ns = plan_budget_ns(r->plan) ? r->begin_ns + plan_budget_ns(r->plan) : UINT64_MAX;
	return open_round(r, err);
}

static void close_runner(struct runner *r)
{
	progress_end(&r->progress);
	free_jobs(r);
	cgroup_leave(&r->groups);
	spool_close(&r->spool);
	store_close(r->store);
	free(r->only);
}

/* ---- results ---- */

static void count_jobs(struct runner *r)
{
	r->result->round = r->round_number;
	snprintf(r->result->round_uuid, sizeof(r->result->round_uuid), "%s", r->round_uuid);
	snprintf(r->result->shard, sizeof(r->result->shard), "%s", r->shard);
	r->result->planned = (unsigned)r->job_count;
	for (size_t i = 0; i < r->job_count; i++) {
		const struct job *j = &r->jobs[i];

		r->result->done += j->state == JOB_DONE;
		r->result->unstored += j->state == JOB_ENDED || j->quarantined != j->quarantined_stored;
		r->result->skipped += j->state == JOB_WAITING;
	}
}

/* End the round if all its runs are done or its budget is used up. A signal that leaves runs undone does not end the round. */
static int end_round(struct runner *r, struct err *err)
{
	struct err away = {0};

	count_jobs(r);
	if (r->result->unstored)
		return err_set(err, EXIT_INPUT,
			       "the store %s cannot take %u run(s); they are kept in %s, and --resume stores them",
			       store_where(r->store), r->result->unstored, r->spool.folder);
	if ((r->result->signal && r->result->skipped) || store_round_end(r->store, r->run_store.round, r->shard, &away) == 0)
		return 0;
	return err_set(err, away.code, "%.400s; the store has all runs that have ended, and --resume ends the round",
		       away.text);
}

int runner_run(const struct plan *plan, const struct runner_config *config, struct runner_result *result, struct err *err)
{
	struct runner r = {.plan = plan, .config = config, .result = result, .spool = {.lock = -1}};
	sigset_t before;
	int rc;

	*result = (struct runner_result){0};
	progress_begin(&r.progress, config->quiet);
	block_signals(&r, &before);
	rc = open_runner(&r, err);
	if (rc == 0)
		rc = runner_schedule(&r, err);
	if (rc == 0)
		rc = end_round(&r, err);
	close_runner(&r);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc < 0 ? -1 : 0;
}
