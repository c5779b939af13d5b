// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights of sites that anybody may have written: read, and looked up as the pool does. */
#include "hv/report/coverage/prefer_json.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"f", "vfs_read", "ext4:ext4_writepages"};
	struct err err = {0};
	struct prefer *p = prefer_read((const char *)data, size, "weights", &err);

	if (!p) {
		fuzz_refused(&err);
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct prefer_weights w = prefer_find(p, names[i]);

		for (size_t n = 0; n < w.count; n++) {
			fuzz_require(!n || w.sites[n].offset > w.sites[n - 1].offset);
			fuzz_require(prefer_weight(&w, w.sites[n].offset) == w.sites[n].weight);
			fuzz_require(w.sites[n].weight >= PREFER_LEAST && w.sites[n].weight <= PREFER_MOST);
		}
		fuzz_require(w.weight >= PREFER_LEAST && w.weight <= PREFER_MOST);
	}
	prefer_free(p);
	return 0;
}
