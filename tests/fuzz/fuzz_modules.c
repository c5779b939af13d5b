/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's list of modules, their sections and their symbols. The input changes a guest that has three. */
#include "tests/fuzz/symbols.h"
#include "tests/unit/symbols/modules_world.h"

static void ask(struct world *w)
{
	struct module_info *list = NULL;
	struct image_section sections[16];
	struct err err = {0};
	uint64_t stamp;
	size_t n = 0;

	modules_stamp(&w->reader, w->kernel, w->btf, &stamp);
	if (modules_read(&w->reader, w->kernel, w->btf, &list, &n, &err)) {
		fuzz_refused(&err);
		return;
	}
	for (size_t i = 0; i < n && i < 8; i++) {
		struct err why = {0};
		struct symtab *st;

		fuzz_require(memchr(list[i].name, 0, sizeof(list[i].name)));
		fuzz_require(list[i].build_id_len <= sizeof(list[i].build_id));
		fuzz_require(module_sections(&w->reader, w->btf, &list[i], sections, 16) <= 16);
		st = module_symbols(&w->reader, w->btf, &list[i], &why);
		if (st)
			fuzz_ask_symtab(st);
		else
			fuzz_refused(&why);
	}
	free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w;

	if (!size)
		return 0;
	w = make_world(data[0] & 1);
	const struct fuzz_range ranges[] = {
		{w->head, sizeof(w->head)},
		{w->heap, sizeof(w->heap)},
		{w->notes, sizeof(w->notes)},
		{w->sections, sizeof(w->sections)},
		{w->tables.bytes, w->tables.len < 512 ? w->tables.len : 512},
	};

	fuzz_patch(ranges, sizeof(ranges) / sizeof(ranges[0]), data + 1, size - 1);
	ask(w);
	free_world(w);
	return 0;
}
