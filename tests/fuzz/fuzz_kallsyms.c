/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kallsyms tables in a guest's memory. The input is the mapped image of the kernel. */
#include "tests/fuzz/symbols.h"

#define IMAGE 0xffffffff81000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_memory memory = {IMAGE, data, size};
	const struct guest_reader reader = {.read = fuzz_read_memory, .ctx = &memory};
	struct err err = {0};
	struct symtab *st = symtab_from_kallsyms(&reader, IMAGE, IMAGE + size, &err);

	if (st)
		fuzz_ask_symtab(st);
	else
		fuzz_refused(&err);
	return 0;
}
