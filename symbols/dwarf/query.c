/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/query.h"

#include "symbols/dwarf/unit.h"

void di_begin(struct debuginfo *di, struct di_query *q, struct err *err)
{
	const uint64_t most = 4000000;

	q->local = (struct err){0};
	q->err = err;
	di->err = &q->local;
	/* No query of a sound file reads every DIE more than a few times, and each DIE takes a byte at least. */
	di->budget = 10000 + 4 * (uint64_t)di->file.map_size;
	if (di->budget > most)
		di->budget = most;
	di->searches = 40;
	di_units_trim(di);
	/* Pages read for units that are closed by now are of no use, and the kernel has mapped 16 for each one touched. */
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
