// SPDX-License-Identifier: GPL-2.0-or-later
/* Says what the name of a slab cache tells about an object in the cache. */
#include "hv/race/slab_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool of_kmalloc(const struct guest_memory *m)
{
	return strstr(m->cache, "kmalloc") != NULL;
}

/*
 * Reports of older versions do not say whether a slab cache is merged. These versions gave a type only to objects of caches
 * that are not merged, so in their reports a cache whose objects have a type is not merged.
 */
static bool may_be_merged(const struct guest_memory *m)
{
	return m->merged == GUEST_MERGED_UNKNOWN && !m->type[0] && !of_kmalloc(m);
}

bool slab_has_one_type(const struct guest_memory *m)
{
	return m->kind == GUEST_MEMORY_SLAB && m->cache[0] && m->merged != GUEST_MERGED_YES && !of_kmalloc(m) &&
	       !may_be_merged(m);
}

void slab_name(const struct guest_memory *m, char out[SLAB_NAME_MAX])
{
	if (!m->cache[0])
		out[0] = '\0';
	else if (m->merged != GUEST_MERGED_YES)
		snprintf(out, SLAB_NAME_MAX, "%s%s", m->cache, may_be_merged(m) ? "?" : "");
	else if (m->object)
		snprintf(out, SLAB_NAME_MAX, "kmalloc-or-alias-%" PRIu32, m->object_size);
	else
		snprintf(out, SLAB_NAME_MAX, "kmalloc-or-alias");
}

void slab_phrase(const struct guest_memory *m, char out[SLAB_NAME_MAX])
{
	char size[32] = "";

	if (m->object)
		snprintf(size, sizeof(size), " of %" PRIu32 " bytes", m->object_size);
	if (!m->cache[0])
		out[0] = '\0';
	else if (m->merged == GUEST_MERGED_YES)
		snprintf(out, SLAB_NAME_MAX, "kmalloc-or-alias%s, merged (first user %s)", size, m->cache);
	else
		snprintf(out, SLAB_NAME_MAX, "%s%s", m->cache, may_be_merged(m) ? " (may be merged)" : "");
}
