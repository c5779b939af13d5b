// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects runs by shard and by name. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/siphash.h"
#include "hv/campaign/plan/plan.h"

bool plan_in_shard(const char *key, unsigned index, unsigned count)
{
	static const struct siphash_key fixed = {{0, 0}};

	return siphash(&fixed, key, strlen(key)) % count == index - 1;
}

static bool matches(const char *key, const char *pattern)
{
	char *copy, *rest, *part;
	bool found = fnmatch(pattern, key, 0) == 0;

	copy = rest = strdup(key);
	while (!found && rest && (part = strsep(&rest, "/")) != NULL)
		found = fnmatch(pattern, part, 0) == 0;
	free(copy);
	return found;
}

bool plan_is_selected(const char *key, const char *only)
{
	char *copy = strdup(only), *rest = copy, *pattern;
	bool found = false;

	while (!found && rest && (pattern = strsep(&rest, ",")) != NULL)
		found = matches(key, pattern);
	free(copy);
	return found;
}
