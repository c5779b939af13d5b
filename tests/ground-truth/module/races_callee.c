// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "callees": the racing accesses are made in a function of the kernel, which both sides call. A run that samples this
 * module alone has no site at them. The cases are there only with the parameter `callees`, because such a run would wait for
 * them.
 */
#include <linux/module.h>
#include <linux/radix-tree.h>

#include "gt.h"

static bool callees;
module_param(callees, bool, 0444);
MODULE_PARM_DESC(callees, "whether there are cases whose accesses are made in the kernel's functions");

static bool harness_callees_available(void)
{
	return callees;
}

/*
 * A tree with one entry. The tags of its root are bits of one word, which radix_tree_tag_set() and radix_tree_tag_clear() read,
 * change and write without any lock, because their callers must hold one.
 */
struct gt_tags {
	struct radix_tree_root tree;
	u64 entry;
};

#define GT_TAGS(name)                                          \
	{                                                      \
		.tree = RADIX_TREE_INIT(name.tree, GFP_KERNEL) \
	}

static struct gt_tags gt_tags gt_datum = GT_TAGS(gt_tags);
static struct gt_tags gt_othertags gt_datum = GT_TAGS(gt_othertags);

static int harness_tags_setup(struct gt_tags *tags)
{
	return radix_tree_insert(&tags->tree, 0, &tags->entry);
}

static int gt_tags_setup(void)
{
	return harness_tags_setup(&gt_tags);
}

static void gt_tags_teardown(void)
{
	radix_tree_delete(&gt_tags.tree, 0);
}

/* Each side changes a tag of its own. gt_use() keeps the call from becoming a jump, which would leave no return address. */
static gt_fn void gt_tags_mark(u64 round)
{
	if (round & 1)
		gt_use(radix_tree_tag_set(&gt_tags.tree, 0, 0));
	else
		gt_use(radix_tree_tag_clear(&gt_tags.tree, 0, 0));
}

static gt_fn void gt_tags_sync(u64 round)
{
	if (round & 1)
		gt_use(radix_tree_tag_set(&gt_tags.tree, 0, 1));
	else
		gt_use(radix_tree_tag_clear(&gt_tags.tree, 0, 1));
}

const struct gt_case gt_case_tags = {
	.name = "tags",
	.group = "callees",
	.side = {{"mark", gt_tags_mark, 0}, {"sync", gt_tags_sync, 1}},
	.available = harness_callees_available,
	.setup = gt_tags_setup,
	.teardown = gt_tags_teardown,
};

/* The same by other functions: of a run that samples gt_tags_*, these are other callers of the same functions of the kernel. */
static int gt_othertags_setup(void)
{
	return harness_tags_setup(&gt_othertags);
}

static void gt_othertags_teardown(void)
{
	radix_tree_delete(&gt_othertags.tree, 0);
}

static gt_fn void gt_othertags_mark(u64 round)
{
	if (round & 1)
		gt_use(radix_tree_tag_set(&gt_othertags.tree, 0, 0));
	else
		gt_use(radix_tree_tag_clear(&gt_othertags.tree, 0, 0));
}

static gt_fn void gt_othertags_sync(u64 round)
{
	if (round & 1)
		gt_use(radix_tree_tag_set(&gt_othertags.tree, 0, 1));
	else
		gt_use(radix_tree_tag_clear(&gt_othertags.tree, 0, 1));
}

const struct gt_case gt_case_othertags = {
	.name = "othertags",
	.group = "callees",
	.side = {{"mark", gt_othertags_mark, 0}, {"sync", gt_othertags_sync, 1}},
	.available = harness_callees_available,
	.setup = gt_othertags_setup,
	.teardown = gt_othertags_teardown,
};
