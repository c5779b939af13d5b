/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPORT_NAMING_LOCKS_H
#define OUTRIDER_REPORT_NAMING_LOCKS_H

#include "hv/base/err.h"
#include "hv/race/protection.h"
#include "hv/report/naming/image.h"

/*
 * Name the data and locks of a record by debug files, where the guest's own tables lack the member: "nic->flags" from the
 * pointers that instructions used, and "table[3].next" from the variable. If pointers disagree about an object, its members
 * keep their names. n->modules must be the loaded modules.
 *
 * Takes some microseconds per access, and some milliseconds per new function. `limit_ns` bounds the CPU time of this thread.
 * After three quarters of it, no more pointers are looked up. After all of it, the remaining entries keep their names and
 * *complete becomes false.
 *
 * Returns 0, or -1 with EXIT_INTERNAL if memory runs out; some names are then unchanged.
 */
int naming_locks(const struct naming *n, struct protection *p, uint64_t limit_ns, bool *complete, struct err *err);

#endif
