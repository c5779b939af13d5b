// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "memory": accesses that a watchpoint does not catch by being set on one address. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gt.h"

/* One page, two virtual addresses: a watchpoint on one misses a store to the other address; only repeated reads show it. */
struct gt_alias {
	u64 value;
};
static struct page *gt_alias_page;
static struct gt_alias *gt_alias_direct, *gt_alias_mapped;

static int gt_alias_setup(void)
{
	gt_alias_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!gt_alias_page)
		return -ENOMEM;
	gt_alias_direct = page_address(gt_alias_page);
	gt_alias_mapped = vmap(&gt_alias_page, 1, VM_MAP, PAGE_KERNEL);
	if (gt_alias_mapped)
		return 0;
	__free_page(gt_alias_page);
	return -ENOMEM;
}

static void gt_alias_teardown(void)
{
	vunmap(gt_alias_mapped);
	__free_page(gt_alias_page);
}

static gt_fn void gt_alias_reader(u64 round)
{
	struct gt_alias *direct = gt_alias_direct;

	gt_use(direct->value);
}

static gt_fn void gt_alias_writer(u64 round)
{
	struct gt_alias *mapped = gt_alias_mapped;

	mapped->value = round;
}

const struct gt_case gt_case_alias = {
	.name = "alias",
	.group = "memory",
	.side = {{"reader", gt_alias_reader, 0}, {"writer", gt_alias_writer, 1}},
	.setup = gt_alias_setup,
	.teardown = gt_alias_teardown,
};

/* Eight bytes across a cache line's end, against a store to their second half: only two watchpoints cover all eight bytes. */
static struct {
	u8 pad[L1_CACHE_BYTES - 4];
	u64 both;
} __packed gt_straddle gt_datum;

static gt_fn void gt_straddle_reader(u64 round)
{
	gt_use(gt_straddle.both);
}

static gt_fn void gt_straddle_writer(u64 round)
{
	*((u32 *)&gt_straddle.both + 1) = round;
}

const struct gt_case gt_case_straddle = {
	.name = "straddle",
	.group = "memory",
	.side = {{"reader", gt_straddle_reader, 0}, {"writer", gt_straddle_writer, 1}},
};

/* One string instruction reads sixteen bytes, four of which are being written. */
static struct {
	u32 word[4];
} gt_repmovs gt_datum;
static u8 gt_repmovs_private[sizeof(gt_repmovs)] gt_datum; /* only the copier's thread uses it */

static gt_fn void gt_repmovs_copier(u64 round)
{
	void *to = gt_repmovs_private;
	const void *from = &gt_repmovs;
	unsigned long len = sizeof(gt_repmovs);

	/* memcpy(), but here: a call would put the access into the kernel's copy. */
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
}

static gt_fn void gt_repmovs_writer(u64 round)
{
	gt_repmovs.word[2] = round;
}

const struct gt_case gt_case_repmovs = {
	.name = "repmovs",
	.group = "memory",
	.side = {{"copier", gt_repmovs_copier, 0}, {"writer", gt_repmovs_writer, 1}},
};
