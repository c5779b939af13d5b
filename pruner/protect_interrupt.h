/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks that interrupts can wait for forever. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_PROTECT_INTERRUPT_H
#define OUTRIDER_PRUNER_PROTECT_INTERRUPT_H

#include "pruner/protect_facts.h"

/*
 * Whether take number `take` leaves its lock open to an interrupt that waits for the same lock: *s becomes that suspicion, with
 * all but the text. Several suspicions may have the same id, when a lock is a member of many objects.
 */
bool protect_interrupt(const struct protection *p, uint32_t take, struct suspicion *s);

#endif
