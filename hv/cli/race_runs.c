// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the facts about the runs that the races of a report come from. */
#include "hv/cli/race_runs.h"

#include <stdlib.h>
#include <string.h>

int race_runs_init(struct race_runs *runs, size_t most, struct err *err)
{
	*runs = (struct race_runs){.list = calloc(most + 1, sizeof(*runs->list)),
				   .locks = calloc(most + 1, sizeof(*runs->locks)),
				   .modules = calloc(most + 1, sizeof(*runs->modules)),
				   .files = calloc(most + 1, sizeof(*runs->files))};
	if (!runs->list || !runs->locks || !runs->modules || !runs->files)
		return err_set(err, EXIT_INTERNAL, "out of memory for the facts of %zu runs", most);
	return 0;
}

void race_runs_free(struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		run_facts_free(&runs->list[i]);
		lock_record_fini(&runs->locks[i]);
		report_modules_free(&runs->modules[i]);
	}
	free(runs->list);
	free(runs->locks);
	free(runs->modules);
	free(runs->files);
	*runs = (struct race_runs){0};
}

const char *race_runs_kernel(const struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->list[i].kernel.banner)
			return runs->list[i].kernel.banner;
	}
	return NULL;
}

bool race_runs_followed_locks(const struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->locks[i].protection)
			return true;
	}
	return false;
}

/*
 * The build id that look_at() was given last, and whether any of the build ids that it was given is unknown or differs from
 * another.
 */
struct build {
	const uint8_t *id;
	size_t len;
	bool differs;
};

static void look_at(struct build *b, const uint8_t *id, size_t len)
{
	if (!len || (b->len && (b->len != len || memcmp(b->id, id, len) != 0)))
		b->differs = true;
	b->id = id;
	b->len = len;
}

/* Look at the build ids of the module in all runs of a list. Returns whether the list has the module. */
static bool look_at_runs(struct build *b, const struct race_runs *runs, const char *module)
{
	bool any = false;

	for (size_t i = 0; i < runs->count; i++) {
		const struct report_modules *modules = &runs->modules[i];

		if (!module[0]) {
			look_at(b, runs->list[i].kernel.build_id, runs->list[i].kernel.build_id_len);
			any = true;
		}
		for (size_t k = 0; module[0] && k < modules->count; k++) {
			if (strcmp(modules->list[k].name, module) != 0)
				continue;
			look_at(b, modules->list[k].build_id, modules->list[k].build_id_len);
			any = true;
		}
	}
	return any;
}

bool race_runs_same_build(const struct race_runs *a, const struct race_runs *b, const char *module)
{
	struct build build = {0};

	return look_at_runs(&build, a, module) && look_at_runs(&build, b, module) && !build.differs;
}
