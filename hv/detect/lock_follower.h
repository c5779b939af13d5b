/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that describes what was seen of accesses and locks, and hands it to the sink: which functions of the subject a
 * context is in, and what is at the addresses. The guest is never held for it.
 */
#ifndef OUTRIDER_DETECT_LOCK_FOLLOWER_H
#define OUTRIDER_DETECT_LOCK_FOLLOWER_H

/* The thread's function. `arg` is the detector. It ends when d->reporter_stop is set and no moment waits. */
void *lock_follower_main(void *arg);

#endif
