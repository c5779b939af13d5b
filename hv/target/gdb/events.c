/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delivers stops of CPUs and ends of holds to the client of the target, which is the detector. Runs on the serving thread. */
#include "hv/target/gdb/internal.h"

/* Returns the CPU with this thread ID, or -1. */
static int cpu_of(const struct gdb_target *gt, uint32_t thread)
{
	for (unsigned c = 0; c < gt->target.caps.cpus; c++) {
		if (gt->threads[c] == thread)
			return (int)c;
	}
	return -1;
}

/* Carry out the client's action. `before` and `after` are the CPU's registers before and after the callback. */
static void act(struct gdb_target *gt, unsigned cpu, struct target_action action, const struct x86_regs *before,
		const struct x86_regs *after)
{
	struct gdb_hold *hold = &gt->holds[cpu];

	if (action.kind == TARGET_RESUME_REGS)
		rsp_set_regs(gt->rsp, gt->threads[cpu], before, after);
	hold->active = action.kind == TARGET_HOLD;
	hold->deadline_ns = monotonic_ns() + action.hold_ns;
	gt->stale += action.kind == TARGET_NOT_MINE;
}

/* Returns true if a breakpoint is planted at `rip`. */
static bool at_point(const struct gdb_target *gt, uint64_t rip)
{
	for (unsigned i = 0; i < gt->planted->count; i++) {
		if (gt->planted->gva[i] == rip)
			return true;
	}
	return false;
}

/*
 * Deliver the stop in `event`. If the CPU is at a breakpoint, deliver a hit of the breakpoint, even if QEMU reports a
 * watchpoint: the report may be of an earlier access, because of two quirks of QEMU's gdbstub. First, when two CPUs stop at the
 * same time, QEMU reports only one of the stops, and none if rsp_interrupt() came first. A CPU with an unreported stop at a
 * breakpoint stops there again when it continues. A CPU with an unreported stop at a watchpoint does not stop for it again.
 * Second, QEMU reports the missed watchpoint as the reason of this CPU's next stop for a trap, whatever caused that next stop.
 */
void gdb_deliver(struct gdb_target *gt)
{
	const struct target_client *client = gt->target.client;
	const struct rsp_stop stop = gt->event;
	int cpu = cpu_of(gt, stop.thread);
	uint32_t cookies[TARGET_MAX_WATCHES];
	struct target_action action;
	struct x86_regs before, regs;
	unsigned n;

	gt->have_event = false;
	if (cpu < 0 || !client || gt->holds[cpu].active || rsp_regs(gt->rsp, gt->threads[cpu], &regs))
		return;
	gt->events++;
	before = regs;
	n = stop.kind == RSP_STOP_WATCH && !at_point(gt, regs.rip) ? gdb_watch_cookies(gt, stop.addr, cookies) : 0;
	if (n)
		action = client->on_watch(client->ctx, (unsigned)cpu, &regs, cookies, n);
	else
		action = client->on_breakpoint(client->ctx, (unsigned)cpu, &regs);
	act(gt, (unsigned)cpu, action, &before, &regs);
}

/*
 * Step the CPU once, and deliver the watchpoint that QEMU then reports. Used when watched memory has changed and no CPU has
 * reported a watchpoint. A CPU with an unreported watchpoint is still at the instruction after its access, and QEMU reports the
 * watchpoint at the CPU's next stop for a trap, such as the end of a single step. So the reported access happened before the
 * step.
 */
static void ask_cpu(struct gdb_target *gt, unsigned cpu)
{
	const struct target_client *client = gt->target.client;
	uint32_t cookies[TARGET_MAX_WATCHES];
	struct x86_regs regs;
	struct rsp_stop stop;
	unsigned n;

	if (rsp_regs(gt->rsp, gt->threads[cpu], &regs) || x86_user_mode(&regs) || rsp_halted(gt->rsp, gt->threads[cpu]))
		return;
	if (rsp_step(gt->rsp, gt->threads[cpu]) || rsp_wait(gt->rsp, RSP_PATIENCE_NS, &stop) <= 0) {
		gdb_over(gt);
		return;
	}
	n = stop.kind == RSP_STOP_WATCH && stop.thread == gt->threads[cpu] ? gdb_watch_cookies(gt, stop.addr, cookies) : 0;
	if (n)
		client->on_watch(client->ctx, cpu, &regs, cookies, n);
}

bool gdb_barrier(struct target *t, unsigned self)
{
	struct gdb_target *gt = gdb_target(t);

	for (unsigned c = 0; c < t->caps.cpus && !atomic_load(&t->over); c++) {
		if (c != self && !gt->holds[c].active)
			ask_cpu(gt, c);
	}
	return !atomic_load(&t->over);
}

static bool hold_is_over(const struct gdb_hold *hold, uint64_t now)
{
	return hold->active && (atomic_load(&hold->released) || now >= hold->deadline_ns);
}

bool gdb_any_hold_is_over(const struct gdb_target *gt)
{
	uint64_t now = monotonic_ns();

	for (unsigned c = 0; c < gt->target.caps.cpus; c++) {
		if (hold_is_over(&gt->holds[c], now))
			return true;
	}
	return false;
}

static void end_hold(struct gdb_target *gt, unsigned cpu)
{
	const struct target_client *client = gt->target.client;
	struct x86_regs before, regs;
	struct target_action action;

	atomic_store(&gt->holds[cpu].released, false);
	if (rsp_regs(gt->rsp, gt->threads[cpu], &regs))
		return;
	before = regs;
	action = client->on_hold_end(client->ctx, cpu, &regs);
	act(gt, cpu, action, &before, &regs);
}

void gdb_end_holds(struct gdb_target *gt)
{
	for (unsigned c = 0; c < gt->target.caps.cpus; c++) {
		if (hold_is_over(&gt->holds[c], monotonic_ns()))
			end_hold(gt, c);
	}
}
