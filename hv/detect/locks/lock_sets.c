// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of contexts that hold locks, with the lockset of each context (lock_sets.h). */
#include "hv/detect/locks/lock_sets.h"

#include <string.h>

static int64_t who_is(unsigned cpu, const struct guest_context *context)
{
	return context->kind == GUEST_TASK && context->pid > 0 ? context->pid : -1 - (int64_t)cpu;
}

static bool is_known(const struct guest_context *context)
{
	return context->known && (context->kind != GUEST_TASK || context->pid >= 0);
}

static bool is_free(const struct lock_context *c)
{
	return !c->set.count && !c->beyond;
}

void lock_sets_seen(struct lock_sets *s, unsigned cpu, const struct guest_context *context)
{
	if (!context->known)
		return;
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX; i++) {
		struct lock_context *c = &s->contexts[i];

		if (!is_free(c) && c->cpu == cpu && c->kind > context->kind)
			*c = (struct lock_context){0};
	}
}

struct lock_context *lock_sets_find(struct lock_sets *s, unsigned cpu, const struct guest_context *context)
{
	int64_t who = who_is(cpu, context);

	if (!is_known(context))
		return NULL;
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX; i++) {
		struct lock_context *c = &s->contexts[i];

		if (!is_free(c) && c->who == who && c->kind == context->kind)
			return c;
	}
	return NULL;
}

void lock_sets_get(struct lock_sets *s, unsigned cpu, const struct guest_context *context, struct lockset *out)
{
	const struct lock_context *c = lock_sets_find(s, cpu, context);

	*out = c ? c->set : (struct lockset){0};
	out->overflow |= s->incomplete || !is_known(context);
}

static struct lock_context *make(struct lock_sets *s, unsigned cpu, const struct guest_context *context)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);

	if (own)
		return own;
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX; i++) {
		struct lock_context *c = &s->contexts[i];

		if (is_free(c)) {
			*c = (struct lock_context){.who = who_is(cpu, context), .kind = context->kind};
			return c;
		}
	}
	return NULL;
}

void lock_sets_take(struct lock_sets *s, unsigned cpu, const struct guest_context *context, const struct held_lock *lock,
		    uint64_t number)
{
	struct lock_context *c = is_known(context) ? make(s, cpu, context) : NULL;

	if (!c) {
		s->incomplete = true;
		return;
	}
	c->cpu = (uint16_t)cpu;
	for (unsigned i = c->set.count; i-- > 0;) {
		if (!lock->maybe && c->leaving[i] && c->set.held[i].gva == lock->gva)
			lock_sets_drop(c, i);
	}
	if (c->set.count == LOCKSET_MAX) {
		c->beyond++;
		c->set.overflow = true;
		return;
	}
	c->taken[c->set.count] = number;
	c->leaving[c->set.count] = 0;
	c->set.held[c->set.count++] = *lock;
}

void lock_sets_drop(struct lock_context *c, unsigned i)
{
	c->set.count--;
	memmove(&c->set.held[i], &c->set.held[i + 1], (c->set.count - i) * sizeof(c->set.held[0]));
	memmove(&c->taken[i], &c->taken[i + 1], (c->set.count - i) * sizeof(c->taken[0]));
	memmove(&c->leaving[i], &c->leaving[i + 1], (c->set.count - i) * sizeof(c->leaving[0]));
}

/* Drop the context's most recent acquisition of the lock. Returns false if the context does not hold the lock. */
static bool give(struct lock_context *c, uint64_t gva)
{
	for (unsigned i = c->set.count; i-- > 0;) {
		if (c->set.held[i].gva != gva)
			continue;
		lock_sets_drop(c, i);
		return true;
	}
	return false;
}

/*
 * Another context releases a lock that this context may hold: drop the lock if it is exclusive, else mark it as possibly held.
 */
static void give_away(struct lock_context *c, uint64_t gva)
{
	for (unsigned i = c->set.count; i-- > 0;) {
		struct held_lock *lock = &c->set.held[i];

		if (lock->gva != gva)
			continue;
		if (lock->shared || lock->kind == LOCK_SEMAPHORE)
			lock->maybe = true;
		else
			lock_sets_drop(c, i);
	}
}

void lock_sets_give(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);

	if (own && give(own, gva))
		return;
	/*
	 * The lock is not in the context's set, but the context holds locks for which the set had no room: one of these is
	 * released.
	 */
	if (own && own->beyond) {
		own->beyond--;
		own->set.overflow = own->beyond != 0;
		return;
	}
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX; i++) {
		if (!is_free(&s->contexts[i]))
			give_away(&s->contexts[i], gva);
	}
}

bool lock_sets_leave(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva, uint64_t call)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);

	for (unsigned i = own ? own->set.count : 0; i-- > 0;) {
		if (own->set.held[i].gva == gva) {
			own->leaving[i] = call;
			return true;
		}
	}
	return false;
}

uint64_t lock_sets_left(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t call)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);
	uint64_t gva;

	for (unsigned i = own ? own->set.count : 0; i-- > 0;) {
		if (own->leaving[i] != call)
			continue;
		gva = own->set.held[i].gva;
		lock_sets_drop(own, i);
		return gva;
	}
	return 0;
}

void lock_sets_share(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);

	for (unsigned i = 0; own && i < own->set.count; i++) {
		if (own->set.held[i].gva == gva)
			own->set.held[i].shared = true;
	}
}

void lock_sets_anew(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);

	while (own && give(own, gva))
		;
}

void lock_sets_tried(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t taken_at, bool taken,
		     bool sure)
{
	struct lock_context *own = lock_sets_find(s, cpu, context);
	unsigned last = own ? own->set.count : 0;

	if (!last-- || own->beyond || own->set.held[last].taken_at != taken_at || !own->set.held[last].maybe)
		return;
	if (!taken)
		lock_sets_drop(own, last);
	else
		own->set.held[last].maybe = !sure;
}

unsigned lock_sets_text_gone(struct lock_sets *s, uint64_t base, uint64_t size)
{
	unsigned dropped = 0;

	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX; i++) {
		struct lock_context *c = &s->contexts[i];

		for (unsigned l = c->set.count; l-- > 0;) {
			if (c->set.held[l].taken_at - base >= size)
				continue;
			lock_sets_drop(c, l);
			dropped++;
		}
	}
	return dropped;
}
