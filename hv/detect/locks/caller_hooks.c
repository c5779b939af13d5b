// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collects the direct calls between the functions of a text, and follows the functions on the way to critical sections
 * (caller_hooks.h).
 */
#include "hv/detect/locks/caller_hooks.h"

#include <stdlib.h>

#include "hv/base/grow.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/callers.h"
#include "hv/detect/locks/decision.h"
#include "hv/detect/locks/locks.h"
#include "symbols/insn/flow.h"

/*
 * A text with more functions is the kernel itself, or one of its largest drivers. There, the hooks at the starts of callers
 * would cost more time than the calls of lock functions do.
 */
#define FUNCTIONS_MAX 4096u
#define NO_SECTION (CALLERS_MAX + 1)

void caller_graph_fini(struct caller_graph *g)
{
	free(g->functions);
	free(g->edges);
	*g = (struct caller_graph){0};
}

void caller_hooks_function(struct caller_graph *g, const struct symbol *fn)
{
	struct caller_function *to = NULL;

	if (g->failed)
		return;
	if (g->function_count < FUNCTIONS_MAX)
		to = list_grow(&g->functions, &g->function_count, sizeof(*to), NULL);
	if (!to) {
		caller_graph_fini(g);
		g->failed = true;
		return;
	}
	*to = (struct caller_function){.start = fn->addr, .size = fn->size, .depth = NO_SECTION};
}

static void add_edge(struct caller_graph *g, const struct caller_edge *edge)
{
	struct caller_edge *to;

	if (g->failed || !g->function_count)
		return;
	to = list_grow(&g->edges, &g->edge_count, sizeof(*to), NULL);
	if (!to) {
		caller_graph_fini(g);
		g->failed = true;
		return;
	}
	*to = *edge;
	to->function = (uint32_t)g->function_count - 1;
}

void caller_hooks_take(struct caller_graph *g, const struct insn *insn)
{
	if (g->failed || !g->function_count)
		return;
	g->functions[g->function_count - 1].takes++;
	g->functions[g->function_count - 1].depth = 0;
	add_edge(g, &(struct caller_edge){.at = insn->addr, .len = insn->len});
}

void caller_hooks_insn(struct caller_graph *g, struct insn_decoder *decoder, const struct insn *insn, const uint8_t *rest,
		       size_t len)
{
	const struct caller_function *f = g->function_count ? &g->functions[g->function_count - 1] : NULL;
	struct insn_branch branch;

	if (g->failed || !f || !insn_direct_branch(insn, &branch) || branch.conditional || branch.width != 4 ||
	    branch.target - f->start < f->size)
		return;
	if (len > DECISION_CODE_MAX)
		len = DECISION_CODE_MAX;
	add_edge(g, &(struct caller_edge){
			    .at = insn->addr,
			    .target = branch.target,
			    .len = insn->len,
			    .jump = !branch.call,
			    .decides = branch.call && decision_by_result(decoder, rest, len, insn->addr + insn->len),
		    });
}

void caller_hooks_followed(struct caller_graph *g)
{
	if (g->function_count)
		g->functions[g->function_count - 1].sections = true;
}

/* ---- the way to a section ---- */

static int by_start(const void *a, const void *b)
{
	const struct caller_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct caller_function *function_at(const struct caller_graph *g, uint64_t start)
{
	const struct caller_function key = {.start = start};

	return g->function_count ? bsearch(&key, g->functions, g->function_count, sizeof(key), by_start) : NULL;
}

/* Returns the function to which the edge leads, or NULL if that function is not on the way to a section (caller_hooks.h). */
static struct caller_function *leads_to(const struct caller_graph *g, const struct caller_edge *e)
{
	struct caller_function *to = e->target ? function_at(g, e->target) : NULL;

	return to && to->depth < CALLERS_MAX ? to : NULL;
}

/* For each function, compute `depth`, and count its edges to functions on the way to a section (`calls`). */
static void find_depths(struct caller_graph *g)
{
	for (unsigned depth = 1; depth <= CALLERS_MAX; depth++) {
		for (size_t i = 0; i < g->edge_count; i++) {
			struct caller_function *from = &g->functions[g->edges[i].function], *to = leads_to(g, &g->edges[i]);

			if (to && to->depth == depth - 1 && from->depth > depth)
				from->depth = depth;
		}
	}
	for (size_t i = 0; i < g->edge_count; i++) {
		struct caller_function *from = &g->functions[g->edges[i].function];

		if (!leads_to(g, &g->edges[i]))
			continue;
		from->calls++;
		if (!g->edges[i].jump && !from->first_call)
			from->first_call = g->edges[i].at;
	}
}

/* ---- the detector's tables ---- */

static void add_sites(struct detect *d, const struct caller_graph *g, const uint32_t *frames)
{
	for (size_t i = 0; i < g->edge_count; i++) {
		const struct caller_edge *e = &g->edges[i];
		const struct caller_function *to = leads_to(g, e);
		struct caller_site site = {.addr = e->at,
					   .function = g->functions[e->function].start,
					   .target = e->target,
					   .frame = frames[i],
					   .decides = e->decides};

		if (e->jump && to) {
			site.addr = e->target;
			locks_add_caller(d->locks, CALLER_JUMP, &site);
		} else if (frames[i] && to) {
			site.addr = e->at + e->len;
			locks_add_caller(d->locks, CALLER_CALL, &site);
		} else if (frames[i] && !e->target) {
			locks_add_caller(d->locks, CALLER_TAKE, &site);
		}
	}
}

bool caller_hooks_sites(struct detect *d, struct caller_graph *g)
{
	uint64_t *at = calloc(g->edge_count + 1, sizeof(*at));
	uint32_t *frames = calloc(g->edge_count + 1, sizeof(*frames));
	bool done = false;

	if (g->failed || !at || !frames)
		goto out;
	find_depths(g);
	for (size_t i = 0; i < g->edge_count; i++)
		at[i] = g->edges[i].at;
	guest_frames(d->guest, at, g->edge_count, frames);
	add_sites(d, g, frames);
	done = true;
out:
	free(at);
	free(frames);
	return done;
}

bool caller_makes_sections(const struct caller_function *f)
{
	return f->calls && f->calls + f->takes > 1;
}

const struct caller_edge *caller_jump(const struct caller_graph *g, size_t function, size_t from)
{
	/* The edges are in the order of their functions. */
	for (size_t i = from; i < g->edge_count && g->edges[i].function <= function; i++) {
		if (g->edges[i].function == function && g->edges[i].jump && leads_to(g, &g->edges[i]))
			return &g->edges[i];
	}
	return NULL;
}
