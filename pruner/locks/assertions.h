/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assertions: statements of a user about a datum. An assertion names the lock that protects the datum, or the functions that
 * may access it. Outrider checks assertions against the record of accesses and of the locks held at them
 * (hv/race/protection.h). So the guest kernel needs no ASSERT_EXCLUSIVE_WRITER() and no rebuild. docs/locks.md describes the
 * file.
 *
 * An access breaks an assertion only if the record is complete about the locks that the access held, and if a second task or
 * interrupt has accessed the object: until then the creator of the object needs no lock.
 *
 * No locking: one thread at a time may use a list of assertions.
 */
#ifndef OUTRIDER_PRUNER_LOCKS_ASSERTIONS_H
#define OUTRIDER_PRUNER_LOCKS_ASSERTIONS_H

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/race/assertion.h"
#include "hv/race/protection.h"

/*
 * Read the assertions in the file `path`. The caller gives the result to assertions_free(). Returns NULL with err set:
 * EXIT_INPUT with file, line and mistake, or EXIT_INTERNAL when memory ran out.
 */
struct assertions *assertions_read(const char *path, struct err *err);

/*
 * Check all assertions against one more record, whose data and locks have names. The results are added to those of earlier
 * records. Returns 0, or -1 with EXIT_INTERNAL when memory ran out.
 */
int assertions_check(struct assertions *a, const struct protection *p, struct err *err);

/* Free the list and its assertions. `a` may be NULL. */
void assertions_free(struct assertions *a);

#endif
