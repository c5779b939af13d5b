/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that is not Linux, for the detector's tests: the functions of hv/guest/guest.h that hv/detect calls, answered from
 * this structure. A test that links it leaves hv/guest out.
 */
#ifndef OUTRIDER_TESTS_FAKE_GUEST_H
#define OUTRIDER_TESTS_FAKE_GUEST_H

#include <stdatomic.h>

#include "hv/guest/guest.h"
#include "tests/unit/fake_target.h"

#define FAKE_STACK_SIZE 0x4000ull /* stacks are aligned to it */

struct guest {
	struct fake_target *ft;
	uint64_t cr3; /* the kernel's page tables */
	struct symtab *symtab;
	const char *not_sampled; /* glob on functions, or NULL */

	int ready;	  /* what guest_poll() says */
	atomic_int polls; /* how often it was asked */

	struct guest_context context; /* but for irqs_off, which the registers say */

	struct guest_stack interrupted[GUEST_STACKS_MAX - 1]; /* what guest_stacks() gives beside the current one */
	unsigned interrupted_count;
	uint32_t unused; /* bytes at the start of each of them that unwinding does without */
	enum guest_origin origin;

	struct guest_memory memory; /* what guest_memory_at() says, but for object, its size and symbol.addr: gva, size and RIP
				       it was asked with */

	struct guest_module module;
	atomic_bool module_here; /* what the guest's list would say */
	bool module_reported;	 /* the sampler's */

	const struct guest_event_site *events; /* what guest_event_sites() gives a copy of */
	size_t event_count;
	uint64_t going_base; /* the module that goes, when asked; size 0: none */
	uint64_t going_size;
	_Atomic uint64_t gone_base, gone_size; /* text nothing may be planted in any more */
};

#endif
