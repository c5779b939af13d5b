// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds, names and orders the candidates (candidates.h). */
#include "hv/explore/candidates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hv/explore/message.h"
#include "hv/explore/order.h"
#include "hv/explore/pairs.h"
#include "hv/explore/words.h"

#define NS_PER_MS 1000000u

/* A growing list of candidates. */
struct list {
	struct explore_candidate *all;
	size_t count;
};

/*
 * Returns whether the candidate's memory is meant to be shared. Per-CPU memory and stacks are not: only the kernel's scheduler,
 * or a mistake, accesses the per-CPU memory of another CPU or the stack of another task. The scheduler alone would give many
 * candidates.
 */
static bool is_shared(const struct explore_candidate *c)
{
	return c->memory.kind != GUEST_MEMORY_PER_CPU && c->memory.kind != GUEST_MEMORY_STACK;
}

/*
 * Call kernel_drop_object() for each object that the program frees or allocates during its recording, so that the object does
 * not count as in use at the mark. Such an object may have been in use at the mark, then freed, and then allocated by the
 * program. The program's accesses in calls of the allocator show these objects. They may not show the task_structs of the
 * program's tasks, because an older process, which is not recorded, may allocate these. So drop the task_structs by their list.
 */
static void find_allocations(const struct kernel *kernel, const struct recorded *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (r->access[i].service)
			kernel_drop_object(kernel, r->access[i].gva);
	for (uint32_t i = 0; i < r->tasks; i++)
		kernel_drop_object(kernel, r->task[i]);
}

/*
 * Find the candidates in the two lists of accesses in in->access, and leave out those for which is_shared() returns false. Sets
 * *out to the candidates, named and in the order in which they are tried. Fills in the other members of `in`. Returns 0, or -1
 * if memory ran out.
 */
static int find(struct pairs_input *in, const struct recordings *r, const struct kernel *kernel, struct list *out)
{
	size_t count;

	in->baseline = r->baseline ? r->baseline->access : NULL;
	in->baseline_count = r->baseline ? r->baseline->count : 0;
	in->code = kernel_code;
	in->lasting = kernel_is_lasting;
	in->ctx = (void *)(uintptr_t)kernel;
	*out = (struct list){.all = pairs_find(in, &count)};
	if (count == (size_t)-1)
		return -1;
	for (size_t i = 0; i < count; i++) {
		kernel_name(kernel, &out->all[i]);
		if (is_shared(&out->all[i]))
			out->all[out->count++] = out->all[i];
	}
	return order_by_clusters(out->all, out->count);
}

int candidates_find(const struct recordings *r, const struct kernel *kernel, struct explore_result *result, struct err *err)
{
	struct pairs_input in = {
		.access = {r->side[0]->access, r->side[1]->access},
		.count = {r->side[0]->count, r->side[1]->count},
		.allocated = kernel_is_allocated,
	};
	struct list found;

	for (unsigned side = 0; side < 2; side++)
		find_allocations(kernel, r->side[side]);
	if (find(&in, r, kernel, &found) < 0) {
		free(found.all);
		return err_set(err, EXIT_INTERNAL, "out of memory");
	}
	result->candidates = found.all;
	result->candidate_count = (unsigned)found.count;
	return 0;
}

/* ---- what one side does while the other one is held ---- */

static bool same_site(const struct explore_access *a, const struct explore_access *b)
{
	return a->pc == b->pc && a->caller == b->caller;
}

static bool is_known(const struct list *known, const struct explore_candidate *c)
{
	for (size_t i = 0; i < known->count; i++)
		if (same_site(&known->all[i].side[0].access, &c->side[0].access) &&
		    same_site(&known->all[i].side[1].access, &c->side[1].access))
			return true;
	return false;
}

/* The search for candidates that show only while a side is held. */
struct chain {
	const struct recordings *alone;
	const struct kernel *kernel;
	struct list known; /* the candidates of the programs that ran alone */
	struct list more;  /* the candidates that show only while a side is held */
};

/*
 * Append the candidates of `found` that are not known yet to c->more. Leave out candidates with a reason for a lower rank:
 * there are many of them, and they would be tried before better candidates of c->known. Side `held` was held after its access
 * of the candidate with the index `after`. Returns 0, or -1 if memory ran out.
 */
static int append_new(struct chain *c, const struct list *found, unsigned after, unsigned held)
{
	struct list *out = &c->more;
	struct explore_candidate *more = realloc(out->all, (out->count + found->count + 1) * sizeof(*more));

	if (!more)
		return -1;
	out->all = more;
	for (size_t i = 0; i < found->count; i++) {
		if (explore_reasons(&found->all[i]) || is_known(&c->known, &found->all[i]) || is_known(out, &found->all[i]))
			continue;
		more[out->count] = found->all[i];
		more[out->count].after = (int)after;
		more[out->count++].held = held;
	}
	return 0;
}

/*
 * Append to c->more the new candidates of two lists of accesses: those that side `held` makes after its access of the candidate
 * `after`, and those of `other`, the recording of the other side while `held` is held there. Returns 0, or -1 if memory ran
 * out.
 */
static int find_after(struct chain *c, unsigned after, unsigned held, const struct recorded *other)
{
	const struct recorded *own = c->alone->side[held];
	uint32_t at = c->known.all[after].side[held].access.at, from = 0;
	struct pairs_input in = {0}; /* no `allocated`: the other side may use what the held side has allocated */
	struct list found;
	int rc;

	while (from < own->count && own->access[from].at <= at)
		from++;
	in.access[held] = own->access + from;
	in.count[held] = own->count - from;
	in.access[!held] = other->access;
	in.count[!held] = other->count;
	rc = find(&in, c->alone, c->kernel, &found);
	if (rc == 0)
		rc = append_new(c, &found, after, held);
	free(found.all);
	return rc;
}

/*
 * Record the side other than `held` while `held` is held after its access of the candidate `after`. Append the new candidates
 * to c->more.
 */
static int chain_at(struct chain *c, const struct base *base, const struct explore_config *config, unsigned after,
		    unsigned held, struct err *err)
{
	struct recorded *other = record_after(base, config, c->kernel, !held, &c->known.all[after].side[held], err);
	int rc;

	if (!other)
		return -1;
	explore_say(config,
		    "%c while %c is held after its access of candidate %u: %" PRIu64 " instructions, %" PRIu64 " ms (%s)",
		    EXPLORE_SIDE_NAMES[!held], EXPLORE_SIDE_NAMES[held], after + 1, other->summary.steps,
		    other->summary.ns / NS_PER_MS, explore_recorded_word(other->summary.end));
	rc = find_after(c, after, held, other);
	recorded_free(other);
	return rc == 0 ? 0 : err_set(err, EXIT_INTERNAL, "out of memory");
}

static int insert(struct explore_result *result, size_t at, const struct list *more)
{
	size_t count = result->candidate_count + more->count;
	struct explore_candidate *all = realloc(result->candidates, (count + 1) * sizeof(*all));

	if (!all)
		return -1;
	memmove(all + at + more->count, all + at, (result->candidate_count - at) * sizeof(*all));
	if (more->count)
		memcpy(all + at, more->all, more->count * sizeof(*all));
	result->candidates = all;
	result->candidate_count = (unsigned)count;
	return 0;
}

int candidates_after(const struct base *base, const struct recordings *r, const struct explore_config *config,
		     const struct kernel *kernel, unsigned tried, struct explore_result *result, struct err *err)
{
	struct chain c = {.alone = r, .kernel = kernel, .known = {result->candidates, result->candidate_count}};
	unsigned used = 0, last = 0;
	int rc = 0;

	/* In the first pass, the trials of one candidate are next to each other. So `last` shows whether it was used. */
	for (unsigned i = 0; i < result->trial_count && rc == 0; i++) {
		const struct explore_trial *t = &result->trials[i];

		if (!explore_lets_run(t) || t->candidate >= tried)
			continue;
		if ((!used || t->candidate != last) && used++ == config->chains)
			break;
		last = t->candidate;
		rc = chain_at(&c, base, config, t->candidate, explore_first(t->schedule), err);
	}
	if (rc == 0 && insert(result, tried, &c.more) < 0)
		rc = err_set(err, EXIT_INTERNAL, "out of memory");
	if (rc == 0)
		explore_say(config, "%zu more candidates, found by running one program while the other one is held",
			    c.more.count);
	free(c.more.all);
	return rc;
}
