/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that is not Linux, for the detector's tests. It defines the functions of hv/guest/guest.h that hv/detect calls, and
 * struct guest has the values that they return. A test that links it does not link hv/guest.
 */
#ifndef OUTRIDER_TESTS_FAKE_GUEST_H
#define OUTRIDER_TESTS_FAKE_GUEST_H

#include <stdatomic.h>

#include "hv/guest/guest.h"
#include "tests/unit/target/fake_target.h"

#define FAKE_STACK_SIZE 0x4000ull /* stacks are aligned to it */

struct guest {
	struct fake_target *ft;
	/* The kernel's page tables. */
	uint64_t cr3;
	struct symtab *symtab;
	/* A glob on the functions that guest_may_sample() refuses. NULL: it refuses none. */
	const char *not_sampled;
	/* A glob on the functions of which guest_serves_all() returns true. NULL: of none. */
	const char *serves_all;

	/* What guest_poll() returns, and how often it was called. */
	int ready;
	atomic_int polls;

	/* What guest_build_id() says. */
	uint8_t build_id[20];
	size_t build_id_len;

	/* The module that all text is in. NULL: it is the kernel's. */
	const char *text_module;

	/* What guest_context() says, except for irqs_off, which follows from the registers. */
	struct guest_context context;

	/* The memory that guest_mapped_at() knows: `mapped_size` bytes from this GPA on, at this GVA. */
	uint64_t mapped_gpa, mapped_gva, mapped_size;

	/* The stacks that guest_stacks() gives beside the current one. */
	struct guest_stack interrupted[GUEST_STACKS_MAX - 1];
	unsigned interrupted_count;
	/* What guest_pointer_offset() says. */
	uint32_t pointer_offset;
	/* Bytes from RSP to the CFA in each function. */
	uint32_t frame;
	/* Number of bytes at the start of each of these stacks that guest_unwind() does not use. */
	uint32_t unused;
	enum guest_origin origin;

	/*
	 * What guest_memory_at() returns, except for object, object_size and symbol.addr. These are the GVA, the size and the
	 * RIP that its caller passed.
	 */
	struct guest_memory memory;

	/* What guest_taint() says. */
	struct guest_taint taint;

	/* What guest_poll_complaints() passes on, once. NULL: nothing. */
	_Atomic(const struct complaint *) complaint;

	/* How often guest_poll_modules() was called. */
	atomic_uint module_polls;
	/* guest_poll_modules() does not return before guest_cancel_polls() was called. */
	atomic_bool poll_hangs;
	atomic_bool polls_cancelled;
	/* guest_poll_modules() hung for longer than a test that passes lets it hang. */
	atomic_bool hung_too_long;
	/* Number of calls that are in guest_poll_modules() now. */
	atomic_int hanging;

	struct guest_module module;
	/* Whether the module is in the guest's list. */
	atomic_bool module_here;
	/* Whether guest_poll_modules() has reported it as loaded. From then on guest_symbol_at() finds its functions. */
	atomic_bool module_reported;

	/* guest_hook_sites() returns a copy of these. */
	const struct guest_hook_site *hooks;
	size_t hook_count;
	/* The text of the module that is being unloaded, as guest_module_going() returns it. Size 0: no module is. */
	uint64_t going_base, going_size;
	/* The text of which guest_text_state() returns GUEST_TEXT_GOING. */
	_Atomic uint64_t gone_base, gone_size;
};

#endif
