/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds types by name in an index: the kernel has some 100,000 types, and each walk of its modules looks up dozens of types. */
#include "symbols/btf/names.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/fnv1a.h"

/*
 * A lookup probes at most this many slots of the hash table by_name, and does not find a type whose slot lies further on. The
 * limit bounds the cost of names that a hostile blob made to collide.
 */
#define MAX_PROBES 1024u

/* Returns the slot of by_name where the search for a name begins. */
static uint32_t first_slot(const struct btf *btf, const char *name)
{
	uint64_t hash = fnv1a(FNV1A_START, name);

	return (uint32_t)(hash ^ hash >> 32) & (btf->by_name_size - 1);
}

static bool nameable(const struct btf *btf, uint32_t id, struct btf_type *t)
{
	if (!btf_type_get(btf, id, t) || !t->name)
		return false;
	return btf_kind(t) == BTF_STRUCT || btf_kind(t) == BTF_UNION || btf_kind(t) == BTF_TYPEDEF;
}

int btf_index_names(struct btf *btf, struct err *err)
{
	uint32_t named = 0;
	struct btf_type t;

	for (uint32_t id = 1; id < btf->count; id++)
		named += nameable(btf, id, &t);
	btf->by_name_size = 16;
	while (btf->by_name_size < 2 * named)
		btf->by_name_size *= 2;
	btf->by_name = calloc(btf->by_name_size, sizeof(*btf->by_name));
	if (!btf->by_name)
		return err_set(err, EXIT_INTERNAL, "BTF: out of memory");
	for (uint32_t id = 1; id < btf->count; id++) {
		uint32_t slot, probes = 0;

		if (!nameable(btf, id, &t))
			continue;
		slot = first_slot(btf, btf_string(btf, t.name));
		while (btf->by_name[slot] && ++probes < MAX_PROBES)
			slot = (slot + 1) & (btf->by_name_size - 1);
		if (!btf->by_name[slot])
			btf->by_name[slot] = id;
	}
	return 0;
}

uint32_t btf_find_type(const struct btf *btf, const char *name)
{
	uint32_t slot = first_slot(btf, name), alias = 0;
	struct btf_type t;

	for (uint32_t probes = 0; probes < MAX_PROBES && btf->by_name[slot]; probes++) {
		uint32_t id = btf->by_name[slot];

		slot = (slot + 1) & (btf->by_name_size - 1);
		if (!btf_type_get(btf, id, &t) || strcmp(btf_string(btf, t.name), name))
			continue;
		if (btf_kind(&t) != BTF_TYPEDEF && btf_vlen(&t))
			return id;
		if (btf_kind(&t) == BTF_TYPEDEF && !alias)
			alias = id;
	}
	return alias ? btf_resolve(btf, alias) : 0;
}
