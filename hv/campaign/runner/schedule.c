// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts the runs of a round, watches them, and stores their results. While the store is away (it cannot be opened or written),
 * the results wait in the runs' folders.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/campaign/learn/learn.h"
#include "hv/campaign/runner/state.h"

/* ---- weights for a run's --prefer ---- */

#define ROUNDS 8 /* number of latest rounds in which find_build() looks for a run of the kernel */
#define BUILD_MAX 64

/*
 * Find the build id that the last run of the plan's kernel `kernel` reported in this round. Returns false if the round has no
 * such run.
 */
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
 * Find the build id that the last run of the plan's kernel `kernel` reported, in the latest rounds. The kernel's file can be
 * replaced between rounds, so the last run is the best guess of its build.
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

/*
 * Write the job's file `prefer.json` from the store's coverage. Returns the file's name, or NULL if the store has no coverage
 * of the kernel.
 */
static const char *write_prefer(const struct runner *r, const struct job *j)
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

/* ---- trials for an exploring run's --skip ---- */

#define SKIP "tried.txt"

/*
 * Write the job's file of trials that earlier runs made and that need not be made again. Store in *again the number of trials
 * that found something and are therefore made again (store_tried()). Returns the file's name, or NULL if the store cannot be
 * read: then the run makes all trials again.
 */
static const char *write_skip(const struct runner *r, const struct job *j, unsigned *again)
{
	const struct plan_run_pair *p = j->run->pair;
	const struct store_programs pair = {p->prepare, {p->command[0], p->command[1]}};
	struct err err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = r->store_ns ? NULL : open_memstream(&text, &size);
	int rc = out ? store_tried(r->store, &pair, out, again, &err) : -1;

	if (out && fclose(out) != 0)
		rc = -1;
	if (rc == 0)
		rc = spool_write(j->folder, SKIP, text, &err);
	free(text);
	if (rc < 0)
		*again = 0;
	return rc == 0 ? SKIP : NULL;
}

#define TICK_NS 50000000
#define ATTEMPTS_MAX 3 /* A run that is killed from outside, or whose machine fails, is tried this many times. */
/*
 * If the store cannot be written, the runner tries again after this pause: at first 15 s, then twice the last pause, at most 60
 * s.
 */
#define PAUSE_FIRST_NS UINT64_C(15000000000)
#define PAUSE_MAX_NS UINT64_C(60000000000)
/*
 * After a failure, wait this many milliseconds for another process that writes to the store. Short, because the runs are not
 * watched meanwhile.
 */
#define PAUSE_WAIT_MS 1000

/* ---- the store ---- */

static void store_failed(struct runner *r, const struct err *err)
{
	uint64_t now = monotonic_ns();

	if (!r->store_ns)
		progress_say(&r->progress, "%s; what the runs find is kept in %s until the store can take it", err->text,
			     r->spool.folder);
	/* If a pause is under way, keep it: several failures at the same time count as one. */
	if (r->store_ns > now)
		return;
	r->pause_ns = !r->store_ns ? PAUSE_FIRST_NS : 2 * r->pause_ns < PAUSE_MAX_NS ? 2 * r->pause_ns : PAUSE_MAX_NS;
	r->store_ns = now + r->pause_ns;
}

/* Returns whether the store lacks data of this run. */
static bool is_owed(const struct job *j)
{
	return j->state == JOB_ENDED || j->quarantined != j->quarantined_stored || (j->state == JOB_RUNNING && !j->begun);
}

static int store_job(struct runner *r, struct job *j)
{
	bool begin = j->state == JOB_RUNNING && !j->begun;
	struct err err = {0};

	if (run_store_quarantined(&r->run_store, j, &err) < 0 ||
	    (j->state == JOB_ENDED && run_store_end(&r->run_store, j, &err) < 0) ||
	    (begin && run_store_begin(&r->run_store, j, &err) < 0)) {
		store_failed(r, &err);
		return -1;
	}
	j->begun |= begin;
	if (j->state == JOB_ENDED)
		j->state = JOB_DONE;
	return 0;
}

/*
 * Find out whether a store that was away is back. The store is back if something was stored (`stored`) or, when there was
 * nothing to store, if it can be read.
 */
static void try_store(struct runner *r, bool stored)
{
	const struct store_rounds_query query = {.id = r->run_store.round};
	struct store_rounds rounds = {0};
	struct err err = {0};

	if (!stored && store_rounds(r->store, &query, &rounds, &err) < 0) {
		store_failed(r, &err);
		return;
	}
	store_rounds_free(&rounds);
	r->store_ns = 0;
	progress_say(&r->progress, "%s: the store is back", store_where(r->store));
}

/*
 * Store everything that the store lacks. The data of a single run can be the cause of a failure. So after one failure, try to
 * store the other runs, but wait only PAUSE_WAIT_MS for the store's lock. After the second failure, try no further run.
 */
static void store_jobs(struct runner *r, unsigned wait_ms)
{
	bool away = r->store_ns != 0;
	unsigned failed = 0, stored = 0;

	store_set_wait(r->store, wait_ms);
	for (size_t i = 0; i < r->job_count && failed < 2; i++) {
		if (!is_owed(&r->jobs[i]))
			continue;
		if (store_job(r, &r->jobs[i]) == 0) {
			stored++;
			continue;
		}
		failed++;
		store_set_wait(r->store, PAUSE_WAIT_MS);
	}
	if (away && !failed)
		try_store(r, stored > 0);
	store_set_wait(r->store, STORE_WAIT_MS);
}

/* While runs are running, store what the store lacks, without waiting for a store that is away: the runs must be watched. */
static void store_owed(struct runner *r)
{
	struct err err = {0};
	int back;

	if (!r->store_ns) {
		store_jobs(r, STORE_WAIT_MS);
		return;
	}
	if (monotonic_ns() < r->store_ns)
		return;
	back = store_is_back(r->store, &err);
	if (back < 0)
		store_failed(r, &err);
	if (back > 0)
		store_jobs(r, PAUSE_WAIT_MS);
}

/* ---- figures ---- */

static unsigned count_of(const struct runner *r, enum job_state state)
{
	unsigned count = 0;

	for (size_t i = 0; i < r->job_count; i++)
		count += r->jobs[i].state == state;
	return count;
}

/* Add hits and races of a run that is not in the store yet, from the report that the run rewrites regularly. */
static void add_report(const struct job *j, struct progress_figures *f)
{
	char *path = j->folder ? spool_path(j->folder, "races.json", NULL) : NULL;
	json_t *report = path ? json_load_file(path, 0, NULL) : NULL;
	json_t *sampling = json_object_get(json_object_get(report, "summary"), "sampling");

	f->hits += (uint64_t)json_integer_value(json_object_get(sampling, "hits"));
	f->races += json_array_size(json_object_get(report, "races"));
	json_decref(report);
	free(path);
}

static void show_progress(struct runner *r)
{
	struct progress_figures f = {.planned = (unsigned)r->job_count,
				     .done = count_of(r, JOB_DONE) + count_of(r, JOB_ENDED),
				     .running = count_of(r, JOB_RUNNING),
				     .broke = r->result->broke,
				     .left_ns = UINT64_MAX};
	const struct store_rounds_query query = {.id = r->run_store.round};
	struct store_rounds rounds = {0};
	struct err err = {0};
	uint64_t now = monotonic_ns();

	if (!progress_is_due(&r->progress))
		return;
	if (!r->store_ns && store_rounds(r->store, &query, &rounds, &err) < 0)
		store_failed(r, &err);
	if (rounds.count) {
		f.hits = rounds.list[0].hits;
		f.races = rounds.list[0].races;
		f.fresh = rounds.list[0].new_races;
	}
	store_rounds_free(&rounds);
	for (size_t i = 0; i < r->job_count; i++) {
		if (r->jobs[i].state == JOB_RUNNING || r->jobs[i].state == JOB_ENDED)
			add_report(&r->jobs[i], &f);
	}
	if (r->deadline_ns != UINT64_MAX)
		f.left_ns = r->deadline_ns > now ? r->deadline_ns - now : 0;
	else if (f.done && f.done < f.planned)
		f.left_ns = (now - r->begin_ns) / f.done * (f.planned - f.done);
	progress_show(&r->progress, &f);
}

/* ---- the end of a run ---- */

static void count_ending(struct runner *r, const struct job *j)
{
	r->result->broke += j->ending.outcome != STORE_OK;
	if (j->ending.outcome != STORE_OK)
		progress_say(&r->progress, "%s: %s: %s", j->run->key, store_outcome_word(j->ending.outcome), j->ending.detail);
}

/* Record a crash as the outcome of a run that was killed in every attempt. */
static void give_up(struct job *j)
{
	ending_add(&j->ending, STORE_CRASH, "stderr.log", "another process killed outrider in each attempt");
}

static int end_job(struct runner *r, struct job *j, struct err *err)
{
	enum job_verdict verdict = job_judge(j);

	job_release(j);
	if (verdict != JOB_OVER && !j->cut_short && j->attempts >= ATTEMPTS_MAX) {
		if (verdict == JOB_INTERRUPTED)
			give_up(j);
		verdict = JOB_OVER;
	}
	if (verdict != JOB_OVER) {
		j->state = JOB_WAITING;
		return run_store_quarantine(&r->run_store, j, err);
	}
	j->state = JOB_ENDED;
	count_ending(r, j);
	return ending_write(&j->ending, j->folder, err);
}

/* ---- the start of a run ---- */

static bool may_start(const struct runner *r, const struct plan_run *run)
{
	unsigned running = 0, vcpus = 0, most = r->config->jobs ? r->config->jobs : plan_jobs(r->plan);

	for (size_t i = 0; i < r->job_count; i++) {
		if (r->jobs[i].state != JOB_RUNNING)
			continue;
		running++;
		vcpus += r->jobs[i].run->vcpus;
	}
	if (most && running >= most)
		return false;
	return r->config->overcommit ? most || running < r->cpus : !running || vcpus + run->vcpus <= r->cpus;
}

static int start_job(struct runner *r, struct job *j, struct err *err)
{
	const char *emulator = plan_emulator(r->plan);
	struct job_config config = {.program = emulator ? emulator : r->config->program, .emulator = emulator != NULL};

	if (!j->folder)
		j->folder = spool_run_folder(&r->spool, j->uuid, err);
	if (!j->folder)
		return -1;
	if (j->run->pair)
		config.skip = write_skip(r, j, &config.again);
	else
		config.prefer = write_prefer(r, j);
	if (job_start(j, &r->groups, &config, err) < 0)
		return -1;
	j->begun = false;
	if (!r->store_ns)
		store_job(r, j);
	return 0;
}

/*
 * Start every waiting run for which the limits on parallel runs and vCPUs leave room. A large run that must wait does not hold
 * up smaller ones after it.
 */
static int start_jobs(struct runner *r, struct err *err)
{
	for (size_t i = 0; i < r->job_count; i++) {
		struct job *j = &r->jobs[i];

		if (j->state == JOB_WAITING && may_start(r, j->run) && start_job(r, j, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- signals, and the budget ---- */

static void each_running(struct runner *r, void (*do_it)(struct job *j), bool cut_short)
{
	for (size_t i = 0; i < r->job_count; i++) {
		struct job *j = &r->jobs[i];

		if (j->state != JOB_RUNNING)
			continue;
		j->cut_short |= cut_short && !j->sigterm_ns;
		do_it(j);
	}
}

static void on_signal(struct runner *r, int number)
{
	r->result->signal = number;
	if (r->interruptions++ == 0) {
		progress_say(&r->progress, "SIG%s: the runs are asked to end; a second signal ends them at once",
			     sigabbrev_np(number));
		each_running(r, job_terminate, true);
	} else {
		each_running(r, job_kill, true);
	}
}

static void wait_a_tick(struct runner *r)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};
	int number = sigtimedwait(&r->signals, NULL, &tick);

	if (number > 0 && number != SIGCHLD)
		on_signal(r, number);
	if (!r->budget_over && monotonic_ns() >= r->deadline_ns) {
		r->budget_over = true;
		progress_say(&r->progress, "the budget is used up: the runs are asked to end");
		each_running(r, job_terminate, false);
	}
}

/* ---- main loop ---- */

/* After an error: kill all runs, and wait for their end. */
static void end_all(struct runner *r)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};

	each_running(r, job_kill, true);
	for (size_t i = 0; i < r->job_count; i++) {
		struct job *j = &r->jobs[i];

		while (j->state == JOB_RUNNING && !job_poll(j))
			nanosleep(&tick, NULL);
		if (j->state == JOB_RUNNING)
			job_release(j);
	}
}

static int poll_jobs(struct runner *r, struct err *err)
{
	for (size_t i = 0; i < r->job_count; i++) {
		struct job *j = &r->jobs[i];

		if (j->state == JOB_RUNNING && job_poll(j) && end_job(r, j, err) < 0)
			return -1;
	}
	return 0;
}

int runner_schedule(struct runner *r, struct err *err)
{
	for (;;) {
		bool starting = !r->interruptions && !r->budget_over;

		if ((starting && start_jobs(r, err) < 0) || poll_jobs(r, err) < 0) {
			end_all(r);
			return -1;
		}
		store_owed(r);
		show_progress(r);
		if (!count_of(r, JOB_RUNNING) && (!starting || !count_of(r, JOB_WAITING)))
			break;
		wait_a_tick(r);
	}
	store_jobs(r, STORE_WAIT_MS);
	return 0;
}
