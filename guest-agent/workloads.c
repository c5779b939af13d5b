// SPDX-License-Identifier: GPL-2.0-or-later
#include "workloads.h"

#include <string.h>

static const struct workload *const workloads[] = {
	&workload_gt,	 &workload_gtcase, &workload_busy, &workload_loop,    &workload_debug, &workload_dmesg,
	&workload_sleep, &workload_wait,   &workload_sh,   &workload_modules, &workload_pair,
};
#define WORKLOADS (sizeof(workloads) / sizeof(*workloads))

const struct workload *workload_at(size_t index)
{
	return index < WORKLOADS ? workloads[index] : NULL;
}

const struct workload *workload_find(const char *word, const char **args)
{
	size_t len = strcspn(word, ":");

	*args = word[len] ? word + len + 1 : "";
	for (size_t i = 0; i < WORKLOADS; i++)
		if (strlen(workloads[i]->name) == len && !strncmp(workloads[i]->name, word, len))
			return workloads[i];
	return NULL;
}

void workloads_print(FILE *out)
{
	for (size_t i = 0; i < WORKLOADS; i++)
		fprintf(out, "  %s\n", workloads[i]->usage);
}
