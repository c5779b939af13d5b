// SPDX-License-Identifier: GPL-2.0-or-later
/* What a function that stores a pointer frees, and whether a grace period is before that. */
#include "pruner/publish_writer.h"

#include <string.h>

/* The argument of a call that frees: which object it frees. */
static struct flow_pointer freed_object(const struct writer *w, unsigned call)
{
	const char *callee = w->s->code.insns[call].callee;
	struct flow_pointer first = flow_register(w->s->flow, call, X86_RDI);
	bool after_cache = strncmp(callee, "kmem_cache_free", strlen("kmem_cache_free")) == 0;
	/* kfree_rcu(pointer), with no head in the object, has NULL as its first argument. */
	bool after_null = first.root == FLOW_POINTER_FIXED && writer_callee(w, call, LIST_GRACE_FREE);

	return after_cache || after_null ? flow_register(w->s->flow, call, X86_RSI) : first;
}

bool writer_lasts_until(const struct writer *w, const struct flow_pointer *p, unsigned i)
{
	bool reached[RACE_CODE_MAX];

	writer_spread(w, w->at, flow_begin(w->s->flow, p), false, reached);
	return reached[i];
}

bool writer_is_removed(const struct writer *w, const struct flow_pointer *object, unsigned i)
{
	for (unsigned j = 0; j < w->removed_count; j++) {
		if (writer_same_object(&w->removed[j], object))
			return writer_lasts_until(w, object, i);
	}
	return false;
}

/* An object that the function has just made, and that nobody else knows of, may be freed in any way. */
static bool is_private(const struct writer *w, const struct flow_pointer *object, unsigned i)
{
	int source = flow_source(w->s->flow, object);

	return source >= 0 && writer_callee(w, (unsigned)source, LIST_ALLOC) &&
	       (!writer_same_object(object, &w->what) || !writer_lasts_until(w, object, i));
}

static void find_frees(const struct writer *w, unsigned i, struct publish *out)
{
	const struct flow_pointer object = freed_object(w, i);
	bool later = writer_callee(w, i, LIST_GRACE_FREE), of_removed = writer_is_removed(w, &object, i);

	out->grace_of_removed |= of_removed && (later || !w->at_once[i]);
	if (later || !w->at_once[i] || is_private(w, &object, i))
		return;
	if (!out->freed_of_shared)
		out->freed = w->s->code.insns[i].callee;
	out->freed_of_shared |= of_removed || (writer_same_object(&object, &w->what) && writer_lasts_until(w, &object, i));
}

static void find_calls(const struct writer *w, struct publish *out)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (!w->behind[i])
			continue;
		if (!out->grace_of_removed && (writer_callee(w, i, LIST_GRACE_FREE) || writer_callee(w, i, LIST_GRACE_WAIT)))
			out->grace = w->s->code.insns[i].callee;
		if (writer_callee(w, i, LIST_FREE))
			find_frees(w, i, out);
	}
}

/* Whether store `i` takes the object out: out of a list, or out of the place that it was loaded from. */
static bool takes_out(const struct writer *w, unsigned i, const struct flow_pointer *object)
{
	struct flow_pointer link, from, where;

	if (!writer_is_plain_store(w, i))
		return false;
	where = flow_address(w->s->flow, i);
	return (writer_unlinks(w, i, &link) && writer_same_object(&link, object)) ||
	       (writer_loaded(w, object, &from) && writer_same_address(&from, &where));
}

/* Whether call `call` frees at once what a store on its way has taken out. Readers hold that as they hold what is added. */
static bool frees_what_it_takes_out(const struct writer *w, unsigned call, const struct flow_pointer *object)
{
	bool at_once[RACE_CODE_MAX];

	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (!takes_out(w, i, object))
			continue;
		writer_spread(w, i, flow_begin(w->s->flow, object), true, at_once);
		if (at_once[call])
			return true;
	}
	return false;
}

/*
 * Whether call `call` frees at once what the function's store would take out, but did not on this way. The object is then still
 * reachable when it is freed.
 */
static bool frees_what_it_leaves(const struct writer *w, unsigned call, const struct flow_pointer *object)
{
	int begin = flow_begin(w->s->flow, object);
	bool at_once[RACE_CODE_MAX], removed = false;
	struct flow_pointer from;

	for (unsigned i = 0; i < w->removed_count; i++)
		removed |= writer_same_object(&w->removed[i], object);
	removed |= writer_loaded(w, object, &from) && writer_same_address(&from, &w->where);
	writer_spread(w, begin < 0 ? 0 : (unsigned)begin, begin, true, at_once);
	return removed && at_once[call];
}

/* Whether the function frees at once, on any way, what it has not just made. */
static bool frees_elsewhere(const struct writer *w, struct publish *out)
{
	bool found = false;
	bool at_once[RACE_CODE_MAX];

	writer_spread(w, 0, -1, true, at_once);
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer object;

		if (!at_once[i] || !writer_callee(w, i, LIST_FREE) || writer_callee(w, i, LIST_GRACE_FREE))
			continue;
		object = freed_object(w, i);
		found |= !is_private(w, &object, i);
		if (out->freed_of_shared || (!frees_what_it_takes_out(w, i, &object) && !frees_what_it_leaves(w, i, &object)))
			continue;
		out->freed_of_shared = true;
		out->freed = w->s->code.insns[i].callee;
	}
	return found;
}

static bool waits_somewhere(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (writer_callee(w, i, LIST_GRACE_FREE) || writer_callee(w, i, LIST_GRACE_WAIT))
			return true;
	}
	return false;
}

void writer_find_frees(const struct writer *w, struct publish *out)
{
	find_calls(w, out);
	out->waits_somewhere = waits_somewhere(w);
	out->frees_elsewhere = frees_elsewhere(w, out);
}
