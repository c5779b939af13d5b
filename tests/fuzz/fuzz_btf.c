/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's BTF, and every kind of question about types with short names. */
#include "symbols/btf/btf.h"
#include "tests/fuzz/fuzz.h"

static void ask(const struct btf *btf, const char *type)
{
	static const char *const paths[] = {"x", "x.x", "x[0]", "x[t1].x", "x.x.x.x", "y", "x[3][2][1].x"};
	char path[128], name[64];
	struct btf_member member;

	btf_sizeof(btf, type);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (btf_member(btf, type, paths[i], &member) == 0)
			fuzz_require(member.offset <= INT32_MAX && member.size <= INT32_MAX);
	}
	for (uint32_t offset = 0; offset < 40; offset += 3) {
		btf_path_at(btf, type, offset, 1 + offset % 8, path, sizeof(path));
		btf_variable_at(btf, type, offset, 1 + offset % 8, name, sizeof(name), path, sizeof(path));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = {"x", "y", "t0", "t1", "t2", "module", "task_struct", "int"};
	struct err err = {0};
	struct btf *btf = btf_parse(data, size, &err);
	int64_t value;

	if (!btf) {
		fuzz_refused(&err);
		return 0;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		ask(btf, types[i]);
	btf_enumerator(btf, "x", &value);
	btf_free(btf);
	return 0;
}
