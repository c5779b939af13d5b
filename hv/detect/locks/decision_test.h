/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out how code branches by a value that it reads (struct lock_test). */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_TEST_H
#define OUTRIDER_DETECT_LOCKS_DECISION_TEST_H

#include "hv/detect/locks/decision.h"

/*
 * Find the first branch that depends on what the instruction at GVA `addr` reads, on the path on which no other conditional
 * branch is taken. If it is a je or jne after a test, an and or a cmp with a constant, or a jb or jae after a bt, stores in
 * *out what the code looks for: bits of the value, and whether they are 0 or which value they have. Otherwise out->known is
 * false.
 */
void decision_test(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr, struct lock_test *out);

#endif
