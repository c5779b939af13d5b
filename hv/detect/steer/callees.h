/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callees: functions outside of the subject that the subject calls, which are sampled too (detect_config.callee_depth). The
 * subject is the functions that detect_config.sample and .module name. A function such as idr_replace() accesses the data of
 * its caller, so that a race on these data may have no side in the subject's own code.
 *
 * Four measures keep the sample at the subject. Functions that the whole kernel calls are left out: those of a list
 * (guest_serves_all()), and those that are called from more places than CALLEES_SHARE allows. The sites of all callees together
 * weigh at most as much as those of the subject. A CPU that hits a callee is held only if it is on the subject's behalf:
 * callees_for_subject() looks for a return address in the subject on the CPU's stack. And a callee that nearly always has other
 * callers is not sampled for a while (callees_executed()).
 *
 * Sampler's thread only, except where a function says otherwise.
 */
#ifndef OUTRIDER_DETECT_STEER_CALLEES_H
#define OUTRIDER_DETECT_STEER_CALLEES_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"
#include "symbols/tables/symtab.h"

struct detect;
struct callees;

/*
 * In a kernel with n functions, a function is left out if it is called from more than n / 200 + 8 places. The 8
 * (CALL_TARGETS_PAGES) are added because the number of places is an estimate. In Debian's 6.1 cloud kernel, which has 44,180
 * functions, this leaves out about 90 functions, which have more than some 230 callers. idr_find() has 42 and
 * radix_tree_lookup() 27.
 */
#define CALLEES_SHARE 200u

/* Returns NULL when memory runs out. `d` must outlive it. */
struct callees *callees_new(struct detect *d);

/* `c` may be NULL. */
void callees_free(struct callees *c);

/*
 * The text [start, end) was loaded: from now on its functions can be callees. With `subject`, they can also be functions of the
 * subject. Each text has a `key` of its own, which is NULL for the kernel. `symbols` must stay valid until callees_text_gone().
 * Returns 0, or -1 with EXIT_INTERNAL in `err`.
 */
int callees_text_came(struct callees *c, const void *key, const struct symtab *symbols, uint64_t start, uint64_t end,
		      bool subject, struct err *err);

/* The text with this key is about to be freed, or was: after the return, no function in the text is in the pool as a callee. */
void callees_text_gone(struct callees *c, const void *key);

/*
 * If texts came or went, find the subject's callees anew, put them into the pool in place of the earlier ones, and say how many
 * they are. Takes d->lock, and enters the target. Returns 0, or -1 with EXIT_INTERNAL in `err`.
 */
int callees_refresh(struct callees *c, struct err *err);

/*
 * A CPU executed a sample point at this GVA, which may be in a callee. `other_caller`: the callee was not called for the
 * subject (callees_for_subject()). After CALLEES_OTHERS hits in a callee, the hits for the subject are compared with the other
 * hits. If there were more than CALLEES_OTHERS other hits for each hit for the subject, the callee rests: no site of it is
 * chosen for CALLEES_REST_NS. Each further rest in a row takes twice as long, up to CALLEES_REST_MOST_NS. A callee does not
 * rest for good, because the subject may only be idle now. `now` is of CLOCK_MONOTONIC, in ns.
 */
void callees_executed(struct callees *c, uint64_t gva, bool other_caller, uint64_t now);

/* End the rests that are over. */
void callees_step(struct callees *c, uint64_t now);

/*
 * After 16 hits for other callers than the subject, a callee rests. So with 50 callees that the whole guest calls all the time,
 * and a rate of 100 hits/s, the first 8 s are spent on their hits. After that they rest nearly always.
 */
#define CALLEES_OTHERS 16u
#define CALLEES_REST_NS UINT64_C(5000000000)
#define CALLEES_REST_MOST_NS UINT64_C(160000000000)

/* Whether the function at this GVA is in the pool as a callee. */
bool callees_has(const struct callees *c, uint64_t gva);

/*
 * Whether the CPU with these registers is in a callee on behalf of the subject: one of the words at the top of its stack is an
 * address in the subject. The word may be left over from an earlier call, so a true result is no proof. The call stack is not
 * unwound here: that happens only for a report. Called with d->lock held, in a callback of the target. Reads at most
 * CALLEES_WORDS words for each level of callees.
 */
bool callees_for_subject(const struct callees *c, const struct x86_regs *regs);

/*
 * Number of stack words to read for each level of callees. The frame of a small function has 2 to 20 words, and 64 words have
 * room for some functions between the subject and the access.
 */
#define CALLEES_WORDS 64u

#endif
