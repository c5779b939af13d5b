// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/locks/assertions_list.h"

#include <stdlib.h>

void assertion_fini(struct assertion *a)
{
	free(a->text);
	free(a->datum);
	free(a->under);
	free(a->by);
	free(a->breaks);
}

int assertions_add(struct assertions *list, const struct assertion *a)
{
	struct assertion *grown = realloc(list->list, (list->count + 1) * sizeof(*grown));

	if (!grown)
		return -1;
	list->list = grown;
	list->list[list->count++] = *a;
	return 0;
}

void assertions_free(struct assertions *a)
{
	for (size_t i = 0; a && i < a->count; i++)
		assertion_fini(&a->list[i]);
	if (a) {
		free(a->list);
		free(a->file);
	}
	free(a);
}
