/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal: the breakpoints planted in a machine, in a file that outlives this process. If the process is killed, the next
 * outrider that attaches finds the breakpoints that were left in the machine. The file is mapped into memory and shared, so an
 * update costs one store. A lock on the file shows that its owner is alive.
 */
#ifndef OUTRIDER_TARGET_GDB_JOURNAL_H
#define OUTRIDER_TARGET_GDB_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

#define GDB_POINTS_MAX 1024u

/* The contents of the file. */
struct gdb_planted {
	uint32_t magic;		      /* MAGIC (journal.c) while a process is attached, else 0. */
	uint32_t count;		      /* Number of valid entries of `gva`. */
	uint64_t gva[GDB_POINTS_MAX]; /* GVAs of the planted breakpoints, in no order. */
};

struct gdb_journal;

/*
 * Open the journal of the machine with this `key` (an address of a stub, or a domain). Sets *left to whether the journal's last
 * owner was killed. Returns NULL with `err` set on failure, for example if the owner is alive.
 */
struct gdb_journal *gdb_journal_open(const char *key, bool *left, struct err *err);

/* Returns the mapped content, for gdb_config.planted. Owned by the journal. */
struct gdb_planted *gdb_journal_planted(struct gdb_journal *j);

/* Returns the path of the file. Owned by the journal. */
const char *gdb_journal_path(const struct gdb_journal *j);

/* Close the journal. `clean`: nothing is left in the machine, so remove the file. `j` may be NULL. */
void gdb_journal_close(struct gdb_journal *j, bool clean);

/*
 * Remove the file `path` of a journal whose owner was killed: its points are no longer in the machine. Leaves the file if
 * another outrider has it open by now.
 */
void gdb_journal_remove(const char *path);

#endif
