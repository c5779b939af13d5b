// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/naming/image.h"

#include <string.h>

#include "hv/base/linux_image.h"

static const struct report_module *module_at(const struct naming *n, const struct race *race, uint64_t gva)
{
	const struct report_module *best = NULL;
	uint64_t nearest = UINT64_MAX;

	for (size_t i = 0; i < race->module_count; i++) {
		const struct report_module *module = report_modules_find(n->modules, race->modules[i]);
		uint64_t distance = module ? report_module_distance(module, gva) : UINT64_MAX;

		if (distance >= nearest)
			continue;
		nearest = distance;
		best = module;
	}
	return best;
}

struct debug_image naming_kernel(const struct naming *n)
{
	return (struct debug_image){
		.name = DEBUG_IMAGE_KERNEL, .id = n->build_id, .id_len = n->build_id_len, .slide = n->slide};
}

static struct debug_image image_of(const struct report_module *module)
{
	return (struct debug_image){.name = module->name,
				    .id = module->build_id,
				    .id_len = module->build_id_len,
				    .generation = module->id,
				    .sections = module->sections,
				    .nsections = module->nsections};
}

bool naming_image(const struct naming *n, const struct race *race, uint64_t gva, struct debug_image *out)
{
	const struct report_module *module;

	if (gva >= LINUX_IMAGE_START && gva < LINUX_MODULES_START) {
		*out = naming_kernel(n);
		return true;
	}
	module = gva >= LINUX_MODULES_START ? module_at(n, race, gva) : NULL;
	if (module)
		*out = image_of(module);
	return module != NULL;
}

bool naming_image_any(const struct naming *n, uint64_t gva, struct debug_image *out)
{
	const struct report_module *best = NULL;
	uint64_t nearest = UINT64_MAX;

	if (gva >= LINUX_IMAGE_START && gva < LINUX_MODULES_START) {
		*out = naming_kernel(n);
		return true;
	}
	for (size_t i = 0; gva >= LINUX_MODULES_START && i < n->modules->count; i++) {
		uint64_t distance = report_module_distance(&n->modules->list[i], gva);

		if (distance < nearest)
			best = &n->modules->list[i];
		nearest = distance < nearest ? distance : nearest;
	}
	if (best)
		*out = image_of(best);
	return best != NULL;
}

bool naming_image_of_site(const struct naming *n, const char *site, uint64_t gva, struct debug_image *out)
{
	size_t len = strcspn(site, ":");

	if (!naming_image_any(n, gva, out))
		return false;
	if (site[len] == '\0')
		return strcmp(out->name, DEBUG_IMAGE_KERNEL) == 0;
	return strncmp(site, out->name, len) == 0 && out->name[len] == '\0';
}
