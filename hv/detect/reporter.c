/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second half of a hit, after the window: who made the access, what is it called. Never holds the guest. */
#include <string.h>

#include "hv/detect/internal.h"

int detect_code(struct detect *d, uint64_t gva, void *buf, size_t len)
{
	int ret;

	/* Copy and overlay under one lock: a point planted or removed in between would be taken for the guest's own byte. */
	detect_enter(d);
	ret = guest_read(d->guest, gva, buf, len);
	if (!ret)
		points_overlay(&d->points, gva, buf, len);
	detect_leave(d);
	return ret;
}

/* Of an interrupted stack all was kept that might be needed; what was not goes. */
static void trim_stacks(struct race_side *side, unsigned n)
{
	uint8_t *from = side->below, *to = side->below;

	for (unsigned i = 1; i < n; i++) {
		struct race_stack *kept = &side->interrupted[i - 1];
		uint32_t skip = side->calls.used_from[i], len = kept->len;

		memmove(to, from + skip, len - skip);
		kept->gva += skip;
		kept->len -= skip;
		from += len;
		to += kept->len;
	}
}

static void unwind_side(struct detect *d, struct race_side *side)
{
	struct unwind_stack stacks[GUEST_STACKS_MAX] = {{side->regs.gpr[X86_RSP], side->stack, side->stack_len}};
	const uint8_t *bytes = side->below;
	bool unwound;
	unsigned n = 1;

	for (; n < GUEST_STACKS_MAX && side->interrupted[n - 1].len; n++) {
		stacks[n] = (struct unwind_stack){side->interrupted[n - 1].gva, bytes, side->interrupted[n - 1].len};
		bytes += stacks[n].len;
	}
	guest_unwind(d->guest, &side->regs, &side->context, stacks, n, &side->calls);
	trim_stacks(side, n);
	/* The CPU stopped behind the access, in the same function but for a call through memory. */
	if (side->pc && side->symbol.addr == side->calls.frames[0].symbol.addr)
		side->calls.frames[0].pc = side->pc;
	unwound = side->calls.origin != GUEST_ORIGIN_UNKNOWN && !side->calls.guessed;
	pthread_mutex_lock(&d->lock);
	d->stats.stacks++;
	d->stats.stacks_unwound += unwound;
	pthread_mutex_unlock(&d->lock);
}

static void report(struct detect *d, struct insn_decoder *decoder, struct observation *o)
{
	if (o->how == RACE_BY_WATCH) {
		attribute_watch(d, decoder, o);
		if (!o->sides[1].pc && d->target->caps.late_watch) {
			pthread_mutex_lock(&d->lock);
			d->stats.unexplained++;
			pthread_mutex_unlock(&d->lock);
			return;
		}
	}
	guest_memory_at(d->guest, &o->sides[0].regs, &o->page, o->sides[0].gva, o->sides[0].size, &o->memory);
	for (int i = 0; i < 2; i++) {
		if (!o->sides[i].known)
			continue;
		describe_side(d, decoder, &o->sides[i]);
		unwind_side(d, &o->sides[i]);
	}
	d->sink.race(d->sink.ctx, o);
}

void *reporter_main(void *arg)
{
	struct detect *d = arg;
	struct insn_decoder *decoder = insn_decoder_new();

	pthread_mutex_lock(&d->lock);
	while (decoder) {
		uint16_t index;

		while (!d->queue_count && !d->reporter_stop)
			pthread_cond_wait(&d->queued, &d->lock);
		if (!d->queue_count)
			break;
		index = d->queue[d->queue_head];
		d->queue_head = (d->queue_head + 1) % MAX_OBSERVATIONS;
		d->queue_count--;

		pthread_mutex_unlock(&d->lock);
		report(d, decoder, &d->pool_of_observations[index]);
		pthread_mutex_lock(&d->lock);
		d->free_obs[d->free_count++] = index;
	}
	pthread_mutex_unlock(&d->lock);
	insn_decoder_free(decoder);
	return NULL;
}
