// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/suspicion.h"

#include <stdlib.h>
#include <string.h>

void suspicions_fini(struct suspicions *s)
{
	free(s->list);
	*s = (struct suspicions){0};
}

const struct suspicion *suspicions_find(const struct suspicions *s, const char *id)
{
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->list[i].id, id) == 0)
			return &s->list[i];
	}
	return NULL;
}
