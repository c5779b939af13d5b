/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal: which breakpoints are planted in a machine, kept in a file that outlives this process. If the process is killed
 * and cannot clean up, the next one to attach finds what was left. The file is mapped into memory and shared, so that keeping
 * it costs one store. A lock on the file says that its owner lives.
 */
#ifndef OUTRIDER_TARGET_GDB_JOURNAL_H
#define OUTRIDER_TARGET_GDB_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

#define GDB_POINTS_MAX 1024u

/* The contents of the file. */
struct gdb_planted {
	uint32_t magic;		      /* A constant while somebody is attached, else 0. */
	uint32_t count;		      /* How many entries of `gva` are valid. */
	uint64_t gva[GDB_POINTS_MAX]; /* GVAs of the breakpoints that are planted, in no order. */
};

struct gdb_journal;

/*
 * Open the journal of the machine that `key` names (an address of a stub, or a domain). `left` tells whether its last owner was
 * killed. Returns NULL with `err` set on failure, for example when the owner lives.
 */
struct gdb_journal *gdb_journal_open(const char *key, bool *left, struct err *err);

/* The contents, for gdb_config.planted. They belong to the journal. */
struct gdb_planted *gdb_journal_planted(struct gdb_journal *j);

/* The path of the file. It belongs to the journal. */
const char *gdb_journal_path(const struct gdb_journal *j);

/* Close the journal. `clean` says that nothing is left in the machine, and removes the file. NULL is allowed. */
void gdb_journal_close(struct gdb_journal *j, bool clean);

#endif
