/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locates the unwind tables of a Linux guest. */
#include "hv/guest/linux_orc.h"

#include "hv/guest/linux_guest.h"

void linux_find_unwind(struct guest *g)
{
	uint64_t end = symtab_addr(g->symtab, "_etext"), init_end = symtab_addr(g->symtab, "_einittext");

	g->orc = (struct orc_table){0};
	g->kernel_text = (struct text_range){symtab_addr(g->symtab, "_text"), end > init_end ? end : init_end};
	if (!g->btf || orc_find_format(g->btf, &g->orc_format, NULL))
		g->orc_format.size = 0;
	else if (orc_find_kernel(g->symtab, &g->orc_format, &g->orc, NULL) == 0)
		orc_find_numbering(&g->poll_reader, &g->orc, &g->orc_format);
}

void linux_find_module_unwind(const struct guest *g, uint64_t address, struct orc_table *out)
{
	*out = (struct orc_table){0};
	if (g->btf && g->orc_format.size)
		orc_find_module(&g->poll_reader, g->btf, address, out, NULL);
}
