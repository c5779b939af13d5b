/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The serving thread: waits for stops and for the ends of holds, delivers them, and resumes the CPUs. */
#include <poll.h>
#include <unistd.h>

#include "hv/target/gdb/internal.h"

#define FOREVER_NS 1000000000u /* longest sleep of the serving thread, in ns; a wake-up without work does no harm */

static int resume(struct gdb_target *gt)
{
	uint32_t go[TARGET_MAX_CPUS];
	unsigned n = 0;

	if (!gt->stopped || atomic_load(&gt->target.over) || atomic_load(&gt->foreign))
		return 0;
	gdb_apply_watches(gt);
	gdb_memory_forget(&gt->memory);
	for (unsigned c = 0; c < gt->target.caps.cpus; c++) {
		if (!gt->holds[c].active)
			go[n++] = gt->threads[c];
	}
	/* If the client holds all CPUs, leave the machine stopped until the first hold ends. */
	if (!n)
		return 0;
	gdb_account(gt);
	gt->stopped = false;
	if (rsp_resume(gt->rsp, go, n == gt->target.caps.cpus ? 0 : n) == 0)
		return 0;
	gdb_over(gt);
	return -1;
}

/*
 * Returns the time in ns until the next work that the stub does not report: a hold ends, or the machine is to be resumed
 * (linger_ns).
 */
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

/* Check whether the running machine has stopped by itself. */
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

/* Do all pending work. Returns the time in ns to wait for more work. */
static uint64_t serve_once(struct gdb_target *gt)
{
	uint64_t wait;

	gdb_lock(gt);
	if (!gt->stopped)
		look_for_stop(gt);
	if (!gt->stopped && gdb_any_hold_is_over(gt))
		gdb_stop(gt);
	if (gt->stopped) {
		bool busy = gt->have_event;

		if (gt->have_event)
			gdb_deliver(gt);
		gdb_end_holds(gt);
		if (busy || gt->linger_ns <= monotonic_ns()) {
			gt->linger_ns = 0;
			resume(gt);
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
