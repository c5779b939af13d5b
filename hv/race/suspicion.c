// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/suspicion.h"

#include <stdlib.h>

#include "symbols/insn/insn.h"

bool suspicion_covers(const struct prot_held *held, const struct prot_access *access)
{
	return !held->maybe && !(held->shared && (access->rw & INSN_WRITE));
}
#include <string.h>

bool suspicion_of_accesses(const struct suspicion *s)
{
	return s->kind != SUSPICION_INTERRUPT;
}

size_t suspicions_of_atomicity(const struct suspicions *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->list[i].kind == SUSPICION_ATOMICITY;
	return n;
}

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
