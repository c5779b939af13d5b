// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "basic": neither side takes a lock. */
#include <linux/slab.h>

#include "gt.h"

/* DRDDR figure 2, RWrace: *ptr = rand() against r = *ptr. */
struct gt_rwrace {
	u32 value;
};
static struct gt_rwrace *gt_rwrace_ptr;

static int gt_rwrace_setup(void)
{
	/* A cache line of its own, as every datum here: the slab class of L1_CACHE_BYTES is aligned to it. */
	gt_rwrace_ptr = kzalloc(L1_CACHE_BYTES, GFP_KERNEL);
	return gt_rwrace_ptr ? 0 : -ENOMEM;
}

static void gt_rwrace_teardown(void)
{
	kfree(gt_rwrace_ptr);
	gt_rwrace_ptr = NULL;
}

static gt_fn void gt_rwrace_reader(u64 round)
{
	struct gt_rwrace *shared = gt_rwrace_ptr;

	gt_use(shared->value);
}

static gt_fn void gt_rwrace_writer(u64 round)
{
	struct gt_rwrace *shared = gt_rwrace_ptr;

	shared->value = (u32)round * 2654435761u;
}

const struct gt_case gt_case_rwrace = {
	.name = "rwrace",
	.group = "basic",
	.side = {{"reader", gt_rwrace_reader, 0}, {"writer", gt_rwrace_writer, 1}},
	.setup = gt_rwrace_setup,
	.teardown = gt_rwrace_teardown,
};

/* Two writers that disagree: the last one wins. */
static struct {
	u64 owner;
} gt_wwrace gt_datum;

static gt_fn void gt_wwrace_first(u64 round)
{
	gt_wwrace.owner = round << 1;
}

static gt_fn void gt_wwrace_second(u64 round)
{
	gt_wwrace.owner = round << 1 | 1;
}

const struct gt_case gt_case_wwrace = {
	.name = "wwrace",
	.group = "basic",
	.side = {{"first", gt_wwrace_first, 0}, {"second", gt_wwrace_second, 1}},
};

/* Replay paper, table 2, redundant writes: both store what is there already. */
static struct {
	u32 seen;
} gt_samevalue gt_datum;

static gt_fn void gt_samevalue_first(u64 round)
{
	gt_samevalue.seen = 1;
}

static gt_fn void gt_samevalue_second(u64 round)
{
	gt_samevalue.seen = 1;
}

const struct gt_case gt_case_samevalue = {
	.name = "samevalue",
	.group = "basic",
	.side = {{"first", gt_samevalue_first, 0}, {"second", gt_samevalue_second, 1}},
};

/* DataCollider 3.3, statistics counters: a lost increment does no harm. */
static struct {
	u64 packets;
} gt_statcount gt_datum;

static gt_fn void gt_statcount_rx(u64 round)
{
	gt_statcount.packets++;
}

static gt_fn void gt_statcount_tx(u64 round)
{
	gt_statcount.packets++;
}

const struct gt_case gt_case_statcount = {
	.name = "statcount",
	.group = "basic",
	.side = {{"rx", gt_statcount_rx, 0}, {"tx", gt_statcount_tx, 1}},
};

/* DataCollider 3.3, safe flag updates: one bit is read, another of the same word is written, by its only writer. */
#define GT_FLAG_ENABLED 1u
#define GT_FLAG_DIRTY 2u

static struct {
	u32 flags;
} gt_flagbits gt_datum = {GT_FLAG_ENABLED};
static atomic_t gt_flagbits_enabled ____cacheline_aligned;

static gt_fn void gt_flagbits_tester(u64 round)
{
	if (gt_flagbits.flags & GT_FLAG_ENABLED)
		atomic_inc(&gt_flagbits_enabled);
}

static gt_fn void gt_flagbits_marker(u64 round)
{
	if (round & 1)
		gt_flagbits.flags |= GT_FLAG_DIRTY;
	else
		gt_flagbits.flags &= ~GT_FLAG_DIRTY;
}

const struct gt_case gt_case_flagbits = {
	.name = "flagbits",
	.group = "basic",
	.side = {{"tester", gt_flagbits_tester, 0}, {"marker", gt_flagbits_marker, 1}},
};

/* DataCollider figure 1: two fields of one integer. */
static struct {
	int status : 4;
	int pktRcvd : 28;
} gt_bitfield gt_datum;

static gt_fn void gt_bitfield_status(u64 round)
{
	gt_bitfield.status = round & 7;
}

static gt_fn void gt_bitfield_received(u64 round)
{
	gt_bitfield.pktRcvd++;
}

const struct gt_case gt_case_bitfield = {
	.name = "bitfield",
	.group = "basic",
	.side = {{"status", gt_bitfield_status, 0}, {"received", gt_bitfield_received, 1}},
};
