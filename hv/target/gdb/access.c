/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements the target's operations on guest-physical memory and breakpoints. */
#include "hv/target/gdb/internal.h"

int gdb_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	struct gdb_target *gt = gdb_target(t);
	int ret = gdb_memory_direct(&gt->memory, gpa, buf, len);

	if (ret <= 0)
		return ret;
	gdb_enter(t);
	/*
	 * The search for the kernel reads guest memory for long. After target_stop(), fail its reads, so that the search ends
	 * at once. No breakpoint is planted before the search has ended.
	 */
	ret = (gt->searching && atomic_load(&t->ending)) || gdb_stop(gt) ? -1 : gdb_memory_read(&gt->memory, gpa, buf, len);
	gdb_leave(t);
	return ret;
}

int gdb_write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len)
{
	struct gdb_target *gt = gdb_target(t);
	int ret;

	gdb_enter(t);
	ret = gdb_stop(gt) ? -1 : gdb_memory_write(&gt->memory, gpa, buf, len);
	gdb_leave(t);
	return ret;
}

static enum rsp_point point_type(const struct gdb_target *gt)
{
	return gt->hardware ? RSP_HARDWARE : RSP_SOFTWARE;
}

int gdb_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	struct gdb_target *gt = gdb_target(t);
	uint8_t byte;
	int ret = -1;

	gdb_enter(t);
	/*
	 * Flush first: the connection (gt->rsp) may still hold back the request that removes a breakpoint at this address, and
	 * a read that bypasses the stub would then find that breakpoint's INT3.
	 */
	if (gt->planted->count < gt->target.caps.points + gt->target.caps.lasting && gdb_stop(gt) == 0 &&
	    rsp_flush(gt->rsp) == 0 && gdb_memory_read(&gt->memory, gpa, &byte, 1) == 0)
		ret = byte != first ? 1 : rsp_insert(gt->rsp, point_type(gt), gva, 1);
	if (ret == 0)
		gt->planted->gva[gt->planted->count++] = gva;
	gdb_leave(t);
	return ret;
}

/*
 * Make the stub remove the breakpoint. `intact` says whether the rest of the instruction is unchanged. It is not used, because
 * the stub itself decides whether to write to changed text.
 */
void gdb_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	struct gdb_target *gt = gdb_target(t);

	(void)gpa;
	(void)first;
	(void)intact;
	gdb_enter(t);
	if (gdb_stop(gt) == 0)
		rsp_remove(gt->rsp, point_type(gt), gva, 1);
	for (unsigned i = 0; i < gt->planted->count; i++) {
		if (gt->planted->gva[i] == gva)
			gt->planted->gva[i] = gt->planted->gva[--gt->planted->count];
	}
	gdb_leave(t);
}

void gdb_remove_points(struct gdb_target *gt)
{
	for (; gt->planted->count; gt->planted->count--)
		rsp_remove(gt->rsp, point_type(gt), gt->planted->gva[gt->planted->count - 1], 1);
}
