/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates of two recordings: what conflicts, what is left out, and the ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/explore/explore.h"
#include "hv/explore/order.h"
#include "hv/explore/pairs.h"
#include "symbols/insn/op.h"
#include "symbols/insn/insn.h"

#define READ INSN_READ
#define WRITE INSN_WRITE
#define BOTH (INSN_READ | INSN_WRITE)
/* Functions of the test: PCs from LOCKS on implement locks, from SHARES on those of readers, from OWNS on those that
 * store an owner, from UNLOCKS on release locks, and from COMMON on serve the whole kernel. */
#define LOCKS 0x8000u
#define SHARES 0x8400u
#define OWNS 0x8600u
#define UNLOCKS 0x8800u
#define COMMON 0x9000u
#define MODULE 0xa000u
#define DATUM 0x1000u
#define OTHER 0x2000u
#define VARIABLE 0x3000u
#define LOCK 0x3000u

static enum pairs_code code(void *ctx, uint64_t pc)
{
	(void)ctx;
	return pc >= MODULE    ? PAIRS_MODULE
	       : pc >= COMMON  ? PAIRS_SERVES_ALL
	       : pc >= UNLOCKS ? PAIRS_UNLOCK
	       : pc >= OWNS    ? PAIRS_OWNS
	       : pc >= SHARES  ? PAIRS_LOCK_SHARED
	       : pc >= LOCKS   ? PAIRS_LOCK
			       : PAIRS_CODE;
}

static struct explore_access at(uint32_t number, uint64_t pc, uint64_t gva, uint32_t size, uint8_t rw)
{
	return (struct explore_access){.at = number, .pc = pc, .gva = gva, .size = size, .rw = rw};
}

static struct explore_access locked(uint32_t number, uint64_t pc, uint64_t gva)
{
	struct explore_access a = at(number, pc, gva, 4, BOTH);

	a.locked = true;
	return a;
}

static bool lasting(void *ctx, uint64_t gva)
{
	(void)ctx;
	return gva == VARIABLE;
}

/* Each side allocates what is from OWN_OBJECT on. */
#define OWN_OBJECT 0x4000u

static bool allocated(void *ctx, uint64_t gva)
{
	(void)ctx;
	return gva >= OWN_OBJECT;
}

#define FIND(a, b, n) find(a, sizeof(a) / sizeof((a)[0]), b, sizeof(b) / sizeof((b)[0]), n)

static struct explore_candidate *find(const struct explore_access *a, uint32_t na, const struct explore_access *b, uint32_t nb,
				      size_t *n)
{
	const struct pairs_input in = {
		.access = {a, b}, .count = {na, nb}, .code = code, .lasting = lasting, .allocated = allocated};

	return pairs_find(&in, n);
}

static void two_accesses_conflict(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, DATUM, 8, READ)}, b[] = {at(1, 0x20, DATUM + 4, 4, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->side[0].access.pc, 0x10);
	assert_int_equal(c->side[1].access.pc, 0x20);
	assert_int_equal(c->side[0].times, 1);
	assert_false(c->common_lock || c->locked || c->serves_all);
	free(c);
}

static void no_conflict(void **state)
{
	const struct explore_access read[] = {at(1, 0x10, DATUM, 8, READ)}, low[] = {at(1, 0x20, DATUM, 4, WRITE)},
				    high[] = {at(1, 0x30, DATUM + 4, 4, WRITE)};
	struct explore_access inc[] = {locked(1, 0x40, DATUM)};
	size_t n;

	(void)state;
	assert_null(FIND(read, read, &n));
	assert_int_equal(n, 0);
	/* The same granule, but other bytes. */
	assert_null(FIND(low, high, &n));
	assert_int_equal(n, 0);
	inc->commutes = INSN_COMMUTES_ADD;
	assert_null(FIND(inc, inc, &n));
	assert_int_equal(n, 0);
}

/* Two locked accesses, one of which gives a result, such as XCHG. */
static void the_order_of_locked_accesses_may_matter(void **state)
{
	struct explore_access inc[] = {locked(1, 0x40, DATUM)}, exchange[] = {locked(1, 0x50, DATUM)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	inc->commutes = INSN_COMMUTES_ADD;
	c = FIND(inc, exchange, &n);
	assert_int_equal(n, 1);
	assert_true(explore_both_locked(c));
	assert_int_equal(explore_reasons(c), 1);
	free(c);
	c = FIND(exchange, exchange, &n);
	assert_int_equal(n, 1);
	free(c);
	/* Two kinds that commute each with itself only. */
	exchange->commutes = INSN_COMMUTES_OR;
	c = FIND(inc, exchange, &n);
	assert_int_equal(n, 1);
	free(c);
}

/* Memory that both sides map at other addresses. Without a GPA, the GVA counts. */
static void two_addresses_of_the_same_bytes_conflict(void **state)
{
	struct explore_access a[] = {at(1, 0x10, DATUM, 8, WRITE)}, b[] = {at(1, 0x20, OTHER, 4, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	a->gpa = 0x1000;
	b->gpa = 0x1004;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->side[0].access.gva, DATUM);
	assert_int_equal(c->side[1].access.gva, OTHER);
	free(c);
	b->gpa = 0x1008;
	assert_null(FIND(a, b, &n));
	b->gpa = 0;
	assert_null(FIND(a, b, &n));
	a->gpa = 0;
	b->gva = DATUM + 4;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	free(c);
}

static void an_access_of_many_bytes_conflicts_in_its_middle(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, DATUM, 280, WRITE)}, b[] = {at(1, 0x20, DATUM + 200, 8, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	free(c);
	c = FIND(b, a, &n);
	assert_int_equal(n, 1);
	free(c);
}

/* The same two instructions at two objects are one candidate, with the accesses that were made first. */
static void instructions_are_clustered(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, OTHER, 8, WRITE), at(2, 0x10, DATUM, 8, WRITE),
					   at(3, 0x10, DATUM, 8, WRITE)};
	const struct explore_access b[] = {at(5, 0x20, DATUM, 8, READ), at(6, 0x20, OTHER, 8, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->side[0].access.at, 1);
	assert_int_equal(c->side[1].access.at, 6);
	assert_int_equal(c->side[0].times, 3);
	assert_int_equal(c->side[1].times, 2);
	free(c);
}

static void rare_pairs_come_first(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, DATUM, 8, WRITE), at(2, 0x10, DATUM, 8, WRITE),
					   at(3, 0x11, OTHER, 8, WRITE), at(4, 0x12, DATUM, 8, READ)};
	const struct explore_access b[] = {at(1, 0x20, DATUM, 8, WRITE), at(2, 0x21, OTHER, 8, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 3);
	assert_int_equal(c[0].side[0].access.pc, 0x11);
	assert_int_equal(c[1].side[0].access.pc, 0x12);
	assert_int_equal(c[2].side[0].access.pc, 0x10);
	free(c);
}

static void modules_come_before_the_kernel(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, OTHER, 8, WRITE), at(2, MODULE, DATUM, 8, WRITE),
					   at(3, MODULE, DATUM, 8, WRITE)};
	const struct explore_access b[] = {at(1, 0x20, OTHER, 8, WRITE), at(2, 0x21, DATUM, 8, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].side[0].access.pc, MODULE);
	assert_true(c[0].module);
	assert_false(c[1].module);
	free(c);
}

static void locked_accesses_and_common_functions_come_late(void **state)
{
	const struct explore_access a[] = {locked(1, 0x10, DATUM), at(2, COMMON, OTHER, 8, WRITE), at(3, 0x12, DATUM, 8, WRITE),
					   at(4, 0x12, DATUM, 8, WRITE)};
	const struct explore_access b[] = {at(1, 0x20, DATUM, 8, READ), at(2, 0x21, OTHER, 8, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 3);
	assert_int_equal(c[0].side[0].access.pc, 0x12);
	assert_true(c[1].locked);
	assert_true(c[2].serves_all);
	free(c);
}

/* The baseline program executes 0x10 and 0x20, too. */
static void code_of_every_program_comes_late(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, DATUM, 8, WRITE), at(2, 0x11, DATUM, 8, WRITE)};
	const struct explore_access b[] = {at(1, 0x20, DATUM, 8, READ), at(2, 0x21, DATUM, 8, READ),
					   at(3, 0x21, DATUM, 8, READ)};
	const struct explore_access baseline[] = {at(1, 0x20, OTHER, 8, READ), at(2, 0x10, OTHER, 8, WRITE),
						  at(3, 0x10, OTHER, 8, WRITE)};
	const struct pairs_input in = {.access = {a, b},
				       .count = {2, 3},
				       .baseline = baseline,
				       .baseline_count = 3,
				       .code = code,
				       .lasting = lasting,
				       .allocated = allocated};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = pairs_find(&in, &n);
	assert_int_equal(n, 4);
	/* Of no side, although it is executed more often; then of one; then of both. */
	assert_int_equal(c[0].side[0].access.pc, 0x11);
	assert_int_equal(c[0].side[1].access.pc, 0x21);
	assert_int_equal(c[0].baseline, 0);
	assert_int_equal(c[1].baseline, 1);
	assert_int_equal(c[2].baseline, 1);
	assert_int_equal(c[3].baseline, 2);
	assert_int_equal(explore_reasons(&c[3]), 1);
	assert_int_equal(explore_reasons(&c[2]), 0);
	free(c);
}

static void what_was_in_use_is_nobodys_own(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, VARIABLE, 8, WRITE)}, b[] = {at(1, 0x20, VARIABLE, 8, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	assert_false(c[0].fresh);
	free(c);
}

/* Both programs write DATUM before they read it; OTHER is read first by side 1. */
static void memory_that_both_write_first_is_their_own(void **state)
{
	const struct explore_access a[] = {at(1, 0x10, DATUM, 8, WRITE), at(2, 0x11, DATUM, 8, READ),
					   at(3, 0x12, OTHER, 8, WRITE)};
	const struct explore_access b[] = {at(1, 0x10, DATUM, 8, WRITE), at(2, 0x21, OTHER, 8, READ),
					   at(3, 0x22, OTHER, 8, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(c[i].fresh, i >= 2);
		assert_int_equal(c[i].side[0].access.gva, i >= 2 ? DATUM : OTHER);
		assert_int_equal(explore_reasons(&c[i]), i >= 2);
	}
	free(c);
}

/* The same instruction of memcpy() is two instructions if two functions call memcpy(). */
static void a_copy_is_its_callers(void **state)
{
	struct explore_access a[] = {at(1, COMMON, DATUM, 8, READ), at(2, COMMON, DATUM, 8, READ)},
			      b[] = {at(1, 0x20, DATUM, 8, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	a[0].caller = 0x50;
	a[1].caller = MODULE;
	c = FIND(a, b, &n);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].side[0].access.caller, MODULE);
	assert_true(c[0].module);
	assert_int_equal(c[1].side[0].access.caller, 0x50);
	assert_false(c[0].serves_all || c[1].serves_all);
	free(c);
}

static void accesses_in_a_service_come_late(void **state)
{
	struct explore_access a[] = {at(1, 0x10, DATUM, 8, WRITE), at(2, 0x11, DATUM, 8, WRITE)},
			      b[] = {at(1, 0x20, DATUM, 8, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	a[0].service = true;
	c = FIND(a, b, &n);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].side[0].access.pc, 0x11);
	assert_true(c[1].serves_all);
	free(c);
}

static struct explore_candidate of_functions(uint64_t pc0, uint64_t pc1)
{
	struct explore_candidate c = {.side = {{.access.pc = pc0}, {.access.pc = pc1}}};

	/* Functions of 0x100 bytes; what lies from LOCKS on is in no function that is known. */
	for (unsigned side = 0; side < 2; side++)
		if (c.side[side].access.pc < LOCKS)
			c.side[side].symbol =
				(struct guest_symbol){.name = "f", .addr = c.side[side].access.pc & ~UINT64_C(0xff)};
	return c;
}

static void each_pair_of_functions_has_its_turn(void **state)
{
	struct explore_candidate c[] = {
		of_functions(0x110, 0x210), of_functions(0x120, 0x210),		of_functions(0x110, 0x220),
		of_functions(0x310, 0x210), of_functions(LOCKS + 1, LOCKS + 2), of_functions(0x310, 0x220),
		of_functions(0x130, 0x220),
	};
	const uint64_t expected[][2] = {{0x110, 0x210}, {0x310, 0x210}, {LOCKS + 1, LOCKS + 2}, {0x120, 0x210},
					{0x310, 0x220}, {0x110, 0x220}, {0x130, 0x220}};

	(void)state;
	assert_int_equal(order_by_clusters(c, sizeof(c) / sizeof(c[0])), 0);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		for (unsigned side = 0; side < 2; side++)
			assert_int_equal(c[i].side[side].access.pc, expected[i][side]);
	assert_int_equal(order_by_clusters(c, 0), 0);
}

/* A candidate of a worse class is never before one of a better class. */
static void classes_of_ranks_are_not_mixed(void **state)
{
	struct explore_candidate c[] = {of_functions(0x110, 0x210), of_functions(0x120, 0x210), of_functions(0x310, 0x210),
					of_functions(0x510, 0x610)};

	(void)state;
	c[2].baseline = 1;
	c[3].locked = true;
	assert_int_equal(order_by_clusters(c, 4), 0);
	assert_int_equal(c[1].side[0].access.pc, 0x120);
	assert_int_equal(c[2].side[0].access.pc, 0x310);
	assert_int_equal(c[3].side[0].access.pc, 0x510);
}

/* Both sides take the lock, make their access, and release the lock; then side 0 makes another access without it. */
static void a_common_lock_is_seen(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, LOCK), at(2, 0x10, DATUM, 4, WRITE),
					   at(3, LOCKS + 1, LOCK, 1, WRITE), at(4, 0x11, DATUM, 4, WRITE)};
	const struct explore_access b[] = {locked(1, LOCKS, LOCK), at(2, 0x20, DATUM, 4, READ),
					   at(3, LOCKS + 1, LOCK, 1, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].side[0].access.pc, 0x11);
	assert_false(c[0].common_lock);
	assert_int_equal(c[1].side[0].access.pc, 0x10);
	assert_true(c[1].common_lock);
	assert_int_equal(c[0].side[0].release[0].pc, 0);
	for (unsigned side = 0; side < 2; side++) {
		assert_int_equal(c[1].side[side].release[0].pc, LOCKS + 1);
		assert_int_equal(c[1].side[side].release[0].gva, LOCK);
	}
	free(c);
}

/* Code that is no lock function releases the lock: what comes after is not under it, and the lock's word is no datum. */
static void a_release_may_be_inlined(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, LOCK), at(2, 0x9, LOCK, 4, WRITE), at(3, 0x10, DATUM, 4, WRITE)};
	const struct explore_access b[] = {locked(1, LOCKS, LOCK), at(2, 0x19, LOCK, 4, WRITE), at(3, 0x20, DATUM, 4, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->side[0].access.pc, 0x10);
	assert_false(c->common_lock);
	free(c);
}

/* A release may be missing, or be a locked access itself, as that of paravirtual spinlocks. */
static void a_release_that_is_missing_is_no_lock_to_the_end(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, LOCK),   at(2, 0x10, DATUM, 4, WRITE),
					   locked(3, LOCKS, LOCK),   at(4, 0x11, OTHER, 4, WRITE),
					   locked(5, UNLOCKS, LOCK), at(6, 0x12, DATUM + 8, 4, WRITE),
					   locked(7, LOCKS, LOCK),   at(8, 0x13, DATUM + 16, 4, WRITE)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, a, &n);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(c[i].common_lock, c[i].side[0].access.gva == OTHER);
	free(c);
}

#define FIND_ONE(a, b) find_one(a, sizeof(a) / sizeof((a)[0]), b, sizeof(b) / sizeof((b)[0]))

/* Returns the only candidate. */
static struct explore_candidate *find_one(const struct explore_access *a, uint32_t na, const struct explore_access *b,
					  uint32_t nb)
{
	size_t n;
	struct explore_candidate *found = find(a, na, b, nb, &n);

	assert_int_equal(n, 1);
	return found;
}

#define BIT(schedule) (1u << (schedule))

/*
 * Side 0 writes under the lock, and side 1 has released it when it reads. While side 0 is held in its section, side 1 does not
 * come to its access, unless both are readers of the lock.
 */
static void what_would_block_is_known(void **state)
{
	struct explore_access a[] = {locked(1, LOCKS, LOCK), at(2, 0x10, DATUM, 4, WRITE), at(3, LOCKS + 1, LOCK, 1, WRITE)};
	struct explore_access b[] = {locked(1, LOCKS, LOCK), at(2, LOCKS + 1, LOCK, 1, WRITE), at(3, 0x20, DATUM, 4, READ)};
	const struct explore_access c[] = {at(1, 0x20, DATUM, 4, READ), locked(2, LOCKS, LOCK),
					   at(3, LOCKS + 1, LOCK, 1, WRITE)};
	struct explore_candidate *found;

	(void)state;
	found = FIND_ONE(a, b);
	assert_int_equal(found->blocked, BIT(EXPLORE_FLIP_A) | BIT(EXPLORE_PAUSE_A));
	free(found);
	found = FIND_ONE(b, a);
	assert_int_equal(found->blocked, BIT(EXPLORE_FLIP_B) | BIT(EXPLORE_PAUSE_B));
	free(found);
	/* Side 1 makes its access before it takes the lock. */
	found = FIND_ONE(a, c);
	assert_int_equal(found->blocked, BIT(EXPLORE_PAUSE_A));
	free(found);
	a[0].pc = b[0].pc = SHARES;
	found = FIND_ONE(a, b);
	assert_int_equal(found->blocked, 0);
	free(found);
	/* A reader may find what it looks for without the lock. */
	a[0].pc = LOCKS;
	found = FIND_ONE(a, b);
	assert_int_equal(found->blocked, 0);
	free(found);
	a[0].pc = SHARES;
	b[0].pc = LOCKS;
	found = FIND_ONE(a, b);
	assert_int_equal(found->blocked, BIT(EXPLORE_FLIP_A) | BIT(EXPLORE_PAUSE_A));
	free(found);
}

/* The take of another lock may come first, and again later. */
static void a_lock_that_is_taken_again_hides_no_other(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, OTHER), locked(2, LOCKS, LOCK), at(3, 0x10, DATUM, 4, WRITE),
					   at(4, LOCKS + 1, LOCK, 1, WRITE), locked(5, LOCKS, OTHER)};
	const struct explore_access b[] = {locked(1, LOCKS, OTHER), locked(2, LOCKS, LOCK), at(3, LOCKS + 1, LOCK, 1, WRITE),
					   locked(4, LOCKS, OTHER), at(5, 0x20, DATUM, 4, READ)};
	struct explore_candidate *found;

	(void)state;
	found = FIND_ONE(a, b);
	assert_int_equal(found->blocked, BIT(EXPLORE_FLIP_A) | BIT(EXPLORE_PAUSE_A));
	free(found);
}

/* A pause under a common lock goes on until it is released, and another lock that the other side takes before its access. */
static void a_pause_goes_on_until_no_lock_blocks(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, OTHER), locked(2, LOCKS, LOCK), at(3, 0x10, DATUM, 4, WRITE),
					   at(4, LOCKS + 1, LOCK, 1, WRITE), at(5, LOCKS + 1, OTHER, 1, WRITE)};
	const struct explore_access b[] = {locked(1, LOCKS, OTHER), at(2, LOCKS + 1, OTHER, 1, WRITE), locked(3, LOCKS, LOCK),
					   at(4, 0x20, DATUM, 4, READ), at(5, LOCKS + 1, LOCK, 1, WRITE)};
	struct explore_candidate *found;

	(void)state;
	found = FIND_ONE(a, b);
	assert_true(found->common_lock);
	assert_int_equal(found->side[0].release[0].gva, LOCK);
	assert_int_equal(found->side[0].release[1].gva, OTHER);
	assert_int_equal(found->side[0].release[2].pc, 0);
	assert_int_equal(found->side[1].release[0].gva, LOCK);
	assert_int_equal(found->side[1].release[1].pc, 0);
	assert_false(found->blocked & (BIT(EXPLORE_PAUSE_A) | BIT(EXPLORE_PAUSE_B)));
	free(found);
}

/* A socket is taken by a store to its owner, under a spinlock, and released by other code under the same spinlock. */
static void the_owner_of_a_socket_is_a_lock(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, LOCK),	    at(2, OWNS, OTHER, 4, WRITE),
					   at(3, OWNS + 1, LOCK, 1, WRITE), at(4, 0x10, DATUM, 4, WRITE),
					   locked(5, LOCKS, LOCK),	    at(6, 0x11, OTHER, 4, WRITE),
					   at(7, LOCKS + 1, LOCK, 1, WRITE)};
	struct explore_candidate *found;

	(void)state;
	found = FIND_ONE(a, a);
	assert_true(found->common_lock);
	/* After the store to the owner, the spinlock is still held. */
	assert_int_equal(found->side[0].release[0].gva, OTHER);
	assert_int_equal(found->side[0].release[1].gva, LOCK);
	assert_int_equal(found->side[0].release[1].pc, LOCKS + 1);
	assert_false(found->blocked & BIT(EXPLORE_PAUSE_A));
	free(found);
}

/* Each side has allocated the object with the lock: two objects, although they have one address. */
static void a_lock_of_its_own_keeps_nobody_out(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, OWN_OBJECT), at(2, 0x10, DATUM, 4, WRITE),
					   at(3, LOCKS + 1, OWN_OBJECT, 1, WRITE)};
	struct explore_candidate *found;

	(void)state;
	found = FIND_ONE(a, a);
	assert_false(found->common_lock);
	assert_int_equal(found->blocked, 0);
	free(found);
}

static void other_locks_are_no_common_lock(void **state)
{
	const struct explore_access a[] = {locked(1, LOCKS, LOCK), at(2, 0x10, DATUM, 4, WRITE)};
	const struct explore_access b[] = {locked(1, LOCKS, LOCK + 64), at(2, 0x20, DATUM, 4, READ)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	c = FIND(a, b, &n);
	assert_int_equal(n, 1);
	assert_false(c->common_lock);
	free(c);
}

/* A counter of references is no lock, although it is locked, and goes down again. */
static void a_counter_is_no_lock(void **state)
{
	struct explore_access a[] = {locked(1, 0x30, LOCK), at(2, 0x10, DATUM, 4, WRITE), locked(3, 0x31, LOCK)};
	struct explore_candidate *c;
	size_t n;

	(void)state;
	a[0].commutes = a[2].commutes = INSN_COMMUTES_ADD;
	c = FIND(a, a, &n);
	assert_int_equal(n, 1);
	assert_false(c->common_lock);
	free(c);
}

/* The others that have no reason to come late alternate with those of a module that have a common lock only. */
static void sections_of_a_module_alternate(void **state)
{
	struct explore_candidate c[] = {of_functions(0x110, 0x210), of_functions(0x310, 0x210), of_functions(0x510, 0x610),
					of_functions(0x710, 0x810), of_functions(0x910, 0x810), of_functions(0xa10, 0x810)};
	const uint64_t expected[] = {0x110, 0x310, 0x710, 0x510, 0x910, 0xa10};

	(void)state;
	c[0].module = c[3].module = c[4].module = c[5].module = true;
	c[3].common_lock = c[4].common_lock = c[5].common_lock = true;
	c[5].locked = true;
	assert_int_equal(order_by_clusters(c, 6), 0);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(c[i].side[0].access.pc, expected[i]);
}

/* So do those of a module whose accesses are both locked; but not if only one is locked. */
static void locked_pairs_of_a_module_alternate(void **state)
{
	struct explore_candidate c[] = {of_functions(0x110, 0x210), of_functions(0x310, 0x210), of_functions(0x510, 0x610),
					of_functions(0x710, 0x810)};
	const uint64_t expected[] = {0x110, 0x510, 0x310, 0x710};

	(void)state;
	c[2].module = c[3].module = c[2].locked = c[3].locked = true;
	c[2].side[0].access.locked = c[2].side[1].access.locked = c[3].side[0].access.locked = true;
	assert_int_equal(order_by_clusters(c, 4), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(c[i].side[0].access.pc, expected[i]);
}

/* What --a-also and --b-also name comes first, also under a common lock, but not if it has another reason to come late. */
static void calls_that_were_asked_for_come_first(void **state)
{
	struct explore_candidate c[] = {of_functions(0x110, 0x210), of_functions(0x310, 0x410), of_functions(0x510, 0x610),
					of_functions(0x710, 0x810)};
	const uint64_t expected[] = {0x310, 0x510, 0x110, 0x710};

	(void)state;
	c[0].module = true;
	c[1].other_call = c[2].other_call = c[3].other_call = true;
	c[2].common_lock = c[3].serves_all = true;
	assert_int_equal(order_by_clusters(c, 4), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(c[i].side[0].access.pc, expected[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_accesses_conflict),
		cmocka_unit_test(no_conflict),
		cmocka_unit_test(the_order_of_locked_accesses_may_matter),
		cmocka_unit_test(two_addresses_of_the_same_bytes_conflict),
		cmocka_unit_test(an_access_of_many_bytes_conflicts_in_its_middle),
		cmocka_unit_test(instructions_are_clustered),
		cmocka_unit_test(rare_pairs_come_first),
		cmocka_unit_test(modules_come_before_the_kernel),
		cmocka_unit_test(locked_accesses_and_common_functions_come_late),
		cmocka_unit_test(code_of_every_program_comes_late),
		cmocka_unit_test(memory_that_both_write_first_is_their_own),
		cmocka_unit_test(what_was_in_use_is_nobodys_own),
		cmocka_unit_test(a_copy_is_its_callers),
		cmocka_unit_test(accesses_in_a_service_come_late),
		cmocka_unit_test(each_pair_of_functions_has_its_turn),
		cmocka_unit_test(classes_of_ranks_are_not_mixed),
		cmocka_unit_test(sections_of_a_module_alternate),
		cmocka_unit_test(locked_pairs_of_a_module_alternate),
		cmocka_unit_test(calls_that_were_asked_for_come_first),
		cmocka_unit_test(a_common_lock_is_seen),
		cmocka_unit_test(a_release_may_be_inlined),
		cmocka_unit_test(a_release_that_is_missing_is_no_lock_to_the_end),
		cmocka_unit_test(what_would_block_is_known),
		cmocka_unit_test(a_lock_that_is_taken_again_hides_no_other),
		cmocka_unit_test(a_pause_goes_on_until_no_lock_blocks),
		cmocka_unit_test(the_owner_of_a_socket_is_a_lock),
		cmocka_unit_test(a_lock_of_its_own_keeps_nobody_out),
		cmocka_unit_test(other_locks_are_no_common_lock),
		cmocka_unit_test(a_counter_is_no_lock),
	};

	return cmocka_run_group_tests_name("explore", tests, NULL, NULL);
}
