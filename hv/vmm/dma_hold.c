// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/vmm/dma_hold.h"

#include <errno.h>
#include <time.h>

#include "hv/base/clock.h"

#define NS_PER_S UINT64_C(1000000000)

void dma_hold_init(struct dma_hold *hold)
{
	pthread_condattr_t attr;

	*hold = (struct dma_hold){0};
	pthread_mutex_init(&hold->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&hold->moved, &attr);
	pthread_condattr_destroy(&attr);
}

void dma_hold_destroy(struct dma_hold *hold)
{
	pthread_mutex_destroy(&hold->lock);
	pthread_cond_destroy(&hold->moved);
}

void dma_hold_want(struct dma_hold *hold, unsigned nth)
{
	atomic_store(&hold->wanted, nth);
}

bool dma_hold_take(struct dma_hold *hold)
{
	unsigned n = atomic_load(&hold->wanted);

	while (n && !atomic_compare_exchange_weak(&hold->wanted, &n, n - 1))
		;
	return n == 1;
}

bool dma_hold_wait(struct dma_hold *hold, uint64_t ns)
{
	uint64_t until_ns = monotonic_ns() + (ns < DMA_HOLD_MOST_NS ? ns : DMA_HOLD_MOST_NS);
	const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
	bool whole = false;

	pthread_mutex_lock(&hold->lock);
	hold->holding = true;
	while (!hold->refused && !hold->let_go && !whole)
		whole = pthread_cond_timedwait(&hold->moved, &hold->lock, &until) == ETIMEDOUT;
	hold->holding = hold->let_go = false;
	pthread_mutex_unlock(&hold->lock);
	return whole;
}

void dma_hold_let_go(struct dma_hold *hold)
{
	pthread_mutex_lock(&hold->lock);
	hold->let_go = hold->holding;
	pthread_cond_broadcast(&hold->moved);
	pthread_mutex_unlock(&hold->lock);
}

void dma_hold_refuse(struct dma_hold *hold, bool on)
{
	pthread_mutex_lock(&hold->lock);
	if (on)
		hold->refused++;
	else
		hold->refused--;
	pthread_cond_broadcast(&hold->moved);
	pthread_mutex_unlock(&hold->lock);
}
