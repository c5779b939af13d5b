// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills in summary.bugs: the races that need attention (summary_is_worse()) and are likely bugs. The HTML page shows details of
 * these races at the top of the page; this file reads the details from the store.
 */
#include <jansson.h>
#include <stdlib.h>

#include "hv/campaign/list/again.h"
#include "hv/campaign/list/fill_internal.h"
#include "hv/race/race.h"
#include "hv/report/json/race_read.h"

/*
 * Maximum number of bugs that the HTML page shows in detail at its top, a guess at how many a reader looks at in a morning. The
 * page's table has all races.
 */
#define BUGS_MAX 20

static bool is_bug(const struct summary_race *r)
{
	return summary_is_worse(r) && r->verdict.class <= SUMMARY_UNJUDGED;
}

/*
 * Compare two bugs for qsort(): the more serious class, then the higher rank, comes first. Bugs of the same class and rank stay
 * in the order of the summary.
 */
static int by_weight(const void *x, const void *y)
{
	const struct summary_race *a = ((const struct summary_bug *)x)->race, *b = ((const struct summary_bug *)y)->race;

	if (a->verdict.class != b->verdict.class)
		return a->verdict.class < b->verdict.class ? -1 : 1;
	if (a->verdict.rank != b->verdict.rank)
		return a->verdict.rank > b->verdict.rank ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Read the race from the newest report that the store has of it. The report is checked, because the store is not trusted. */
static int read_record(struct fill *f, int64_t race, struct summary_bug *bug)
{
	json_error_t error;
	json_t *object;
	char *text;

	/* Read no record for an atomicity suspicion: race_read() reads only races of two accesses. */
	if (bug->race->atomicity)
		return 0;
	text = store_race_record(f->store, race, true, f->err);
	if (!text)
		return f->err->code == EXIT_OK ? 0 : -1;
	object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!object)
		return err_set(f->err, EXIT_INPUT, "%s: the report of the race %s is damaged: %s", store_where(f->store),
			       bug->race->id, error.text);
	bug->record = race_read(object, bug->race->id, f->err);
	json_decref(object);
	return bug->record ? 0 : -1;
}

static int read_run(struct fill *f, int64_t race, struct summary_bug *bug)
{
	struct store_races_query q = f->selected;
	struct store_last_run run = {0};
	char *again = NULL;
	int rc;

	q.race = race;
	rc = store_last_run(f->store, &q, &run, f->err);
	bug->explored = rc > 0 && again_explores(run.command);
	/* A run cannot aim at an atomicity suspicion. */
	if (rc > 0 && !bug->race->atomicity && !bug->explored && run.command[0] && run.folder[0] &&
	    !(again = again_command(run.command, run.folder, run.report)))
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	if (rc >= 0) {
		bug->run = fill_line(f, rc ? run.key : "");
		bug->release = fill_release(f, rc ? run.banner : "");
		bug->folder = fill_line(f, rc ? run.folder : "");
		bug->again = fill_line(f, again ? again : "");
	}
	free(again);
	store_last_run_free(&run);
	return rc < 0 ? -1 : 0;
}

static int fill_bug(struct fill *f, struct summary_bug *bug)
{
	return read_record(f, bug->race->stored, bug) < 0 ? -1 : read_run(f, bug->race->stored, bug);
}

int fill_bugs(struct fill *f)
{
	struct summary *m = f->m;
	size_t count = 0;

	m->bugs = calloc(m->race_count + 1, sizeof(*m->bugs));
	if (!m->bugs)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; i < m->race_count; i++) {
		if (is_bug(&m->races[i]))
			m->bugs[count++].race = &m->races[i];
	}
	if (count)
		qsort(m->bugs, count, sizeof(*m->bugs), by_weight);
	m->bug_count = count < BUGS_MAX ? count : BUGS_MAX;
	m->more_bugs = count - m->bug_count;
	for (size_t i = 0; i < m->bug_count; i++) {
		if (fill_bug(f, &m->bugs[i]) < 0)
			return -1;
	}
	return 0;
}
