// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes and reads the names of sites, and the ids of races. */
#include "hv/race/site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/fnv1a.h"
#include "hv/base/linux_image.h"

#define ID_BITS 48 /* bits of a race's id: 12 hexadecimal digits */
/* Maximum number of bytes of a module's name, and of a function's name, in a site's name. Longer names are truncated. */
#define MODULE_MAX 64
#define FUNCTION_MAX 160

uint64_t site_address(const struct race_side *side)
{
	return side->pc ? side->pc : side->regs.rip;
}

void site_function(const struct guest_symbol *symbol, char out[SITE_NAME_MAX])
{
	char module[MODULE_MAX + 1], name[FUNCTION_MAX + 1];

	clean_text(symbol->module, sizeof(symbol->module), module, sizeof(module));
	clean_text(symbol->name, sizeof(symbol->name), name, sizeof(name));
	snprintf(out, SITE_NAME_MAX, "%s%s%s", module, module[0] ? ":" : "", name);
}

void site_name(const struct race_side *side, uint64_t slide, char out[SITE_NAME_MAX])
{
	const struct guest_symbol *symbol = &side->symbol;
	uint64_t address = site_address(side);
	const char *stop = side->pc ? "" : "stop:";
	char name[SITE_NAME_MAX];

	if (side->kind == RACE_SIDE_DEVICE) {
		const struct device_request *request = &side->device.request;

		clean_text(request->type, sizeof(request->type), name, MODULE_MAX + 1);
		snprintf(out, SITE_NAME_MAX, "%.64s:%s", name, device_op_word(request->op));
		return;
	}
	if (side->kind != RACE_SIDE_CPU) {
		snprintf(out, SITE_NAME_MAX, "unknown");
		return;
	}
	if (symbol->name[0] == '\0') {
		if (address >= LINUX_IMAGE_START && address < LINUX_IMAGE_END)
			snprintf(out, SITE_NAME_MAX, "%simage+0x%" PRIx64, stop, address - slide - LINUX_IMAGE_START);
		else
			snprintf(out, SITE_NAME_MAX, "%sraw+0x%" PRIx64, stop, address);
		return;
	}
	site_function(symbol, name);
	snprintf(out, SITE_NAME_MAX, "%s%.*s+0x%" PRIx64, stop, MODULE_MAX + 1 + FUNCTION_MAX, name, address - symbol->addr);
}

uint64_t site_offset(const char *site)
{
	const char *plus = strrchr(site, '+');

	return plus ? strtoull(plus + 1, NULL, 16) : 0;
}

static const char *first_of(const char *site_a, const char *site_b)
{
	return strcmp(site_a, site_b) <= 0 ? site_a : site_b;
}

/* Returns a hash that does not depend on the order of the sites. */
static uint64_t pair_hash(const char *site_a, const char *site_b)
{
	const char *first = first_of(site_a, site_b), *second = first == site_a ? site_b : site_a;

	return fnv1a(fnv1a(fnv1a(FNV1A_START, first), "\n"), second);
}

void race_id(const char *site_a, const char *site_b, char out[RACE_ID_MAX])
{
	uint64_t hash = pair_hash(site_a, site_b);

	/* Fold the hash to ID_BITS instead of truncating it, so that the high bits of FNV also count. */
	hash = (hash >> ID_BITS) ^ (hash & ((UINT64_C(1) << ID_BITS) - 1));
	snprintf(out, RACE_ID_MAX, "%012" PRIx64, hash);
}

uint64_t race_hash(const struct siphash_key *key, const char *id, const char *site_a, const char *site_b)
{
	const char *first = first_of(site_a, site_b), *second = first == site_a ? site_b : site_a;
	char text[RACE_ID_MAX + 2 * SITE_NAME_MAX];
	int len = snprintf(text, sizeof(text), "%s\n%s\n%s", id, first, second);

	return siphash(key, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text));
}
