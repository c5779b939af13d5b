/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assertions: what somebody who knows the code says of a datum: which lock it is accessed under, and by whom. They are checked
 * against the record of accesses and the locks held at them (hv/race/protection.h), so the guest's code needs no
 * ASSERT_EXCLUSIVE_WRITER() and no rebuild. docs/locks.md describes the file.
 *
 * An access breaks an assertion only when what it held is surely known, and only from when a second task or interrupt had come
 * to the object: its creator needs no lock. No locks: one thread at a time.
 */
#ifndef OUTRIDER_PRUNER_ASSERTIONS_H
#define OUTRIDER_PRUNER_ASSERTIONS_H

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/race/assertion.h"
#include "hv/race/protection.h"
#include "pruner/assertions_list.h"

/* Read a file. NULL with EXIT_INPUT in `err`, which says file, line and what is wrong with it, or with EXIT_INTERNAL. */
struct assertions *assertions_read(const char *path, struct err *err);

/* Check all of them against one more record, whose data and locks have names. 0, or -1 with EXIT_INTERNAL. */
int assertions_check(struct assertions *a, const struct protection *p, struct err *err);

/* Whether any of them was broken. */
bool assertions_broken(const struct assertions *a);

#endif
