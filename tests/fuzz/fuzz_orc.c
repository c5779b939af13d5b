/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ORC tables in a guest's memory, of the kernel's three layouts. The input is the addresses, the rules and a struct module. */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/symbols/orc_world.h"

#define RULES 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orc_table table, module;
	struct orc_rule rule;
	struct world w;

	if (!size)
		return 0;
	open_world(&w, (enum layout)(data[0] % LAYOUTS));
	for (unsigned i = 0; i < RULES; i++)
		add(&w, TEXT + 16ull * i, 8, -16, ORC_BASE_SP, ORC_BASE_PREV_SP, 2);
	/* num_orcs, and the addresses of the two tables, as the kernel's own struct module has them. */
	memcpy(w.module + NUM_ORCS, &(uint32_t){RULES}, 4);
	memcpy(w.module + ORC_IP, &(uint64_t){IPS}, 8);
	memcpy(w.module + ORC, &(uint64_t){ENTRIES}, 8);
	const struct fuzz_range ranges[] = {
		{w.ips.bytes, w.ips.len}, {w.entries.bytes, w.entries.len}, {w.module, sizeof(w.module)}};

	fuzz_patch(ranges, 3, data + 1, size - 1);
	table = finish(&w);
	if (orc_find_module(&w.reader, w.btf, MODULE, &module, NULL) == 0)
		find(&w, &module, TEXT + data[0], &rule);
	else
		fuzz_require(module.count == 0);
	for (uint64_t pc = TEXT - 8; pc < TEXT + 16 * RULES + 16; pc += 7) {
		if (find(&w, &table, pc, &rule) == 0)
			fuzz_require(rule.type <= ORC_REGS_PARTIAL);
	}
	close_world(&w);
	return 0;
}
