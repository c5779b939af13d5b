// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the three orders of a rendezvous of sections, and compares the results (section_orders.h). The functions are A, with two
 * critical sections, and B, with one section of the same lock.
 */
#include "hv/replay/section_orders.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "hv/replay/compare_sections.h"
#include "hv/replay/orders.h"

static const char *const order_names[SECTION_ORDERS] = {
	[SECTION_ORDER_BETWEEN] = "with the other section in between",
	[SECTION_ORDER_A_FIRST] = "with the function first",
	[SECTION_ORDER_B_FIRST] = "with the other function first",
};

static void unknown(struct section_replay_instance *out, enum section_order order, const char *why)
{
	*out = (struct section_replay_instance){.outcome = SECTION_OUTCOME_UNKNOWN};
	snprintf(out->why, sizeof(out->why), "%s: %.140s", order_names[order], why);
}

/* ---- how one run ended ---- */

static bool in_trouble(const struct run_result *r)
{
	const enum replay_failure failure = r->run.order.failure;

	if (!r->ended)
		return false;
	return r->run.trouble != TROUBLE_NONE || r->trouble[0] || failure == REPLAY_FAULT || failure == REPLAY_DEADLOCK ||
	       r->machine == REPLAY_MACHINE_PANIC || r->machine == REPLAY_MACHINE_TRIPLE_FAULT;
}

static const char *trouble_text(const struct run_result *r)
{
	if (r->run.trouble_line[0])
		return r->run.trouble_line;
	if (r->trouble[0])
		return r->trouble;
	return r->run.order.why ? r->run.order.why : "the machine ended";
}

static const char *end_text(enum replay_end end)
{
	switch (end) {
	case REPLAY_END_BLOCKED:
		return "a function was about to sleep";
	case REPLAY_END_LIMIT:
		return "a function did not return within the limit of instructions";
	default:
		return "a function did not return";
	}
}

/* Returns whether both functions have returned, so that the run can be compared. If not, *why becomes the reason. */
static bool is_whole(const struct run_result *r, const char **why)
{
	*why = r->err.text;
	if (!r->ended)
		return false;
	if (compare_failure(&r->run, why) != REPLAY_NO_FAILURE)
		return false;
	for (unsigned side = 0; side < 2; side++) {
		enum replay_end end = r->run.order.regions[side].end;

		*why = end_text(end);
		if (end != REPLAY_END_RETURN)
			return false;
	}
	return true;
}

/* ---- all runs ---- */

/*
 * Run each order. `run`: 0 for the first run of each order, 1 for the second. Leave out the first run of the order with B in
 * between: the caller has made this run already.
 */
static void run_all(const struct run_plan *plan, unsigned run, struct run_result (*results)[2])
{
	for (unsigned order = 0; order < SECTION_ORDERS; order++) {
		if (run || order != SECTION_ORDER_BETWEEN)
			orders_run_one(plan, order, run, &results[order][run]);
	}
}

static const uint8_t *page_before(void *ctx, uint64_t gpa)
{
	const struct run_plan *r = ctx;

	return ram_at(&r->ram, gpa, X86_PAGE_SIZE);
}

/* Compare the first `runs` runs of each order. In each of these runs, both functions must have returned. */
static void compare(const struct run_plan *plan, unsigned runs, struct run_result (*results)[2],
		    struct section_replay_instance *out)
{
	struct compare_sections c = {.before = page_before,
				     .ctx = (void *)plan,
				     .lock = plan->rendezvous->sides[0].gpa,
				     .result_unused = {plan->config->result_unused[0], plan->config->result_unused[1]}};

	*out = (struct section_replay_instance){0};
	for (unsigned order = 0; order < SECTION_ORDERS; order++)
		for (unsigned run = 0; run < runs; run++)
			c.runs[order][run] = &results[order][run].run;
	compare_section_orders(&c, out);
}

/*
 * Returns whether, in run `run` of both serial orders, the functions returned without trouble. If not, the outcome becomes
 * unknown.
 */
static bool serial_orders_right(unsigned run, struct run_result (*results)[2], struct section_replay_instance *out)
{
	for (unsigned order = SECTION_ORDER_A_FIRST; order <= SECTION_ORDER_B_FIRST; order++) {
		const struct run_result *r = &results[order][run];
		const char *why;

		if (!is_whole(r, &why)) {
			unknown(out, (enum section_order)order, why);
			return false;
		}
		if (in_trouble(r)) {
			unknown(out, (enum section_order)order, trouble_text(r));
			return false;
		}
	}
	return true;
}

/* Returns whether the first run of the order with B in between can be judged. If not, the outcome becomes unknown. */
static bool between_known(const struct run_result *r, struct section_replay_instance *out)
{
	const char *why;

	if (r->ended && !r->reached && !in_trouble(r)) {
		unknown(out, SECTION_ORDER_BETWEEN, "the function did not come to its second section");
		return false;
	}
	if (is_whole(r, &why) || (r->reached && in_trouble(r)))
		return true;
	unknown(out, SECTION_ORDER_BETWEEN, why);
	return false;
}

/* Decide the outcome from both runs of each order. The second runs had a free run. */
static void judge(const struct run_plan *plan, struct run_result (*results)[2], struct section_replay_instance *out)
{
	const struct run_result *between = results[SECTION_ORDER_BETWEEN];
	const char *why;

	if (!serial_orders_right(1, results, out))
		return;
	if (is_whole(&between[0], &why) && is_whole(&between[1], &why)) {
		compare(plan, 2, results, out);
	} else if (!in_trouble(&between[0]) || !in_trouble(&between[1])) {
		unknown(out, SECTION_ORDER_BETWEEN, "two runs of this order end in different ways");
		return;
	}
	if (!in_trouble(&between[1]))
		return;
	out->outcome = SECTION_OUTCOME_CONFIRMED;
	out->why[0] = '\0';
	snprintf(out->trouble, sizeof(out->trouble), "%.*s", REPLAY_TEXT_MAX - 1, trouble_text(&between[1]));
}

static void run(const struct run_plan *plan, struct run_result (*results)[2], struct section_replay_instance *out)
{
	const struct run_result *between = &results[SECTION_ORDER_BETWEEN][0];

	orders_run_one(plan, SECTION_ORDER_BETWEEN, false, &results[SECTION_ORDER_BETWEEN][0]);
	if (!between_known(between, out))
		return;
	run_all(plan, 0, results);
	if (!serial_orders_right(0, results, out))
		return;
	if (!in_trouble(between)) {
		compare(plan, 1, results, out);
		if (out->outcome < SECTION_OUTCOME_MIXED)
			return;
	}
	run_all(plan, 1, results);
	judge(plan, results, out);
}

void section_orders_run(const struct run_plan *plan, struct section_replay_instance *out)
{
	size_t size = SECTION_ORDERS_RUNS * sizeof(struct run_result);
	struct run_result(*results)[2] =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*out = (struct section_replay_instance){0};
	if (results == MAP_FAILED) {
		snprintf(out->why, sizeof(out->why), "out of memory");
		return;
	}
	run(plan, results, out);
	munmap(results, size);
}
