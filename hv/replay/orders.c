// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs both orders of a rendezvous, each twice, and compares the results. */
#include "hv/replay/orders.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "hv/replay/free_clock.h"
#include "hv/replay/process.h"

/* The time limit of a run without its free run, in seconds. The slowest emulated host needs far less. */
#define RUN_SECONDS 300
/* Higher than the level of any kernel message; KERN_DEBUG is 7. */
#define LOGLEVEL 15

time_t orders_run_seconds(const struct replay_config *config)
{
	uint64_t freely = config->free_ns / 1000000000u;

	/*
	 * A free run takes up to FREE_CLOCK_STRETCH times its length. Before it, the search for a hang runs each CPU alone for
	 * this length (stuck.h).
	 */
	return RUN_SECONDS + (time_t)((FREE_CLOCK_STRETCH + VMM_MAX_CPUS) * freely);
}

void orders_prepare_ram(const struct ram *ram, const struct rendezvous *m, const struct replay_config *config)
{
	const int level = LOGLEVEL;
	uint8_t *at;

	for (size_t i = 0; i < m->point_count; i++) {
		at = ram_at(ram, m->points[i].gpa, 1);
		if (at && *at == X86_INT3)
			*at = m->points[i].byte;
	}
	at = config->loglevel_gpa ? ram_at(ram, config->loglevel_gpa, sizeof(level)) : NULL;
	if (at)
		memcpy(at, &level, sizeof(level));
}

struct one_run {
	const struct run_plan *plan;
	unsigned first;
	bool go_on;
	struct run_result *out;
};

static int run_one(void *ctx, struct err *err)
{
	const struct one_run *one = ctx;

	(void)err; /* the error is in the result */
	run_order(one->plan, one->first, one->go_on, one->out);
	return 0;
}

void orders_run_one(const struct run_plan *plan, unsigned first, bool go_on, struct run_result *out)
{
	struct one_run one = {.plan = plan, .first = first, .go_on = go_on, .out = out};
	struct err err = {0};

	if (process_run(run_one, &one, orders_run_seconds(plan->config), &err) < 0) {
		err_set(&out->err, err.code, "%s", err.text);
		/* Discard the run: its process died, so its result may be incomplete. */
		out->ended = false;
	}
}

static const uint8_t *page_before(void *ctx, uint64_t gpa)
{
	const struct run_plan *r = ctx;

	return ram_at(&r->ram, gpa, X86_PAGE_SIZE);
}

/* Returns whether all runs have a result that can be compared. If at least one has not, sets the failure in `out`. */
static bool all_ended(struct run_result (*results)[2], struct replay_instance *out)
{
	for (unsigned order = 0; order < 2; order++)
		for (unsigned run = 0; run < 2; run++) {
			const struct run_result *r = &results[order][run];

			if (r->ended)
				continue;
			out->outcome = REPLAY_FAILURE;
			out->why = REPLAY_CANNOT_LOAD;
			snprintf(out->why_text, sizeof(out->why_text), "%.*s", REPLAY_TEXT_MAX - 1, r->err.text);
			return false;
		}
	return true;
}

static void compare(const struct run_plan *r, struct run_result (*results)[2], struct replay_instance *out)
{
	const struct rendezvous_side *side = &r->rendezvous->sides[0];
	struct compare c = {.before = page_before,
			    .ctx = (void *)r,
			    .datum = {.gpa = side->gpa, .len = side->size},
			    .result_unused = {r->config->result_unused[0], r->config->result_unused[1]}};

	for (unsigned order = 0; order < 2; order++) {
		out->orders[order].machine = results[order][0].machine;
		memcpy(out->orders[order].trouble, results[order][0].trouble, REPLAY_TEXT_MAX);
		for (unsigned run = 0; run < 2; run++)
			c.runs[order][run] = &results[order][run].run;
	}
	if (all_ended(results, out))
		compare_orders(&c, out);
}

void orders_run(const struct run_plan *plan, struct replay_instance *out)
{
	size_t size = ORDERS_RUNS * sizeof(struct run_result);
	struct run_result(*results)[2] =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (results == MAP_FAILED) {
		out->outcome = REPLAY_FAILURE;
		out->why = REPLAY_CANNOT_LOAD;
		snprintf(out->why_text, sizeof(out->why_text), "out of memory");
		return;
	}
	for (unsigned order = 0; order < 2; order++)
		for (unsigned run = 0; run < 2; run++)
			orders_run_one(plan, order, run == 0, &results[order][run]);
	compare(plan, results, out);
	munmap(results, size);
}
