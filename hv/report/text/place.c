// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/text/place.h"

#include <inttypes.h>
#include <stdio.h>

#include "hv/base/clean.h"

void text_place(const struct guest_symbol *symbol, uint64_t address, char out[TEXT_SITE_MAX])
{
	char module[CLEAN_MAX(sizeof(symbol->module))], name[CLEAN_MAX(sizeof(symbol->name))];

	clean_text(symbol->module, sizeof(symbol->module), module, sizeof(module));
	clean_text(symbol->name, sizeof(symbol->name), name, sizeof(name));
	snprintf(out, TEXT_SITE_MAX, "%.160s+0x%" PRIx64 "%s%.64s%s", name, address - symbol->addr, module[0] ? " [" : "",
		 module, module[0] ? "]" : "");
}

void text_site(const struct race_side *side, char out[TEXT_SITE_MAX])
{
	if (side->symbol.name[0] != '\0')
		text_place(&side->symbol, site_address(side), out);
	else
		snprintf(out, TEXT_SITE_MAX, "0x%016" PRIx64, site_address(side));
}

const struct datum_name *text_datum(const struct race *race)
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;

	return d && d->by != DATUM_UNNAMED ? d : NULL;
}

void text_source(const struct source_line *line, char out[TEXT_SOURCE_MAX])
{
	char file[CLEAN_MAX(sizeof(line->file))];

	clean_text(line->file, sizeof(line->file), file, sizeof(file));
	if (line->line)
		snprintf(out, TEXT_SOURCE_MAX, "%.300s:%u", file, line->line);
	else
		snprintf(out, TEXT_SOURCE_MAX, "%.300s", file);
}
