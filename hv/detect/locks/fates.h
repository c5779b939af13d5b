/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether data that critical sections access change later (hv/race/section_fate.h). When a CPU hits the sample point
 * of a followed access, the detector reads the datum. It reads the datum again at the end of the access's section, before the
 * second section, and at the end of the second section. So a case shows whether the second section, and what came in between,
 * changed the very datum that the first section checked.
 *
 * A datum is read at lock hooks: when a call is about to take or to release a lock. If the CPU has to wait for the lock of the
 * second section, what others do meanwhile counts as done in the second section.
 *
 * Nothing here allocates. Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_FATES_H
#define OUTRIDER_DETECT_LOCKS_FATES_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/locks/sections.h"
#include "hv/detect/steer/lock_who.h"
#include "hv/race/lock_moment.h"
#include "hv/race/section_fate.h"

/* Number of cases that are followed at the same time. When all are in use, the oldest one is dropped. */
#define FATE_CASES_MAX 32u

/* Callback. Reads the 8 aligned bytes at GVA `gva`. Returns whether it could. */
typedef bool fate_read(void *ctx, uint64_t gva, uint64_t *word);

enum fate_stage { FATE_FREE, FATE_FIRST, FATE_GAP, FATE_SECOND };

/* A case: an access, from the hit of its sample point to the end of the last section. */
struct fate_case {
	enum fate_stage stage; /* FATE_FIRST: in the access's section. FATE_GAP: between the sections. */
	unsigned followed;     /* index into fates.list[] */
	struct lock_who who;
	uint64_t lock;	/* GVA of the lock of the section that it is in */
	uint64_t taken; /* the lock moment in which the access's section began */
	/* GVA of the datum's aligned word, the datum's first bit there, its bits, and the datum's value when last read. */
	uint64_t word, bits, value;
	unsigned shift;
	uint64_t own_bits, moved_bits; /* as in struct section_fate */
	bool equal;		       /* the datum had the value that its code looks for */
};

/* An access that is followed, and what was seen of its data. */
struct followed {
	struct section_fate fate;
	/* How the code at fate.pc branches by the datum. */
	struct lock_test test;
	/* The text of fate.pc was freed: do not arm the site. */
	bool gone;
	/* As in fates_follow(). */
	bool suspected;
};

/* All zero, except for `read` and `ctx`: nothing is followed. */
struct fates {
	fate_read *read;
	void *ctx;
	struct followed list[SECTION_FATES_MAX];
	unsigned count;
	struct fate_case cases[FATE_CASES_MAX];
	unsigned turn; /* the fate whose site is armed next (fates_site()) */
};

/*
 * Follow the access at `pc` in the section that begins with the call `first`, and, if `second` is not 0, in the activation's
 * next section, which begins with the call `second`. `test`: how the code branches by the datum. `suspected`: it belongs to a
 * suspicion; if there is no room, it takes the place of an access that belongs to none. Does nothing if it is followed.
 */
void fates_follow(struct fates *f, uint64_t pc, uint64_t first, uint64_t second, const struct lock_test *test, bool suspected);

/* Returns whether the access at `pc` is followed. */
bool fates_has(const struct fates *f, uint64_t pc);

/* Returns, in turn, the GVA of an access that was not seen in enough cases yet. 0: there is none. */
uint64_t fates_site(struct fates *f);

/* The context is about to access `size` bytes at GVA `gva` by the instruction at `pc`, in the section that `section` began. */
void fates_access(struct fates *f, const struct lock_who *who, uint64_t pc, const struct section_call *section, uint64_t gva,
		  uint32_t size);

/*
 * The context is about to take a lock by this call, and sections_take() was not called yet. If the call begins the first
 * section of a case again, the case ends without a second section, unless its activation still runs, as in a loop.
 */
void fates_again(struct fates *f, const struct lock_who *who, const struct section_call *call, struct sections *s);

/*
 * The context takes a lock by this call. `made`: the lock moments in which the first sections of the `n` pairs began that the
 * new section is the second section of.
 */
void fates_take(struct fates *f, const struct lock_who *who, const struct section_call *call, const uint64_t *made, unsigned n);

/* The context releases the lock. */
void fates_give(struct fates *f, const struct lock_who *who, uint64_t gva);

/* The object at GVA `gva`, of at most `bytes` bytes, was freed, allocated or reused: drop the cases with a datum in it. */
void fates_object_ends(struct fates *f, uint64_t gva, uint32_t bytes);

/* Lock operations may have been missed: drop all cases. */
void fates_hole(struct fates *f);

/* The text [base, base+size) is about to be freed. What was found out about accesses in it stays. */
void fates_text_gone(struct fates *f, uint64_t base, uint64_t size);

#endif
