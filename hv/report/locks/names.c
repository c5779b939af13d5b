// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/locks/names.h"

#include <string.h>

const char *chart_function(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : name;
}

size_t chart_owner_len(const char *name)
{
	const char *arrow = strstr(name, "->");
	size_t len = strcspn(name, ".+");

	return arrow && (size_t)(arrow - name) < len ? (size_t)(arrow - name) : len;
}
