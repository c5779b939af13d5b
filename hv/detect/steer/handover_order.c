// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether hand-overs order two accesses (handover_order.h), from the recorded events between them. */
#include "hv/detect/steer/handover_order.h"

#include "hv/race/handover.h"

#define CONTEXTS_MAX 16u
#define OBJECTS_MAX 32u
/* Upper bound of an object's size in bytes, since the end of an object is reported without a size. */
#define OBJECT_BYTES 8192u

/* State of the search back in time: the contexts whose earlier events happen before the second access. */
struct search {
	struct lock_who who[CONTEXTS_MAX];
	unsigned who_count;
	/* What these contexts acquired before the second access. `released`: the release was found. */
	struct {
		uint64_t gva;
		uint8_t kind, side, ended;
		bool released;
	} object[OBJECTS_MAX];
	unsigned object_count;
	/* A list overflowed, so the order is unknown. */
	bool full;
	/* The object was handed over more than once. */
	bool repeated;
	/* An object was released at the address of an acquired one, but may have ended before that. */
	bool uncertain;
};

static bool has(const struct search *s, const struct lock_who *who)
{
	for (unsigned i = 0; i < s->who_count; i++) {
		if (lock_who_same(&s->who[i], who))
			return true;
	}
	return false;
}

static void add(struct search *s, const struct lock_who *who)
{
	if (has(s, who))
		return;
	if (s->who_count == CONTEXTS_MAX)
		s->full = true;
	else
		s->who[s->who_count++] = *who;
}

static void drop(struct search *s, const struct lock_who *who)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->who_count; i++) {
		if (!lock_who_same(&s->who[i], who))
			s->who[kept++] = s->who[i];
	}
	s->who_count = kept;
}

/* The CPU of `lower` was in that context at this event, so interrupts in the list on this CPU began later: remove them. */
static void drop_interrupts(struct search *s, const struct lock_who *lower)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->who_count; i++) {
		const struct lock_who *w = &s->who[i];

		if (w->kind == GUEST_TASK || w->cpu != lower->cpu || w->kind <= lower->kind)
			s->who[kept++] = *w;
	}
	s->who_count = kept;
}

/* Returns the index of the event's object in the list, or the number of objects. */
static unsigned find(const struct search *s, const struct lock_event *e)
{
	unsigned i = 0;

	while (i < s->object_count &&
	       (s->object[i].gva != e->gva || s->object[i].kind != e->kind || s->object[i].side != e->side))
		i++;
	return i;
}

static void acquired(struct search *s, const struct lock_event *e)
{
	unsigned i = find(s, e);

	/* Any context may have acquired the object in the round before. */
	if (i < s->object_count && s->object[i].released)
		s->repeated = true;
	if (!has(s, &e->who))
		return;
	if (e->begins)
		drop(s, &e->who);
	if (i < s->object_count)
		return;
	if (i == OBJECTS_MAX) {
		s->full = true;
		return;
	}
	s->object[i].gva = e->gva;
	s->object[i].kind = e->kind;
	s->object[i].side = e->side;
	s->object[i].ended = e->ended;
	s->object[i].released = false;
	s->object_count++;
}

static void released(struct search *s, const struct lock_event *e)
{
	unsigned i = find(s, e);

	if (i == s->object_count)
		return;
	if (s->object[i].ended != e->ended) {
		s->uncertain = true;
		return;
	}
	/* A wait ends by one complete(), so that a second one may be by a context that the wait did not wait for. */
	s->repeated |= s->object[i].released && e->kind == HANDOVER_COMPLETION;
	s->object[i].released = true;
	add(s, &e->who);
}

void handover_object_ends(struct lock_events *e, uint64_t gva)
{
	uint64_t kept = e->count < LOCK_EVENTS_KEPT ? e->count : LOCK_EVENTS_KEPT;

	for (uint64_t i = 0; i < kept; i++) {
		struct lock_event *event = &e->list[i];

		if (event->handover && event->kind != HANDOVER_IRQ && event->gva - gva < OBJECT_BYTES &&
		    event->ended < UINT8_MAX)
			event->ended++;
	}
}

enum handover_order handover_order(const struct lock_events *e, const struct lock_hit *first, const struct lock_hit *second)
{
	uint64_t kept = e->count < LOCK_EVENTS_KEPT ? e->count : LOCK_EVENTS_KEPT;
	struct search s = {.who = {second->who}, .who_count = 1};

	if (first->number < e->hole)
		return HANDOVER_ORDER_UNKNOWN;
	for (uint64_t i = 0; i < kept; i++) {
		const struct lock_event *event = &e->list[(e->count - 1 - i) % LOCK_EVENTS_KEPT];

		if (event->number <= first->number)
			goto out;
		if (event->number >= second->number)
			continue;
		drop_interrupts(&s, &event->who);
		if (event->handover && event->give)
			released(&s, event);
		else if (event->handover)
			acquired(&s, event);
	}
	if (e->count > LOCK_EVENTS_KEPT)
		return HANDOVER_ORDER_UNKNOWN;
out:
	if (s.full)
		return HANDOVER_ORDER_UNKNOWN;
	if (!has(&s, &first->who))
		return s.uncertain ? HANDOVER_ORDER_UNKNOWN : HANDOVER_ORDER_NONE;
	return s.repeated ? HANDOVER_ORDER_UNKNOWN : HANDOVER_ORDER_FIRST;
}
