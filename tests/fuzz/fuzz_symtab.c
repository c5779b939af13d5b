/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of files: the .symtab of an ELF vmlinux, and a System.map. */
#include "symbols/tables/symtab.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct err err = {0};
	struct symtab *st = symtab_load(fuzz_file(&file, data, size), &err);

	if (st)
		fuzz_ask_symtab(st);
	else
		fuzz_refused(&err);
	return 0;
}
