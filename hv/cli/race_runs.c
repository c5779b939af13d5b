// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/race_runs.h"

#include <stdlib.h>

int race_runs_init(struct race_runs *runs, size_t most, struct err *err)
{
	*runs = (struct race_runs){.list = calloc(most + 1, sizeof(*runs->list)),
				   .locks = calloc(most + 1, sizeof(*runs->locks)),
				   .files = calloc(most + 1, sizeof(*runs->files))};
	if (!runs->list || !runs->locks || !runs->files)
		return err_set(err, EXIT_INTERNAL, "out of memory for the facts of %zu runs", most);
	return 0;
}

void race_runs_free(struct race_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		run_facts_free(&runs->list[i]);
		lock_record_fini(&runs->locks[i]);
	}
	free(runs->list);
	free(runs->locks);
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
