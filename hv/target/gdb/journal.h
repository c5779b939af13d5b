/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is planted in a machine, in a file that outlives us: killed without a chance to clean up, the next one to attach finds
 * what was left. The file is shared memory, so keeping it costs a store; a lock on it says that its owner lives.
 */
#ifndef OUTRIDER_TARGET_GDB_JOURNAL_H
#define OUTRIDER_TARGET_GDB_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

#define GDB_POINTS_MAX 1024u

struct gdb_planted {
	uint32_t magic, count; /* magic: set while somebody is attached */
	uint64_t gva[GDB_POINTS_MAX];
};

struct gdb_journal;

/*
 * The journal of the machine called `key` (an address, a domain). NULL: see err, for example when its owner lives. *left: its
 * last owner was killed.
 */
struct gdb_journal *gdb_journal_open(const char *key, bool *left, struct err *err);
struct gdb_planted *gdb_journal_planted(struct gdb_journal *j);
const char *gdb_journal_path(const struct gdb_journal *j);

/* `clean`: nothing is left in the machine, and the file goes. NULL is nothing. */
void gdb_journal_close(struct gdb_journal *j, bool clean);

#endif
