// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks --only NAME[,NAME...], by which the commands that execute the runs of a campaign execute only the named runs. */
#include "hv/cli/campaign_only.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hv/cli/suggest.h"

static bool selects(const struct plan_runs *runs, const char *name)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (plan_is_selected(runs->list[i].key, name))
			return true;
	}
	return false;
}

/*
 * Offer the parts of a run's key to the search for a similar name. suggest_end() may return any of them, so they must outlive
 * the search.
 */
static void offer_parts(struct suggest *suggest, const struct plan_run *run)
{
	const char *const parts[] = {run->kernel, run->image, run->workload, run->sampling};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		suggest_offer(suggest, parts[i]);
}

static int refuse(const struct plan_runs *runs, const char *name, const char *path, struct err *err)
{
	struct suggest suggest = suggest_begin(name, strlen(name));

	/* Look for the nearest key if the user's name has a slash, else for the nearest part of a key. */
	for (size_t i = 0; i < runs->count; i++) {
		if (strchr(name, '/'))
			suggest_offer(&suggest, runs->list[i].key);
		else
			offer_parts(&suggest, &runs->list[i]);
	}
	if (suggest_end(&suggest))
		return err_set(err, EXIT_USAGE, "--only %.80s: no run has such a name; did you mean %.80s?", name,
			       suggest_end(&suggest));
	return err_set(err, EXIT_USAGE, "--only %.80s: no run has such a name; `outrider campaign check %s` lists them", name,
		       path);
}

int campaign_check_only(const struct plan_runs *runs, const char *only, const char *path, struct err *err)
{
	char *copy = only ? strdup(only) : NULL, *rest = copy, *name;
	int rc = 0;

	if (only && !copy)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	while (rc == 0 && (name = strsep(&rest, ",")) != NULL) {
		if (!selects(runs, name))
			rc = refuse(runs, name, path, err);
	}
	free(copy);
	return rc;
}
