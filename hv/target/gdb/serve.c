/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that serves the machine: waits for stops and for the ends of holds, calls the client, resumes. */
#include <poll.h>
#include <unistd.h>

#include "hv/target/gdb/internal.h"

#define FOREVER_NS 1000000000u /* a look around once in a while does no harm */

static int cpu_of(const struct gdb_target *gt, uint32_t thread)
{
	for (unsigned c = 0; c < gt->target.caps.cpus; c++) {
		if (gt->threads[c] == thread)
			return (int)c;
	}
	return -1;
}

/* ---- the machine stands still, the lock is ours ---- */

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

static bool at_point(const struct gdb_target *gt, uint64_t rip)
{
	for (unsigned i = 0; i < gt->planted->count; i++) {
		if (gt->planted->gva[i] == rip)
			return true;
	}
	return false;
}

/*
 * Of two CPUs that stop at once QEMU tells of one, and of none when a request of ours to stop comes first. A CPU at a
 * breakpoint stops there again when it goes on. One that has tripped a watchpoint does not; QEMU remembers it, and gives it as
 * the reason of that CPU's next stop for a trap, whatever that is for. So at a breakpoint it is not believed.
 */
static void deliver(struct gdb_target *gt)
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
 * Somebody has written to watched memory and nobody was told to have. A CPU that tripped its watchpoint unheard stands right
 * behind the access still; one step, a stop for a trap, makes QEMU say so. What it says is of before that step.
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

void gdb_barrier(struct target *t, unsigned self)
{
	struct gdb_target *gt = gdb_target(t);

	for (unsigned c = 0; c < t->caps.cpus && !atomic_load(&t->over); c++) {
		if (c != self && !gt->holds[c].active)
			ask_cpu(gt, c);
	}
}

static bool hold_is_over(const struct gdb_hold *hold, uint64_t now)
{
	return hold->active && (atomic_load(&hold->released) || now >= hold->deadline_ns);
}

static bool any_hold_is_over(const struct gdb_target *gt)
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

static void end_holds(struct gdb_target *gt)
{
	for (unsigned c = 0; c < gt->target.caps.cpus; c++) {
		if (hold_is_over(&gt->holds[c], monotonic_ns()))
			end_hold(gt, c);
	}
}

/* ---- the loop ---- */

/* How long nothing need be done but wait for the stub. */
static uint64_t until_next(const struct gdb_target *gt)
{
	uint64_t now = monotonic_ns(), next = now + FOREVER_NS;

	if (gt->stopped && gt->linger_ns)
		return gt->linger_ns > now ? gt->linger_ns - now : 0;
	for (unsigned c = 0; c < gt->target.caps.cpus && !atomic_load(&gt->foreign); c++) {
		if (gt->holds[c].active && gt->holds[c].deadline_ns < next)
			next = gt->holds[c].deadline_ns;
	}
	return next > now ? next - now : 0;
}

/* A stop that came by itself. */
static void look_for_stop(struct gdb_target *gt)
{
	struct rsp_stop stop;
	int got = rsp_wait(gt->rsp, 0, &stop);

	if (got < 0)
		gdb_over(gt);
	if (got <= 0)
		return;
	gdb_account(gt);
	gt->stopped = true;
	gt->stopped_ns = monotonic_ns();
	gt->stops++;
	gt->have_event = stop.kind != RSP_STOP_OTHER;
	gt->event = stop;
	gt->linger_ns = 0;
	if (stop.kind == RSP_STOP_OTHER)
		gdb_paused(gt);
}

/* Everything that is to be done now. Returns how long to wait afterwards. */
static uint64_t serve_once(struct gdb_target *gt)
{
	uint64_t wait;

	gdb_lock(gt);
	if (!gt->stopped)
		look_for_stop(gt);
	if (!gt->stopped && any_hold_is_over(gt))
		gdb_stop(gt);
	if (gt->stopped) {
		bool busy = gt->have_event;

		if (gt->have_event)
			deliver(gt);
		end_holds(gt);
		if (busy || gt->linger_ns <= monotonic_ns()) {
			gt->linger_ns = 0;
			gdb_resume(gt);
		}
	}
	wait = until_next(gt);
	gdb_unlock(gt);
	return wait;
}

static void drain(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

void *gdb_serve(void *target)
{
	struct gdb_target *gt = target;

	while (!atomic_load(&gt->finish) && !atomic_load(&gt->target.over)) {
		uint64_t wait = serve_once(gt);
		const struct timespec timeout = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};
		struct pollfd fds[] = {{.fd = rsp_fd(gt->rsp), .events = POLLIN}, {.fd = gt->wake_fd, .events = POLLIN}};

		if (ppoll(fds, 2, &timeout, NULL) > 0 && fds[1].revents)
			drain(gt->wake_fd);
	}
	return NULL;
}
