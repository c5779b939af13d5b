/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets and removes watchpoints. The stub sets a watchpoint on all CPUs at once, and only while the machine stands still. So a
 * new watch is sent to the stub at target_watch_sync(), and a retired watch is removed before the machine continues.
 */
#include "hv/target/gdb/internal.h"

static enum rsp_point type(const struct target_watch *watch)
{
	return watch->read ? RSP_WATCH_ACCESS : RSP_WATCH_WRITE;
}

void gdb_watch_set(struct target *t, unsigned slot, const struct target_watch *watch)
{
	struct gdb_target *gt = gdb_target(t);

	gdb_lock(gt);
	gt->slots[slot].watch = *watch;
	gt->slots[slot].used = true;
	gdb_unlock(gt);
}

void gdb_watch_clear(struct target *t, unsigned slot)
{
	struct gdb_target *gt = gdb_target(t);

	gdb_lock(gt);
	gt->slots[slot].used = false;
	gdb_unlock(gt);
}

static bool up_to_date(const struct gdb_slot *slot)
{
	const struct target_watch *want = &slot->watch, *there = &slot->there;

	if (!slot->used || !slot->installed)
		return slot->used == slot->installed;
	return want->gva == there->gva && want->len == there->len && want->read == there->read;
}

void gdb_apply_watches(struct gdb_target *gt)
{
	/* Remove retired watchpoints before inserting new ones, because QEMU on KVM has only four watchpoints. */
	for (unsigned i = 0; i < TARGET_MAX_WATCHES; i++) {
		struct gdb_slot *slot = &gt->slots[i];

		if (slot->installed && !up_to_date(slot)) {
			rsp_remove(gt->rsp, type(&slot->there), slot->there.gva, slot->there.len);
			slot->installed = false;
		}
	}
	for (unsigned i = 0; i < TARGET_MAX_WATCHES; i++) {
		struct gdb_slot *slot = &gt->slots[i];

		if (slot->used && !slot->installed)
			slot->installed = rsp_insert(gt->rsp, type(&slot->watch), slot->watch.gva, slot->watch.len) == 0;
		if (slot->used)
			slot->there = slot->watch; /* Also if its watchpoint stays installed: the cookie may be new. */
	}
}

void gdb_watch_sync(struct target *t, unsigned self)
{
	struct gdb_target *gt = gdb_target(t);

	(void)self; /* `self` is stopped, as all CPUs are. */
	gdb_enter(t);
	if (gdb_stop(gt) == 0)
		gdb_apply_watches(gt);
	gdb_leave(t);
}

unsigned gdb_watch_cookies(const struct gdb_target *gt, uint64_t addr, uint32_t cookies[TARGET_MAX_WATCHES])
{
	unsigned n = 0;

	for (unsigned i = 0; i < TARGET_MAX_WATCHES; i++) {
		const struct gdb_slot *slot = &gt->slots[i];

		if (slot->installed && addr - slot->there.gva < slot->there.len)
			cookies[n++] = slot->there.cookie;
	}
	return n;
}
