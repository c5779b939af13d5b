/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds locks that an interrupt can wait for forever. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_INTERRUPT_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_INTERRUPT_H

#include "pruner/locks/protect_facts.h"

/*
 * Returns whether an interrupt can come while the lock of p->takes[take] is held, and then wait for the same lock. If so, sets
 * all members of *s but the text. The id is a hash of the two sites that take the lock. If several objects of one type have
 * such a lock, the suspicions about these objects can have the same id.
 */
bool protect_interrupt(const struct protection *p, uint32_t take, struct suspicion *s);

#endif
