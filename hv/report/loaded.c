// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the loaded modules that a race records: those that contain an address of the race. */
#include "hv/report/loaded.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/linux_image.h"

/* Arguments of keep_module(). */
struct keeping {
	const struct report_modules *loaded;
	struct race *race;
	struct report_modules *kept;
	size_t most;
	bool *full;
	struct err *err;
};

static const struct report_module *module_at(const struct report_modules *loaded, uint64_t gva)
{
	const struct report_module *best = NULL;
	uint64_t nearest = UINT64_MAX;

	for (size_t i = 0; i < loaded->count; i++) {
		uint64_t distance = report_module_distance(&loaded->list[i], gva);

		if (distance >= nearest)
			continue;
		nearest = distance;
		best = &loaded->list[i];
	}
	return best;
}

/* Add the module to `kept` if there is room. Returns 1 if `kept` has it, 0 if not, or -1 if memory runs out. */
static int keep_module(struct keeping *k, const struct report_module *module)
{
	size_t bytes = k->kept->bytes;

	if (report_modules_find(k->kept, module->id))
		return 1;
	if (report_module_bytes(module) > k->most || bytes > k->most - report_module_bytes(module)) {
		*k->full = true;
		return 0;
	}
	return report_modules_add(k->kept, module, k->err) < 0 ? -1 : 1;
}

static int keep_address(struct keeping *k, uint64_t gva)
{
	const struct report_module *module = gva >= LINUX_MODULES_START ? module_at(k->loaded, gva) : NULL;
	struct race *race = k->race;
	uint64_t *ids;
	int kept;

	if (!module)
		return 0;
	for (size_t i = 0; i < race->module_count; i++) {
		if (race->modules[i] == module->id)
			return 0;
	}
	kept = keep_module(k, module);
	if (kept <= 0)
		return kept;
	ids = realloc(race->modules, (race->module_count + 1) * sizeof(*ids));
	if (!ids)
		return err_set(k->err, EXIT_INTERNAL, "out of memory while keeping the modules of a race");
	race->modules = ids;
	ids[race->module_count++] = module->id;
	return 0;
}

/*
 * Keep the modules that pointers in the datum's value lead to, so that debug files can name these pointers later. Any 8 bytes
 * of the value, at any offset, may be a pointer.
 */
static int keep_values(struct keeping *k, const uint8_t *bytes, uint32_t len)
{
	int rc = 0;

	for (uint32_t at = 0; at + sizeof(uint64_t) <= len && rc == 0; at++) {
		uint64_t value;

		memcpy(&value, bytes + at, sizeof(value));
		rc = keep_address(k, value);
	}
	return rc;
}

static int keep_side(struct keeping *k, const struct race_side *side)
{
	int rc = keep_address(k, site_address(side));

	if (rc == 0)
		rc = keep_address(k, side->regs.rip);
	if (rc == 0)
		rc = keep_address(k, side->gva);
	for (uint32_t i = 0; i < side->calls.count && rc == 0; i++)
		rc = keep_address(k, side->calls.frames[i].pc);
	for (unsigned i = 0; i < X86_GPRS && rc == 0; i++)
		rc = keep_address(k, side->regs.gpr[i]);
	return rc;
}

int loaded_keep(const struct report_modules *loaded, struct race *race, struct report_modules *kept, size_t most, bool *full,
		struct err *err)
{
	struct keeping k = {loaded, race, kept, most, full, err};
	int rc = 0;

	for (unsigned i = 0; i < 2 && rc == 0; i++) {
		if (race->first.sides[i].kind == RACE_SIDE_CPU)
			rc = keep_side(&k, &race->first.sides[i]);
	}
	if (rc == 0)
		rc = keep_values(&k, race->first.before, race->first.data_len);
	return rc == 0 ? keep_values(&k, race->first.after, race->first.data_len) : rc;
}
