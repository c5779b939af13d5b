/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that describes lock moments and hands them to the sink: it finds the functions of the subject (the sampled code,
 * see locks.h) on the stack, and names the memory at each moment's addresses. From the stack it also learns which functions of
 * the subject the kernel calls back (locks_called_back()). The guest is not held meanwhile.
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCK_FOLLOWER_H
#define OUTRIDER_DETECT_LOCKS_LOCK_FOLLOWER_H

/* The thread's function. `arg` is the struct detect. Returns when d->life.reporter_stop is set and the ring is empty. */
void *lock_follower_main(void *arg);

#endif
