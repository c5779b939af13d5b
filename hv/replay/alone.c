// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs one order of a rendezvous once, in a process of its own and without a comparison. */
#include "hv/replay/alone.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "hv/base/clean.h"
#include "hv/replay/orders.h"
#include "hv/replay/process.h"
#include "hv/sandbox/sandbox.h"

/* The result in memory shared with the parent. The parent does not trust it, because a guest ran in the process. */
struct left {
	struct run_result result;
	struct alone alone;
};

struct task {
	const struct run_plan *plan;
	unsigned first;
	struct left *left;
};

/*
 * Copy the result of a run to `out`: how the machine and the regions ended, and the texts. To be called in the process of the
 * run: the result has pointers to texts, which only that process may use.
 */
static void sum_up(const struct run_result *r, struct alone *out)
{
	const char *why = "";

	out->order.machine = r->machine;
	for (unsigned side = 0; side < 2; side++)
		out->order.regions[side] = (struct replay_region){.end = r->run.order.regions[side].end,
								  .instructions = r->run.order.regions[side].instructions};
	memcpy(out->order.trouble, r->trouble, REPLAY_TEXT_MAX);
	out->failure = compare_failure(&r->run, &why);
	if (out->failure != REPLAY_NO_FAILURE)
		snprintf(out->why, sizeof(out->why), "%s", why);
}

static int run_alone(void *ctx, struct err *err)
{
	const struct task *t = ctx;
	struct run_result *r = &t->left->result;

	/* Confine the process, unless plan->look is set: plan->look() may write files. */
	if (!t->plan->look)
		sandbox_thread(SANDBOX_COPY);
	run_order(t->plan, t->first, true, r);
	if (r->err.code != EXIT_OK)
		return err_set(err, r->err.code, "%s", r->err.text);
	sum_up(r, &t->left->alone);
	return 0;
}

static void take_alone(const struct left *left, struct alone *out)
{
	*out = left->alone;
	clean_field(out->why, sizeof(out->why));
	clean_field(out->order.trouble, sizeof(out->order.trouble));
	if ((unsigned)out->order.machine >= REPLAY_MACHINES)
		out->order.machine = REPLAY_MACHINE_NOT_RUN;
	if ((unsigned)out->failure >= REPLAY_FAILURES)
		out->failure = REPLAY_CANNOT_LOAD;
	for (unsigned side = 0; side < 2; side++)
		if ((unsigned)out->order.regions[side].end >= REPLAY_ENDS)
			out->order.regions[side].end = REPLAY_END_NOT_RUN;
}

int alone_run(const struct run_plan *plan, unsigned first, struct alone *out, struct err *err)
{
	struct task task = {.plan = plan, .first = first};
	int rc;

	task.left = mmap(NULL, sizeof(*task.left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (task.left == MAP_FAILED)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	/* Set no time limit if plan->look is set: plan->look() may write a core, which takes as long as the disk needs. */
	rc = process_run(run_alone, &task, plan->look ? 0 : orders_run_seconds(plan->config), err);
	if (rc == 0)
		take_alone(task.left, out);
	munmap(task.left, sizeof(*task.left));
	return rc;
}

static int look_before(void *ctx, struct err *err)
{
	return run_before(ctx, err);
}

int alone_before(const struct run_plan *plan, struct err *err)
{
	return process_run(look_before, (void *)plan, 0, err);
}
