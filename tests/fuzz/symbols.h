/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking a table of symbols everything, and guest memory that is one stretch of bytes. */
#ifndef OUTRIDER_TESTS_FUZZ_SYMBOLS_H
#define OUTRIDER_TESTS_FUZZ_SYMBOLS_H

#include "hv/base/guest_reader.h"
#include "symbols/tables/symtab.h"
#include "tests/fuzz/fuzz.h"

#define FUZZ_SYMBOLS_MAX 2000

/* Ask for the first symbols by name and by address, and free the table. */
static inline void fuzz_ask_symtab(struct symtab *st)
{
	symtab_set_slide(st, 0x4000000);
	for (size_t i = 0; i < symtab_count(st) && i < FUZZ_SYMBOLS_MAX; i++) {
		struct symbol sym, found;

		symtab_get(st, i, &sym);
		fuzz_require(sym.name[0]);
		fuzz_require(symtab_find(st, sym.name, &found) == 0);
		symtab_at(st, sym.addr, &found);
		symtab_at(st, sym.addr + sym.size, &found);
	}
	symtab_free(st);
}

struct fuzz_memory {
	uint64_t gva;
	const uint8_t *bytes;
	size_t len;
};

static inline int fuzz_read_memory(void *ctx, uint64_t gva, void *buf, size_t len)
{
	const struct fuzz_memory *m = ctx;

	if (gva < m->gva || gva - m->gva > m->len || len > m->len - (gva - m->gva))
		return -1;
	memcpy(buf, m->bytes + (gva - m->gva), len);
	return 0;
}

#endif
