/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gdbstub target (gdb.h): connects to the stub, finds out what it can do, and detaches from it. */
#include "hv/target/gdb/gdb.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "hv/target/gdb/internal.h"

/*
 * An emulating QEMU (TCG) single-steps every instruction on a page with a breakpoint. Measured on a busy kernel with
 * breakpoints at random places of its text: with 16 breakpoints the kernel has four fifths of its speed, with 64 less than
 * half, and with 256 a thirtieth. So the number of pages with breakpoints is limited. A second breakpoint on a page costs
 * little.
 */
#define EMULATED_PAGES 8u
/*
 * The number of breakpoints is limited, too, because TCG compares most blocks of code with all breakpoints each time it enters
 * them.
 */
#define EMULATED_POINTS 128u
/*
 * Limit of the number of lock hooks: the room that the journal has besides EMULATED_POINTS other breakpoints. Lock hooks lie
 * close together, in one module, so most of them add no page.
 */
#define LASTING_POINTS (GDB_POINTS_MAX - EMULATED_POINTS)
/* Time in ns for the stub to remove all points at the end. If they remain, the guard removes them (session/guard.h). */
#define END_NS 10000000000u
#define HARDWARE_POINTS 2u /* Debug registers for breakpoints. The other two of a CPU's four are for watchpoints. */

/* ---- the machine ---- */

/* Nothing to do: the stub makes its CPUs execute the current bytes. */
static void gdb_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	(void)t;
	(void)gpa;
	(void)byte;
}

/*
 * Set the share of time for which the machine may stand still. There is nothing to turn on or off, because the stub always
 * intercepts breakpoints. Until the guest's kernel is found, `on` is false: the client only reads memory, and the machine may
 * stand still for half of the time.
 */
static int gdb_intercept(struct target *t, bool on, struct err *err)
{
	struct gdb_target *gt = gdb_target(t);

	(void)err;
	gdb_lock(gt);
	gdb_account(gt);
	gt->budget.share = on ? gt->overhead : 0.5;
	gt->searching &= !on;
	gdb_unlock(gt);
	return 0;
}

/* ---- CPUs ---- */

static void gdb_release(struct target *t, unsigned cpu)
{
	struct gdb_target *gt = gdb_target(t);

	atomic_store(&gt->holds[cpu].released, true);
	gdb_wake(gt);
}

static int gdb_peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	struct gdb_target *gt = gdb_target(t);
	int ret;

	gdb_enter(t);
	ret = gdb_stop(gt) ? -1 : rsp_regs(gt->rsp, gt->threads[cpu], regs);
	gdb_leave(t);
	return ret;
}

/* Nothing to do: the stub handles the guest's own debug registers. */
static void gdb_debug_regs_changed(struct target *t, unsigned cpu)
{
	(void)t;
	(void)cpu;
}

static bool gdb_idle(struct target *t, unsigned cpu)
{
	struct gdb_target *gt = gdb_target(t);
	bool idle;

	gdb_enter(t);
	idle = gdb_stop(gt) == 0 && rsp_halted(gt->rsp, gt->threads[cpu]);
	gdb_leave(t);
	return idle;
}

static void gdb_stats(struct target *t, struct target_stats *out)
{
	struct gdb_target *gt = gdb_target(t);

	gdb_lock(gt);
	gdb_account(gt);
	*out = (struct target_stats){
		.exits = gt->stops,
		.debug_exits = gt->events,
		.stale_exits = gt->stale,
		.kicks = gt->kicks,
		.ioctls = rsp_requests(gt->rsp),
		.lost_ns = gt->lost_ns,
		.still_ns = gt->paused_ns,
	};
	gdb_unlock(gt);
}

static void gdb_ask_to_end(struct target *t)
{
	struct gdb_target *gt = gdb_target(t);

	limit_within(gt->limit, END_NS);
	pthread_mutex_lock(&gt->end_lock);
	atomic_store(&gt->ending, true);
	pthread_cond_broadcast(&gt->ended);
	pthread_mutex_unlock(&gt->end_lock);
	gdb_wake(gt);
}

static const struct target_ops gdb_ops = {
	.enter = gdb_enter,
	.leave = gdb_leave,
	.stand_still = gdb_stand_still,
	.go_on = gdb_leave,
	.read_phys = gdb_read_phys,
	.write_phys = gdb_write_phys,
	.plant = gdb_plant,
	.unplant = gdb_unplant,
	.refetch = gdb_refetch,
	.intercept = gdb_intercept,
	.watch_set = gdb_watch_set,
	.watch_clear = gdb_watch_clear,
	.watch_sync = gdb_watch_sync,
	.barrier = gdb_barrier,
	.release = gdb_release,
	.peek_regs = gdb_peek_regs,
	.debug_regs_changed = gdb_debug_regs_changed,
	.idle = gdb_idle,
	.stats = gdb_stats,
	.stop = gdb_ask_to_end,
};

/* ---- life cycle ---- */

static bool on_kvm(struct gdb_target *gt)
{
	char answer[128];

	return rsp_monitor(gt->rsp, "info kvm", answer, sizeof(answer)) == 0 && strstr(answer, "enabled");
}

/* Returns 0, or -1 with `err` set if the connection to the stub has failed. */
static int check_stub(struct gdb_target *gt, struct err *err)
{
	bool exited;
	const char *dead = rsp_dead(gt->rsp, &exited);

	return dead ? err_set(err, EXIT_INPUT, "%s", dead) : 0;
}

static int look_around(struct gdb_target *gt, const struct gdb_config *config, struct err *err)
{
	bool kvm, physical;
	int cpus;

	rsp_allow(gt->rsp, RSP_OPEN_NS);
	cpus = rsp_threads(gt->rsp, gt->threads, TARGET_MAX_CPUS);
	if (check_stub(gt, err))
		return -1;
	if (cpus <= 0)
		return err_set(err, EXIT_INPUT, "the gdbstub names no CPUs, or more than %u", TARGET_MAX_CPUS);
	physical = rsp_physical(gt->rsp, true) == 0;
	if (check_stub(gt, err))
		return -1;
	if (!physical)
		return err_set(err, EXIT_INPUT, "the gdbstub cannot show physical memory: it must be QEMU's, 4.1 or newer");
	gdb_memory_init(&gt->memory, gt->rsp, config->pid);
	kvm = on_kvm(gt);
	gt->hardware = kvm && config->kvm_needs_hardware && config->kvm_needs_hardware();
	gt->target.caps = (struct target_caps){
		.costly_stops = true,
		.late_watch = true,
		.cpus = (unsigned)cpus,
		.watches = gt->hardware ? TARGET_MAX_WATCHES - HARDWARE_POINTS : TARGET_MAX_WATCHES,
		.points = gt->hardware ? HARDWARE_POINTS
			  : kvm	       ? GDB_POINTS_MAX
				       : EMULATED_POINTS,
		.pages = kvm ? 0 : EMULATED_PAGES,
		.lasting = kvm ? 0 : LASTING_POINTS,
	};
	/*
	 * Remove the breakpoints in the journal. QEMU has removed an earlier client's breakpoints by now, but another stub may
	 * not have.
	 */
	gdb_remove_points(gt);
	rsp_allow(gt->rsp, 0);
	return check_stub(gt, err);
}

static struct gdb_target *make(const struct gdb_config *config, bool *standing, struct err *err)
{
	struct gdb_target *gt = calloc(1, sizeof(*gt));

	if (!gt) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		close(config->fd);
		return NULL;
	}
	gt->target.ops = &gdb_ops;
	gt->overhead = config->overhead;
	gt->planted = config->planted ? config->planted : &gt->own_planted;
	gt->budget = (struct allowance){.share = 0.5, .most_ns = GDB_BURST_NS, .last_ns = monotonic_ns()};
	gt->stopped = true;
	gt->searching = true;
	limit_init(&gt->own_limit);
	gt->limit = config->limit ? config->limit : &gt->own_limit;
	pthread_mutex_init(&gt->lock, NULL);
	pthread_mutex_init(&gt->end_lock, NULL);
	pthread_cond_init(&gt->ended, NULL);
	gt->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	gt->rsp = rsp_open(config->fd, config->running, gt->limit, standing, err);
	return gt;
}

struct target *gdb_target_new(const struct gdb_config *config, bool *standing, struct err *err)
{
	struct gdb_target *gt = make(config, standing, err);

	if (!gt)
		return NULL;
	if (gt->wake_fd < 0)
		err_set(err, EXIT_INTERNAL, "eventfd: %s", strerror(errno));
	gt->was_running = gt->rsp && rsp_was_running(gt->rsp);
	if (gt->rsp && gt->wake_fd >= 0 && look_around(gt, config, err) == 0)
		return &gt->target;
	gdb_target_detach(&gt->target, NULL);
	if (gt->rsp && standing)
		*standing = rsp_left_standing(gt->rsp);
	gdb_target_free(&gt->target);
	return NULL;
}

bool gdb_target_was_running(struct target *t)
{
	return gdb_target(t)->was_running;
}

/* Start the serving thread with all signals blocked, so that the caller's threads handle them. */
int gdb_target_start(struct target *t, struct err *err)
{
	struct gdb_target *gt = gdb_target(t);
	sigset_t all, old;
	int rc;

	/*
	 * Take the lock, because the client's threads may already use the budget, the share of time for which the machine may
	 * stand still.
	 */
	gdb_lock(gt);
	gt->started_ns = gt->budget.last_ns = monotonic_ns();
	gt->paused_ns = 0;
	gdb_unlock(gt);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&gt->server, NULL, gdb_serve, gt);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return err_set(err, EXIT_INTERNAL, "cannot start the thread that serves the gdbstub: %s", strerror(rc));
	gt->serving = true;
	return 0;
}

static bool has_ended(const struct gdb_target *gt)
{
	return atomic_load(&gt->ending) || atomic_load(&gt->foreign) || atomic_load(&gt->target.over);
}

int gdb_target_wait(struct target *t, uint64_t timeout_ns, enum gdb_end *end, struct err *err)
{
	struct gdb_target *gt = gdb_target(t);
	struct timespec until;
	const char *why;
	bool exited, ended;

	clock_gettime(CLOCK_REALTIME, &until);
	timeout_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(timeout_ns / 1000000000u);
	until.tv_nsec = (long)(timeout_ns % 1000000000u);
	pthread_mutex_lock(&gt->end_lock);
	while (!has_ended(gt) && pthread_cond_timedwait(&gt->ended, &gt->end_lock, &until) == 0)
		;
	ended = has_ended(gt);
	pthread_mutex_unlock(&gt->end_lock);
	if (!ended)
		return 1;
	*end = atomic_load(&gt->foreign) ? GDB_END_PAUSED : GDB_END_STOPPED;
	if (!atomic_load(&t->over))
		return 0;
	*end = GDB_END_GONE;
	gdb_lock(gt);
	why = rsp_dead(gt->rsp, &exited);
	gdb_unlock(gt);
	return exited || !why ? 0 : err_set(err, EXIT_INPUT, "%s", why);
}

static void end_serving(struct gdb_target *gt)
{
	if (!gt->serving)
		return;
	atomic_store(&gt->finish, true);
	gdb_wake(gt);
	pthread_join(gt->server, NULL);
	gt->serving = false;
}

/*
 * Remove the remaining breakpoints and watches one by one. rsp_detach() would remove them, too, but would also resume the
 * machine.
 */
static void remove_all(struct gdb_target *gt)
{
	for (unsigned i = 0; i < TARGET_MAX_WATCHES; i++)
		gt->slots[i].used = false;
	gdb_apply_watches(gt);
	gdb_remove_points(gt);
}

int gdb_target_detach(struct target *t, struct err *err)
{
	struct gdb_target *gt = gdb_target(t);
	const char *dead;
	bool exited;

	end_serving(gt);
	if (gt->detached || !gt->rsp)
		return 0;
	gt->detached = true;
	gdb_lock(gt);
	gdb_account(gt);
	if (gdb_stop(gt) == 0) {
		remove_all(gt);
		if (gt->was_running && !atomic_load(&gt->foreign))
			rsp_detach(gt->rsp);
		else
			rsp_physical(gt->rsp, false);
	}
	dead = rsp_dead(gt->rsp, &exited);
	gdb_unlock(gt);
	return dead && !exited ? err_set(err, EXIT_INPUT, "%s", dead) : 0;
}

void gdb_target_free(struct target *t)
{
	struct gdb_target *gt = gdb_target(t);

	if (!t)
		return;
	gdb_target_detach(t, NULL);
	if (gt->memory.rsp)
		gdb_memory_fini(&gt->memory);
	rsp_close(gt->rsp);
	if (gt->wake_fd >= 0)
		close(gt->wake_fd);
	pthread_cond_destroy(&gt->ended);
	pthread_mutex_destroy(&gt->end_lock);
	pthread_mutex_destroy(&gt->lock);
	free(gt);
}

void gdb_target_figures(struct target *t, struct gdb_figures *out)
{
	struct gdb_target *gt = gdb_target(t);

	gdb_lock(gt);
	gdb_account(gt);
	*out = (struct gdb_figures){
		.elapsed_ns = gt->started_ns ? monotonic_ns() - gt->started_ns : 0,
		.paused_ns = gt->paused_ns,
		.stops = gt->stops,
		.requests = rsp_requests(gt->rsp),
		.indirect = gt->memory.direct ? NULL : gt->memory.why_not,
		.hardware = gt->hardware,
	};
	gdb_unlock(gt);
}
