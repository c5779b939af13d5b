// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes runs to the store. A run's files stay in its folder until they are in the store. */
#include "hv/campaign/runner/run_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/campaign/runner/spool.h"

#define UNFINISHED "the run was ended before it was finished; what it had found by then is kept, and the run was started again"

static int begin(const struct run_store *k, const struct job *j, const char *key, const char *folder, int64_t *id,
		 struct err *err)
{
	char *text = j->command ? strdup(j->command) : spool_read(folder, "command");
	const struct plan_run *r = j->run;
	size_t len = text ? strlen(text) : 0;
	const struct store_run_plan plan = {.key = key,
					    .kernel = r->kernel,
					    .image = r->image,
					    .workload = r->workload,
					    .sampling = r->sampling,
					    .seed = r->seed,
					    .engine = plan_engine(r),
					    .command = text,
					    .folder = folder,
					    .shard = k->shard};
	int rc;

	/* Remove the newline at the end of the command: the store keeps the command without a newline. */
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	rc = store_run_begin(k->store, k->round, &plan, id, err);

	free(text);
	return rc;
}

int run_store_begin(const struct run_store *k, const struct job *j, struct err *err)
{
	int64_t id;

	return begin(k, j, j->run->key, j->folder, &id, err);
}

/*
 * Maximum number of findings of a run in the store: those of its ending, and one for each of its two files, report and
 * coverage, that is invalid.
 */
#define FINDINGS_MAX (ENDING_FINDINGS_MAX + 2)

/*
 * Leave out of *result the run's file that is invalid, which `bad` names, and add a finding that says why. `findings` is the
 * array of findings in *result, or NULL if no finding is to be added. The message is copied to `text`.
 */
static void leave_out(struct store_run_result *result, struct store_finding *findings, enum store_bad bad, char *text,
		      size_t size, const struct err *why)
{
	enum store_outcome kind = bad == STORE_BAD_RACES ? STORE_TRUNCATED : STORE_FAILED;
	const char *file = bad == STORE_BAD_RACES ? result->races : result->coverage;

	snprintf(text, size, "%s", why->text);
	if (findings)
		findings[result->finding_count++] = (struct store_finding){store_outcome_word(kind), text, file};
	if (bad == STORE_BAD_RACES)
		result->races = NULL;
	else
		result->coverage = NULL;
	if (result->outcome == STORE_OK)
		result->outcome = kind;
	/* The finding says that the report is invalid. Do not let the store record the report as missing as well. */
	result->must_report &= bad != STORE_BAD_RACES;
}

/*
 * Record the run's end. If one of the run's files is invalid, record the end without it, and append the fault to the run's
 * detail.
 */
static int end_with(const struct run_store *k, int64_t id, struct store_run_result *result, struct store_finding *findings,
		    struct err *err)
{
	char detail[3 * sizeof(err->text)], faults[2][sizeof(err->text)];
	enum store_bad bad;
	unsigned count = 0;
	int rc, len = snprintf(detail, sizeof(detail), "%s", result->detail);

	while ((rc = store_run_end(k->store, id, result, &bad, err)) < 0 && bad != STORE_BAD_NONE && count < 2) {
		leave_out(result, findings, bad, faults[count], sizeof(faults[0]), err);
		count++;
		len += snprintf(detail + len, sizeof(detail) - (size_t)len, "%s%s", len ? "; " : "", err->text);
		if (len >= (int)sizeof(detail))
			len = sizeof(detail) - 1;
		result->detail = detail;
		*err = (struct err){0};
	}
	return rc;
}

/*
 * Record in the store how a run ended or, if `attempt` is set, how an attempt ended that was cut off. Such an attempt need not
 * have a finished report.
 */
static int end(const struct run_store *k, const struct plan_run *run, const struct ending *e, const char *folder, int64_t id,
	       bool attempt, struct err *err)
{
	struct store_finding findings[FINDINGS_MAX];
	char *files[ENDING_FINDINGS_MAX] = {0};
	const char *report = run->pair ? "stdout.log" : "races.json";
	char *races = spool_path(folder, report, err), *coverage = spool_path(folder, "coverage.json", err);
	struct store_run_result result = {.outcome = e->outcome,
					  .detail = e->detail,
					  .started = e->started,
					  .ended = e->ended,
					  .findings = findings,
					  .finding_count = e->finding_count,
					  .races = spool_has(folder, report) ? races : NULL,
					  .explored = run->pair != NULL,
					  .coverage = spool_has(folder, "coverage.json") ? coverage : NULL,
					  .must_report = !attempt};
	int rc = -1;

	for (unsigned i = 0; i < e->finding_count; i++) {
		const struct ending_finding *f = &e->findings[i];

		if (f->file[0])
			files[i] = spool_path(folder, f->file, err);
		findings[i] = (struct store_finding){store_outcome_word(f->kind), f->line, files[i] ? files[i] : ""};
	}
	if (err->code == EXIT_OK)
		rc = end_with(k, id, &result, attempt ? NULL : findings, err);
	for (unsigned i = 0; i < e->finding_count; i++)
		free(files[i]);
	free(races);
	free(coverage);
	return rc;
}

/* ---- unfinished attempts ---- */

/* Find out from the files of an unfinished attempt how the attempt ended. */
static void ending_of(const char *folder, struct ending *e)
{
	char *races = spool_path(folder, "races.json", NULL);
	struct console console = {0};
	struct stat st;

	*e = (struct ending){.outcome = STORE_OK};
	console_read(&console, folder, true, e);
	if (races && lstat(races, &st) == 0)
		e->started = e->ended = (int64_t)st.st_mtim.tv_sec * 1000;
	if (e->outcome == STORE_OK) {
		e->outcome = STORE_FAILED;
		snprintf(e->detail, sizeof(e->detail), "%s", UNFINISHED);
	}
	free(races);
}

static int store_quarantined(const struct run_store *k, const struct job *j, unsigned n, struct err *err)
{
	char *key = NULL, *folder = NULL;
	struct ending ending;
	int64_t id;
	int rc = -1;

	if (asprintf(&key, "%s~%u", j->run->key, n) < 0 || asprintf(&folder, "%s~%u", j->folder, n) < 0) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto out;
	}
	rc = 0;
	/*
	 * If a user has deleted the folder, there is nothing to store: if the store lacks the attempt, the attempt's data are
	 * lost.
	 */
	if (access(folder, F_OK) < 0)
		goto out;
	rc = begin(k, j, key, folder, &id, err);
	if (rc == 0) {
		ending_of(folder, &ending);
		rc = end(k, j->run, &ending, folder, id, true, err);
	}
out:
	free(key);
	free(folder);
	return rc < 0 ? -1 : 0;
}

int run_store_quarantined(const struct run_store *k, struct job *j, struct err *err)
{
	while (j->quarantined_stored < j->quarantined) {
		if (store_quarantined(k, j, j->quarantined_stored + 1, err) < 0)
			return -1;
		j->quarantined_stored++;
	}
	return 0;
}

int run_store_quarantine(const struct run_store *k, struct job *j, struct err *err)
{
	struct err away = {0};
	unsigned n;

	if (!spool_has(j->folder, "races.json") && !spool_has(j->folder, "coverage.json") &&
	    !spool_has(j->folder, "console.log"))
		return 0;
	n = spool_quarantine(j->folder, j->quarantined, err);
	if (!n)
		return -1;
	j->quarantined = n;
	run_store_quarantined(k, j, &away);
	return 0;
}

/* ---- finished runs ---- */

int run_store_end(const struct run_store *k, struct job *j, struct err *err)
{
	int64_t id;
	int rc;

	if (run_store_quarantined(k, j, err) < 0)
		return -1;
	rc = begin(k, j, j->run->key, j->folder, &id, err);
	if (rc == 0)
		rc = end(k, j->run, &j->ending, j->folder, id, false, err);
	return rc < 0 ? -1 : 0;
}
