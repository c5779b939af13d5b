/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens, closes and relocates a debug file. */
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/dwarf/origin.h"
#include "symbols/dwarf/unit.h"

struct debuginfo *debuginfo_open(const char *path, struct err *err)
{
	struct debuginfo *di = calloc(1, sizeof(*di));

	if (!di) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		return NULL;
	}
	if (di_file_open(&di->file, path, err))
		goto out;
	if (!di_file_has_dwarf(&di->file)) {
		err_set(err, EXIT_INPUT, "%s: no debug information (.debug_info) in it; the -dbg package has the full file",
			path);
		goto out;
	}
	return di;
out:
	debuginfo_close(di);
	return NULL;
}

void debuginfo_close(struct debuginfo *di)
{
	if (!di)
		return;
	while (di->units) {
		struct di_unit *u = di->units;

		di->units = u->next;
		di_unit_close(u);
	}
	di_ranges_free(&di->addresses);
	di_strings_free(di->strings);
	free(di->heads);
	free(di->candidates);
	di_sweep_free(di->sweep);
	di_file_close(&di->file);
	free(di);
}

void debuginfo_slide(struct debuginfo *di, uint64_t slide)
{
	di->file.slide = slide;
}

int debuginfo_place(struct debuginfo *di, const char *section, uint64_t addr)
{
	for (size_t i = 1; di->file.relocatable && i < di->file.count; i++) {
		struct di_section *s = &di->file.sections[i];

		if (s->alloc && !strcmp(s->name, section)) {
			s->run = addr;
			s->placed = true;
			return 0;
		}
	}
	return -1;
}
