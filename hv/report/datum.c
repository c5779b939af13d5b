// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the best known name of a race's datum. */
#include "hv/report/datum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/race/slab_name.h"

static const char *const kind_words[] = {
	[GUEST_MEMORY_UNKNOWN] = "unknown",
	[GUEST_MEMORY_KERNEL] = "kernel data",
	[GUEST_MEMORY_MODULE] = "module data",
	[GUEST_MEMORY_PER_CPU] = "per-CPU",
	[GUEST_MEMORY_SLAB] = "slab",
	[GUEST_MEMORY_STACK] = "stack",
	[GUEST_MEMORY_PAGE_TABLE] = "page table",
	[GUEST_MEMORY_PAGE_INFO] = "struct page",
	[GUEST_MEMORY_VMALLOC] = "vmalloc",
	[GUEST_MEMORY_PAGE] = "page",
	[GUEST_MEMORY_USER] = "user",
};

#define KINDS (sizeof(kind_words) / sizeof(kind_words[0]))

/*
 * Printable copies of the names in struct guest_memory, which may hold any bytes of the guest. `slab` comes from slab_name(),
 * `cache` from slab_phrase().
 */
struct clean_memory {
	char symbol[CLEAN_MAX(sizeof(((struct guest_symbol *)0)->name))];
	char module[CLEAN_MAX(sizeof(((struct guest_symbol *)0)->module))];
	char slab[CLEAN_MAX(SLAB_NAME_MAX)], cache[CLEAN_MAX(SLAB_NAME_MAX)], type[CLEAN_MAX(64)], member[CLEAN_MAX(128)];
};

static void clean_memory(const struct guest_memory *m, struct clean_memory *out)
{
	char text[SLAB_NAME_MAX];

	clean_text(m->symbol.name, sizeof(m->symbol.name), out->symbol, sizeof(out->symbol));
	clean_text(m->symbol.module, sizeof(m->symbol.module), out->module, sizeof(out->module));
	slab_name(m, text);
	clean_text(text, sizeof(text), out->slab, sizeof(out->slab));
	slab_phrase(m, text);
	clean_text(text, sizeof(text), out->cache, sizeof(out->cache));
	clean_text(m->type, sizeof(m->type), out->type, sizeof(out->type));
	clean_text(m->member, sizeof(m->member), out->member, sizeof(out->member));
}

/* Write "+0x8", or "" for offset 0. */
static void put_offset(uint32_t offset, char out[16])
{
	out[0] = '\0';
	if (offset)
		snprintf(out, 16, "+0x%" PRIx32, offset);
}

bool datum_memory_path(const struct guest_memory *m, char out[DATUM_TEXT_MAX])
{
	struct clean_memory clean;
	char offset[16], cpu[32] = "";

	out[0] = '\0';
	clean_memory(m, &clean);
	put_offset(m->offset, offset);
	if (m->cpu >= 0 && m->kind == GUEST_MEMORY_PER_CPU)
		snprintf(cpu, sizeof(cpu), " of CPU %d", m->cpu);
	if (clean.member[0] && clean.symbol[0])
		snprintf(out, DATUM_TEXT_MAX, "%s.%s%s", clean.symbol, clean.member, cpu);
	else if (clean.member[0])
		snprintf(out, DATUM_TEXT_MAX, "%s.%s", clean.type, clean.member);
	else if (clean.symbol[0])
		snprintf(out, DATUM_TEXT_MAX, "%s%s%s", clean.symbol, offset, cpu);
	else if (clean.slab[0] && m->object)
		snprintf(out, DATUM_TEXT_MAX, "%s%s", clean.slab, offset);
	return out[0] != '\0';
}

bool datum_path(const struct race *race, char out[DATUM_TEXT_MAX])
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;

	out[0] = '\0';
	if (d && d->by != DATUM_UNNAMED && d->path[0]) {
		clean_text(d->path, sizeof(d->path), out, DATUM_TEXT_MAX);
		return true;
	}
	return datum_memory_path(&race->first.memory, out);
}

bool datum_memory(const struct guest_memory *m, char out[DATUM_TEXT_MAX])
{
	struct clean_memory clean;
	size_t used;

	clean_memory(m, &clean);
	out[0] = '\0';
	if (m->kind == GUEST_MEMORY_UNKNOWN || m->kind >= KINDS)
		return false;
	used = (size_t)snprintf(out, DATUM_TEXT_MAX, "%s", kind_words[m->kind]);
	if (clean.cache[0])
		used += (size_t)snprintf(out + used, DATUM_TEXT_MAX - used, " %s", clean.cache);
	if (clean.symbol[0])
		used += (size_t)snprintf(out + used, DATUM_TEXT_MAX - used, " %s%s%s%s", clean.symbol,
					 clean.module[0] ? " [" : "", clean.module, clean.module[0] ? "]" : "");
	if (m->kind == GUEST_MEMORY_PER_CPU && m->cpu >= 0)
		used += (size_t)snprintf(out + used, DATUM_TEXT_MAX - used, " of CPU %d", m->cpu);
	if (m->object)
		snprintf(out + used, DATUM_TEXT_MAX - used, ", +%" PRIu32 " in %" PRIu32 " bytes at 0x%016" PRIx64, m->offset,
			 m->object_size, m->object);
	return true;
}

json_t *datum_memory_json(struct json_builder *b, const struct guest_memory *m)
{
	json_t *o;

	if (m->kind == GUEST_MEMORY_UNKNOWN || m->kind >= KINDS)
		return json_null();
	o = json_object();
	json_put(b, o, "kind", json_string(kind_words[m->kind]));
	json_put(b, o, "variable", json_clean(m->symbol.name, sizeof(m->symbol.name)));
	json_put(b, o, "module", json_clean(m->symbol.module, sizeof(m->symbol.module)));
	json_put(b, o, "cpu", m->cpu >= 0 ? json_integer(m->cpu) : json_null());
	json_put(b, o, "cache", json_clean(m->cache, sizeof(m->cache)));
	json_put(b, o, "merged",
		 m->kind != GUEST_MEMORY_SLAB || m->merged == GUEST_MERGED_UNKNOWN
			 ? json_null()
			 : json_boolean(m->merged == GUEST_MERGED_YES));
	json_put(b, o, "object", m->object ? json_hex(m->object) : json_null());
	json_put(b, o, "object_size", m->object ? json_integer(m->object_size) : json_null());
	json_put(b, o, "offset", m->object ? json_integer(m->offset) : json_null());
	json_put(b, o, "type", json_clean(m->type, sizeof(m->type)));
	json_put(b, o, "member", json_clean(m->member, sizeof(m->member)));
	return o;
}

static uint8_t read_kind(struct json_reader *r, const json_t *o)
{
	const char *word = json_read_string(r, o, "kind");

	for (size_t i = GUEST_MEMORY_UNKNOWN + 1; i < KINDS; i++) {
		if (strcmp(word, kind_words[i]) == 0)
			return (uint8_t)i;
	}
	json_read_wrong(r, "kind", "a known kind of memory");
	return GUEST_MEMORY_UNKNOWN;
}

void datum_memory_read(struct json_reader *r, const json_t *race, struct guest_memory *out)
{
	const json_t *o = json_read_optional(race, "memory") ? json_read_object(r, race, "memory") : NULL;

	*out = (struct guest_memory){.cpu = -1};
	if (!o)
		return;
	out->kind = read_kind(r, o);
	json_read_text(r, o, "variable", out->symbol.name, sizeof(out->symbol.name));
	json_read_text(r, o, "module", out->symbol.module, sizeof(out->symbol.module));
	if (json_read_optional(o, "cpu"))
		out->cpu = (int)json_read_number(r, o, "cpu", UINT16_MAX);
	json_read_text(r, o, "cache", out->cache, sizeof(out->cache));
	/* Reports of older versions lack the member "merged". For these, it stays unknown whether the cache is merged. */
	if (json_read_optional(o, "merged"))
		out->merged = json_read_bool(r, o, "merged") ? GUEST_MERGED_YES : GUEST_MERGED_NO;
	json_read_text(r, o, "type", out->type, sizeof(out->type));
	json_read_text(r, o, "member", out->member, sizeof(out->member));
	/*
	 * The name of a merged cache does not tell the type of its objects. Drop a type and a member even if the file has them.
	 */
	if (out->merged == GUEST_MERGED_YES)
		out->type[0] = out->member[0] = '\0';
	if (!json_read_optional(o, "object"))
		return;
	out->object = json_read_hex(r, o, "object");
	out->object_size = (uint32_t)json_read_number(r, o, "object_size", UINT32_MAX);
	out->offset = (uint32_t)json_read_number(r, o, "offset", UINT32_MAX);
}
