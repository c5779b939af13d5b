// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the functions in a range of text by its symbols (functions.h). */
#include "hv/detect/steer/functions.h"

bool functions_is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Store the function at symbol `first` in *fn, and the symbol after all of its names in *other. Returns that symbol's index. */
static size_t names_end(const struct symtab *symbols, size_t first, struct symbol *fn, struct symbol *other)
{
	size_t n = symtab_count(symbols), next;

	symtab_get(symbols, first, fn);
	for (next = first + 1; next < n; next++) {
		symtab_get(symbols, next, other);
		if (other->addr != fn->addr)
			break;
		if (other->size > fn->size)
			fn->size = other->size;
	}
	return next;
}

bool functions_next(const struct functions *f, size_t *i, struct symbol *out)
{
	size_t n = symtab_count(f->symbols);

	for (size_t first = *i, next; first < n; first = next) {
		struct symbol fn, other;

		next = names_end(f->symbols, first, &fn, &other);
		*i = next;
		if (fn.addr < f->start || fn.addr >= f->end || !fn.size || fn.size > FUNCTIONS_SIZE_MAX ||
		    !f->wanted(f->ctx, f->symbols, first, next))
			continue;
		/* Cut the function where the next symbol begins: a symbol's size may reach beyond that. */
		if (next < n && fn.size > other.addr - fn.addr)
			fn.size = other.addr - fn.addr;
		if (fn.size > f->end - fn.addr)
			fn.size = f->end - fn.addr;
		*out = fn;
		return true;
	}
	return false;
}
