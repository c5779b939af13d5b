/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/strings.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/error.h"

struct di_strings {
	void *root; /* Root of tsearch(3). */
};

static int compare_strings(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *di_string_keep(struct debuginfo *di, const char *s)
{
	char **node, *copy;

	if (!di->strings)
		di->strings = calloc(1, sizeof(*di->strings));
	node = di->strings ? tfind(s, &di->strings->root, compare_strings) : NULL;
	if (node)
		return *node;
	copy = strdup(s);
	node = copy && di->strings ? tsearch(copy, &di->strings->root, compare_strings) : NULL;
	if (!node) {
		free(copy);
		di_memory(di);
		return NULL;
	}
	return *node;
}

void di_strings_free(struct di_strings *s)
{
	if (s)
		tdestroy(s->root, free);
	free(s);
}
