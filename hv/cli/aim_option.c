// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the races of a report that the option --aim FILE[#ID[,ID...]] selects. */
#include "hv/cli/aim_option.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/cli/race_wanted.h"
#include "hv/report/json/load.h"

/*
 * Split the value of --aim, FILE[#ID[,ID...]], at its last '#'. Sets *ids to NULL if there is no '#', or if a file with the
 * whole value as its path exists: then the '#' is part of the path.
 */
static void split(char *value, char **ids)
{
	char *mark = strrchr(value, '#');

	*ids = NULL;
	if (!mark || access(value, F_OK) == 0)
		return;
	*mark = '\0';
	*ids = mark + 1;
}

/* Add each id of the comma-separated list to the wanted races. Writes NULs into the list. */
static int want(struct races_wanted *wanted, char *ids, struct err *err)
{
	char *id;

	while ((id = strsep(&ids, ","))) {
		if (races_wanted_add(wanted, id, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_wanted(void *ctx, const struct race *race)
{
	return races_wanted_has(ctx, race);
}

static struct known_races *add_races(const struct report_load *load, const char *path, struct err *err)
{
	struct known_races *known = known_races_new();
	unsigned sites = 0;

	for (size_t i = 0; known && i < load->count; i++) {
		const struct known_race *race = known_races_add(known, load->races[i]);

		if (!race) {
			known_races_free(known);
			known = NULL;
			break;
		}
		sites += race->count;
	}
	if (!known) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		return NULL;
	}
	if (sites)
		return known;
	if (!load->count)
		err_set(err, EXIT_INPUT, "--aim %s: there is no race in it", path);
	else
		err_set(err, EXIT_INPUT, "--aim %s: no side of %s is an instruction that can be held: side %s %s", path,
			load->count == 1 ? "this race" : "these races", known_races_get(known, 0)->site[0],
			known_races_get(known, 0)->why_not[0]);
	known_races_free(known);
	return NULL;
}

struct known_races *aim_option_load(const char *value, struct err *err)
{
	struct races_wanted wanted = {0};
	struct report_load load = {0};
	struct known_races *known = NULL;
	char *path = strdup(value), *ids;

	if (!path) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	split(path, &ids);
	if (ids && want(&wanted, ids, err) < 0)
		goto out;
	if (report_load(&load, path, err) < 0)
		goto out;
	report_load_keep(&load, is_wanted, &wanted);
	if (races_wanted_all_found(&wanted, err) == 0)
		known = add_races(&load, path, err);
	report_load_free(&load);
out:
	races_wanted_free(&wanted);
	free(path);
	return known;
}
