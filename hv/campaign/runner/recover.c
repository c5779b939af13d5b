// SPDX-License-Identifier: GPL-2.0-or-later
/* Recovers a round that was begun: finds the runs that are done, and stores the runs that killed runners left unfinished. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/campaign/runner/state.h"

static int by_key(const void *key, const void *run)
{
	return strcmp(key, ((const struct store_run *)run)->key);
}

/* Find a run by its key with a binary search: store_runs() sorts by key. */
static const struct store_run *find(const struct store_runs *runs, const char *key)
{
	return runs->count ? bsearch(key, runs->list, runs->count, sizeof(*runs->list), by_key) : NULL;
}

static bool is_done(const struct store_runs *runs, const char *key)
{
	const struct store_run *run = find(runs, key);

	return run && run->state == STORE_DONE;
}

/* ---- quarantine ---- */

static void add_quarantined(struct job *j, unsigned n)
{
	if (n > j->quarantined)
		j->quarantined = n;
}

static void add_folder(void *ctx, const char *name, size_t len, unsigned n)
{
	const struct runner *r = ctx;

	for (size_t i = 0; i < r->job_count; i++) {
		if (strlen(r->jobs[i].uuid) == len && strncmp(r->jobs[i].uuid, name, len) == 0)
			add_quarantined(&r->jobs[i], n);
	}
}

static void add_run(const struct runner *r, const char *key)
{
	unsigned n = 0;
	size_t len = spool_quarantine_number(key, &n);

	for (size_t i = 0; len && i < r->job_count; i++) {
		if (strlen(r->jobs[i].run->key) == len && strncmp(r->jobs[i].run->key, key, len) == 0)
			add_quarantined(&r->jobs[i], n);
	}
}

/*
 * Find quarantined attempts, in the spool and in the store. The store lacks an attempt that was quarantined while the store
 * could not be written. The spool lacks an attempt whose folder a user deleted. The number N of such an attempt must not be
 * used again, because the store never replaces an attempt that it has.
 */
static void find_quarantined(struct runner *r, const struct store_runs *runs)
{
	spool_each_quarantined(&r->spool, add_folder, r);
	for (size_t i = 0; i < runs->count; i++)
		add_run(r, runs->list[i].key);
}

/* ---- recovery ---- */

static int recover(struct runner *r, struct job *j, const struct store_runs *runs, struct err *err)
{
	char *folder = spool_path(r->spool.folder, j->uuid, err);
	bool there = folder && access(folder, F_OK) == 0;

	if (!folder)
		return -1;
	if (is_done(runs, j->run->key))
		j->state = JOB_DONE;
	j->folder = folder;
	if ((there && child_end_others(j->folder, err) < 0) || run_store_quarantined(&r->run_store, j, err) < 0)
		return -1;
	/* If the run has no folder, it was never started, or the runner was killed just after it had renamed the folder. */
	if (!there) {
		free(folder);
		j->folder = NULL;
	}
	if (!there || j->state == JOB_DONE)
		return 0;
	if (!ending_read(&j->ending, j->folder))
		return run_store_quarantine(&r->run_store, j, err);
	j->state = JOB_ENDED;
	return run_store_end(&r->run_store, j, err);
}

int runner_recover(struct runner *r, struct err *err)
{
	struct store_runs runs = {0};

	if (store_runs(r->store, r->run_store.round, &runs, err) < 0)
		return -1;
	find_quarantined(r, &runs);
	for (size_t i = 0; i < r->job_count && err->code == EXIT_OK; i++) {
		struct job *j = &r->jobs[i];

		if (recover(r, j, &runs, err) == 0 && j->state == JOB_ENDED)
			j->state = JOB_DONE;
	}
	store_runs_free(&runs);
	return err->code == EXIT_OK ? 0 : -1;
}
