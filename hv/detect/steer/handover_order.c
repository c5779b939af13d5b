// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides whether hand-overs order two accesses (handover_order.h), from the recorded events between the accesses. */
#include "hv/detect/steer/handover_order.h"

#include "hv/race/handover.h"

#define OBJECTS_MAX 32u
/*
 * When an object ends, its address is known, but not its size. The object counts as if it had this many bytes, the upper bound
 * of an object's size.
 */
#define OBJECT_BYTES 8192u

/* State of the search back in time: the contexts whose earlier events happen before the second access. */
struct search {
	struct lock_who_set contexts;
	/*
	 * Objects that these contexts acquired before the second access. The members are those of the acquire's struct
	 * lock_event, where `by` is called `who`. `released`: the object's release was found.
	 */
	struct {
		uint64_t gva, since;
		struct lock_who by;
		uint8_t kind, side, ended;
		bool released;
	} object[OBJECTS_MAX];
	unsigned object_count;
	/* The list of objects overflowed, so the order is unknown. */
	bool full;
	/* An object in the chain of hand-overs was handed over more than once between the two accesses. */
	bool repeated;
	/*
	 * A release at the address of an acquired object was found, but it may be of an earlier object there, or may have come
	 * after the acquire.
	 */
	bool uncertain;
	/* The interrupt of the second access began after the first access. */
	bool began;
};

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

	/*
	 * The search goes back in time. If it has found the object's release already, this acquire came before that release. So
	 * the object is handed over in a loop, and this acquire belongs to an earlier pass of the loop, whichever context made
	 * the acquire. An interrupt line is an exception, because all streams or queues of a device share it: there, only an
	 * acquire by the same context belongs to an earlier pass.
	 */
	if (i < s->object_count && s->object[i].released)
		s->repeated |= e->kind != HANDOVER_IRQ || lock_who_same(&s->object[i].by, &e->who);
	if (!lock_who_set_has(&s->contexts, &e->who))
		return;
	if (e->begins)
		lock_who_set_drop(&s->contexts, &e->who);
	if (i < s->object_count)
		return;
	if (i == OBJECTS_MAX) {
		s->full = true;
		return;
	}
	s->object[i].gva = e->gva;
	s->object[i].since = e->since;
	s->object[i].by = e->who;
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
	if (s->object[i].ended != e->ended || (s->object[i].since && e->due >= s->object[i].since)) {
		s->uncertain = true;
		return;
	}
	/* One complete() ends a wait. If there are two, the detector does not know which one the wait waited for. */
	s->repeated |= s->object[i].released && e->kind == HANDOVER_COMPLETION;
	s->object[i].released = true;
	lock_who_set_add(&s->contexts, &e->who);
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
	struct search s = {.contexts = {.who = {second->who}, .count = 1}};

	if (first->number < e->hole)
		return HANDOVER_ORDER_UNKNOWN;
	for (uint64_t i = 0; i < kept; i++) {
		const struct lock_event *event = &e->list[(e->count - 1 - i) % LOCK_EVENTS_KEPT];

		if (event->number <= first->number)
			goto out;
		if (event->number >= second->number)
			continue;
		lock_who_set_drop_interrupts(&s.contexts, &event->who);
		s.began |= event->begins && event->kind == HANDOVER_IRQ && second->who.kind == GUEST_HARDIRQ &&
			   lock_who_same(&event->who, &second->who);
		if (event->handover && event->give)
			released(&s, event);
		else if (event->handover)
			acquired(&s, event);
	}
	if (e->count > LOCK_EVENTS_KEPT)
		return HANDOVER_ORDER_UNKNOWN;
out:
	if (s.full || s.contexts.full)
		return HANDOVER_ORDER_UNKNOWN;
	if (!lock_who_set_has(&s.contexts, &first->who))
		return s.uncertain ? HANDOVER_ORDER_UNKNOWN : s.began ? HANDOVER_ORDER_LATER : HANDOVER_ORDER_NONE;
	return s.repeated ? HANDOVER_ORDER_UNKNOWN : HANDOVER_ORDER_FIRST;
}
