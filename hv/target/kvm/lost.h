/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time for which one vCPU was kept from its work, in one word that any thread may read at any time. While the vCPU may run,
 * the word is even: the total lost time. While the vCPU is kept from its work, the word is odd: the total lost time before this
 * period, minus the time at which this period began. Only the vCPU's own thread changes the word. Times are CLOCK_MONOTONIC, in
 * ns.
 */
#ifndef OUTRIDER_TARGET_KVM_LOST_H
#define OUTRIDER_TARGET_KVM_LOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct kvm_lost {
	_Atomic int64_t word;
};

/* Begin a period of lost time at `now_ns`, unless such a period has already begun. */
static inline void kvm_lost_begin(struct kvm_lost *l, uint64_t now_ns)
{
	int64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);

	if (!(word & 1))
		atomic_store_explicit(&l->word, (word - (int64_t)now_ns) | 1, memory_order_relaxed);
}

/* Returns true if the vCPU is being kept from its work. */
static inline bool kvm_lost_goes_on(const struct kvm_lost *l)
{
	return atomic_load_explicit(&l->word, memory_order_relaxed) & 1;
}

/* End the period of lost time at `now_ns`. */
static inline void kvm_lost_end(struct kvm_lost *l, uint64_t now_ns)
{
	int64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);

	if (word & 1)
		atomic_store_explicit(&l->word, (word + (int64_t)now_ns) & ~INT64_C(1), memory_order_relaxed);
}

/* Returns the total lost time until `now_ns`, in ns. */
static inline uint64_t kvm_lost_ns(const struct kvm_lost *l, uint64_t now_ns)
{
	int64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);
	int64_t ns = word & 1 ? word + (int64_t)now_ns : word;

	return ns > 0 ? (uint64_t)ns : 0; /* the period may have begun after the caller read `now_ns` */
}

#endif
