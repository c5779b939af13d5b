/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, closes and relocates a debug file, and begins and ends each query on it. Each of the queries of debuginfo.h has a
 * file: lines.c, variable.c, datum.c, member.c and value.c.
 */
#include "symbols/dwarf/query.h"

#include <stdlib.h>
#include <string.h>

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

void di_begin(struct debuginfo *di, struct di_query *q, struct err *err)
{
	const uint64_t most = 4000000;

	q->local = (struct err){0};
	q->err = err;
	di->err = &q->local;
	/*
	 * The budget counts DIEs, list entries and instructions. A query of a valid file reads each DIE at most a few times,
	 * and a DIE has at least one byte. So four times the file's size in bytes suffices. The limit of 4 million bounds the
	 * time that a large hostile file can cost.
	 */
	di->budget = 10000 + 4 * (uint64_t)di->file.map_size;
	if (di->budget > most)
		di->budget = most;
	di->searches = 40;
	di_units_trim(di);
	/*
	 * Drop the file's resident pages. The pages of closed units are no longer needed, and they are many, since the host's
	 * kernel maps 16 pages around each access.
	 */
	if (di->opened > DI_CACHE_UNITS) {
		di->opened = 0;
		di_file_release(&di->file);
	}
}

int di_end(struct debuginfo *di, struct di_query *q, int n)
{
	di->err = NULL;
	if (q->local.code == EXIT_OK)
		return n;
	return err_set(q->err, q->local.code, "%s", q->local.text);
}
