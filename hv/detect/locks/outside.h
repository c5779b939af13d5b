/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks that code outside of the subject took before it called the subject, such as the lock of a transmit queue that the
 * network stack takes before it calls a driver. No hook sees such a lock being taken. But for a suspected pair of accesses,
 * the locks in question are known: the locks that were held at the other site. So at an access, the detector reads the word of
 * each of these locks. If the word says that the lock is free, the access does not hold the lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_OUTSIDE_H
#define OUTRIDER_DETECT_LOCKS_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/locks/lock_sets.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/lock_order.h"
#include "hv/guest/guest.h"

/*
 * Whether the owner word shows that the task, whose task_struct is at GVA `task`, holds this mutex or rwsem for writing. `kind`
 * is LOCK_MUTEX or LOCK_RWSEM.
 */
bool outside_owns(const struct guest *guest, uint64_t gva, enum lock_kind kind, uint64_t task);

/*
 * The access `hit` is about to be made in this context. For each of the `n` locks: if the context holds the lock though no hook
 * saw it being taken, add the lock to hit->held; if the context does not hold the lock, add it to hit->free; if neither is
 * known, do nothing. A spinlock counts as held if its word is locked and no context of the subject has it. This may be wrong,
 * because the word names no owner. But if the lock does not order the two accesses, sooner or later the lock is free at one of
 * them. Called in a callback, under the detector's lock.
 */
void outside_look(const struct guest *guest, const struct lock_sets *sets, const struct guest_context *context,
		  const struct confirm_lock *locks, unsigned n, struct lock_hit *hit);

#endif
