/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds locks that an interrupt can wait for forever. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_INTERRUPT_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_INTERRUPT_H

#include "pruner/locks/protect_facts.h"

/*
 * Returns whether an interrupt can come while take number `take` holds its lock, and then wait for the same lock. If so, set
 * all members of *s but the text. Several takes may give the same id, when a lock is a member of many objects.
 */
bool protect_interrupt(const struct protection *p, uint32_t take, struct suspicion *s);

#endif
