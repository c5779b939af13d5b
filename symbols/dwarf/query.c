/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/query.h"

#include "symbols/dwarf/unit.h"

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
	/* Drop resident pages: those of closed units are no longer needed, and the kernel maps 16 pages around each access. */
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
