// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds what a function that stores a pointer frees, and whether a grace period comes before the free. */
#include "pruner/patterns/rcu_publish_writer.h"

#include <string.h>

/*
 * Returns the object that a freeing call frees: the first argument of the call, or the second argument if the first one is a
 * cache or NULL.
 */
static struct flow_pointer freed_object(const struct writer *w, unsigned call)
{
	const char *callee = w->s->code.insns[call].callee;
	struct flow_pointer first = flow_register(w->s->flow, call, X86_RDI);
	bool after_cache = strncmp(callee, "kmem_cache_free", strlen("kmem_cache_free")) == 0;
	/* For an object without an rcu_head, kfree_rcu(pointer) calls a function with the arguments NULL and `pointer`. */
	bool after_null = first.root == FLOW_POINTER_FIXED && writer_callee(w, call, LIST_GRACE_FREE);

	return after_cache || after_null ? flow_register(w->s->flow, call, X86_RSI) : first;
}

bool writer_lasts_until(const struct writer *w, const struct flow_pointer *p, unsigned i)
{
	bool reached[RACE_CODE_MAX];

	writer_reachable(w, w->at, flow_definition_or_join(w->s->flow, p), false, reached);
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

/*
 * Returns whether the function allocated the object itself and has not published it. The function may then free the object at
 * any time, because no reader can have found it.
 */
static bool is_private(const struct writer *w, const struct flow_pointer *object, unsigned i)
{
	int source = flow_definition(w->s->flow, object);

	return source >= 0 && writer_callee(w, (unsigned)source, LIST_ALLOC) &&
	       (!writer_same_object(object, &w->what) || !writer_lasts_until(w, object, i));
}

static void find_frees(const struct writer *w, unsigned i, struct rcu_publish *out)
{
	const struct flow_pointer object = freed_object(w, i);
	bool later = writer_callee(w, i, LIST_GRACE_FREE), of_removed = writer_is_removed(w, &object, i);

	out->grace_of_removed |= of_removed && (later || !w->before_grace[i]);
	if (later || !w->before_grace[i] || is_private(w, &object, i))
		return;
	if (!out->freed_of_shared)
		out->freed = w->s->code.insns[i].callee;
	out->freed_of_this |= of_removed || (writer_same_object(&object, &w->what) && writer_lasts_until(w, &object, i));
	out->freed_of_shared |= out->freed_of_this;
}

static void find_calls(const struct writer *w, struct rcu_publish *out)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (!w->after[i])
			continue;
		if (!out->grace_of_removed && (writer_callee(w, i, LIST_GRACE_FREE) || writer_callee(w, i, LIST_GRACE_WAIT)))
			out->grace = w->s->code.insns[i].callee;
		if (writer_callee(w, i, LIST_FREE))
			find_frees(w, i, out);
	}
}

/*
 * Returns whether store `i` removes the object: the store takes it out of a list, or overwrites the memory from which the
 * function loaded the pointer to it.
 */
static bool removes_object(const struct writer *w, unsigned i, const struct flow_pointer *object)
{
	struct flow_pointer link, from, where;

	if (!writer_is_plain_store(w, i))
		return false;
	where = flow_address(w->s->flow, i);
	return (writer_unlinks(w, i, &link) && writer_same_object(&link, object)) ||
	       (writer_loaded(w, object, &from) && writer_same_address(&from, &where));
}

/*
 * Returns whether call `call` frees, without a grace period, an object that a store before it removes. Readers may hold that
 * object.
 */
static bool frees_removed(const struct writer *w, unsigned call, const struct flow_pointer *object)
{
	bool before_grace[RACE_CODE_MAX];

	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (!removes_object(w, i, object))
			continue;
		writer_reachable(w, i, flow_definition_or_join(w->s->flow, object), true, before_grace);
		if (before_grace[call])
			return true;
	}
	return false;
}

/*
 * Returns whether call `call`, on some path and without a grace period, frees the object that the function's store removes. On
 * a path that skips the store, the object is still reachable when it is freed.
 */
static bool frees_reachable(const struct writer *w, unsigned call, const struct flow_pointer *object)
{
	int begin = flow_definition_or_join(w->s->flow, object);
	bool before_grace[RACE_CODE_MAX], removed = false;
	struct flow_pointer from;

	for (unsigned i = 0; i < w->removed_count; i++)
		removed |= writer_same_object(&w->removed[i], object);
	removed |= writer_loaded(w, object, &from) && writer_same_address(&from, &w->where);
	writer_reachable(w, begin < 0 ? 0 : (unsigned)begin, begin, true, before_grace);
	return removed && before_grace[call];
}

/* Returns whether a path of the function frees, without a grace period, an object that the function did not allocate. */
static bool frees_elsewhere(const struct writer *w, struct rcu_publish *out)
{
	bool found = false;
	bool before_grace[RACE_CODE_MAX];

	writer_reachable(w, 0, -1, true, before_grace);
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer object;
		bool reachable;

		if (!before_grace[i] || !writer_callee(w, i, LIST_FREE) || writer_callee(w, i, LIST_GRACE_FREE))
			continue;
		object = freed_object(w, i);
		found |= !is_private(w, &object, i);
		reachable = frees_reachable(w, i, &object);
		out->freed_of_this |= reachable;
		if (out->freed_of_shared || (!frees_removed(w, i, &object) && !reachable))
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

void writer_find_frees(const struct writer *w, struct rcu_publish *out)
{
	find_calls(w, out);
	out->waits_somewhere = waits_somewhere(w);
	out->frees_elsewhere = frees_elsewhere(w, out);
}
