/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where to hold a CPU so that another context's section can come between two critical sections (sections.h): before the second
 * section, or, for copies of the machine, before the first one. Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_SECTION_HOLDS_H
#define OUTRIDER_DETECT_LOCKS_SECTION_HOLDS_H

#include "hv/detect/locks/sections.h"

/*
 * A context that has ended its first section of a lock, and is about to take the lock for the second one. Its CPU may be held
 * there, until a section of another context has come in between.
 */
struct section_gap {
	struct lock_who who;
	uint64_t start;		   /* GVA of the start of the function whose activation makes both sections */
	uint64_t gva;		   /* GVA of the second section's lock */
	uint64_t second;	   /* GVA of the call that takes this lock */
	struct section_step first; /* the first section, mostly of the same lock */
};

/*
 * Returns whether the call at `taken_at` begins the second section of a pair that was seen before. If not, sections_gap()
 * returns false for this call.
 */
bool sections_is_second(const struct sections *s, uint64_t taken_at);

/*
 * The context is about to take the lock `gva` by the call at `taken_at`. Returns true, with the gap in *out, if the CPU should
 * be held before the call. There are two conditions. The call would begin the second section of a pair. And another context
 * lately had a section of this lock, and this section was never seen between the two sections of the pair. If the two sections
 * have different locks, the other context must have held both locks in its section. The more often a CPU was held for a pair,
 * the rarer further holds are. Returns false if the CPU was held before this call already.
 */
bool sections_gap(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t taken_at,
		  const struct call_chain *chain, struct section_gap *out);

/* Returns whether the call at `taken_at` begins the first section of a pair that was seen before. */
bool sections_is_first(const struct sections *s, uint64_t taken_at);

/*
 * Callback. Returns whether the caller still wants to see `between`, a section of another context, run between the two
 * sections `first` and `second` of one function. Each section is given by the GVA of the call that takes its lock.
 */
typedef bool section_wanted(void *ctx, uint64_t first, uint64_t second, uint64_t between);

/*
 * The context is about to take the lock `gva` by the call at `first`. Looks for a pair that begins with this section, and for a
 * remembered section of this lock by another context. Returns whether `wanted` accepts any such pair and section together. For
 * a pair of two locks, the other context must have held a second lock in its section.
 */
bool sections_worth(const struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t first,
		    const struct call_chain *chain, section_wanted *wanted, void *ctx);

/*
 * Find a pair with the first section `first` that `wanted` accepts together with `between`, a section of the first section's
 * lock. `chain`: the call chain of the context that is about to begin the first section. Returns NULL if there is no such pair.
 */
const struct section_pair *sections_find(const struct sections *s, uint64_t first, uint64_t between,
					 const struct call_chain *chain, section_wanted *wanted, void *ctx);

/* Record that the CPU is held in the gap from now on. `number` is the number of the latest lock moment. */
void sections_hold(struct sections *s, const struct section_gap *gap, uint64_t number);

/*
 * Returns whether, since the first section ended, another context had a section of the lock that was never seen between the
 * sections of this pair before.
 */
bool sections_gap_met(struct sections *s, const struct section_gap *gap);

#endif
