// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts in recorded lock operations, and sets of them (lock_who.h). */
#include "hv/detect/steer/lock_who.h"

struct lock_who lock_who_is(unsigned cpu, const struct guest_context *context)
{
	bool task = context->kind == GUEST_TASK && context->pid > 0;

	return (struct lock_who){
		.who = task ? context->pid : -1 - (int64_t)cpu, .cpu = (uint16_t)cpu, .kind = (uint8_t)context->kind};
}

bool lock_who_same(const struct lock_who *a, const struct lock_who *b)
{
	return a->who == b->who && a->kind == b->kind;
}

bool lock_who_set_has(const struct lock_who_set *c, const struct lock_who *who)
{
	for (unsigned i = 0; i < c->count; i++) {
		if (lock_who_same(&c->who[i], who))
			return true;
	}
	return false;
}

void lock_who_set_add(struct lock_who_set *c, const struct lock_who *who)
{
	if (lock_who_set_has(c, who))
		return;
	if (c->count == LOCK_WHO_MAX)
		c->full = true;
	else
		c->who[c->count++] = *who;
}

void lock_who_set_drop(struct lock_who_set *c, const struct lock_who *who)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->count; i++) {
		if (!lock_who_same(&c->who[i], who))
			c->who[kept++] = c->who[i];
	}
	c->count = kept;
}

void lock_who_set_drop_interrupts(struct lock_who_set *c, const struct lock_who *lower)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->count; i++) {
		const struct lock_who *w = &c->who[i];

		if (w->kind == GUEST_TASK || w->cpu != lower->cpu || w->kind <= lower->kind)
			c->who[kept++] = *w;
	}
	c->count = kept;
}
