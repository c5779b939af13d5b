/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPORT_NAMING_LOCKS_H
#define OUTRIDER_REPORT_NAMING_LOCKS_H

#include "hv/base/err.h"
#include "hv/race/protection.h"
#include "hv/report/naming/image.h"

/*
 * Name the data and the locks of a record by debug files, where the guest's own tables do not know their members: "nic->flags"
 * by the pointers that instructions went through, and "table[3].next" by the variable. Where pointers disagree about what is in
 * an object, its members keep the names that they have. n->modules are the modules that are loaded.
 *
 * It takes some microseconds an access, and some milliseconds for each function that it is new to. After three quarters
 * of `limit_ns` of this thread's time no more pointers are asked about, and after all of it the rest keeps its names, and
 * *complete becomes false.
 *
 * 0, or -1 with EXIT_INTERNAL: memory ran out, and some names are as they were.
 */
int naming_locks(const struct naming *n, struct protection *p, uint64_t limit_ns, bool *complete, struct err *err);

#endif
