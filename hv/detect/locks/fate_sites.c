// SPDX-License-Identifier: GPL-2.0-or-later
/* Arms the sites of the accesses whose data are followed (fate_sites.h). */
#include "hv/detect/locks/fate_sites.h"

#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/arm.h"
#include "hv/detect/steer/pool.h"

/* These sites may have up to a quarter of the requested hits/s. */
#define RATE_SHARE 0.25
/* Maximum number of hits that the budget saves up, in seconds of this rate. */
#define SAVED_SECONDS 0.1
/* Number of sites that one step looks at. */
#define SITES_A_STEP 8u

/* Store in `sites` the GVAs of the sites to arm: of the next ones, those that have no point. Returns their number. */
static unsigned choose(struct detect *d, uint64_t sites[SITES_A_STEP])
{
	unsigned n = 0;

	pthread_mutex_lock(&d->lock);
	for (unsigned i = 0; i < SITES_A_STEP; i++) {
		sites[n] = fates_site(locks_fates(d->locks));
		n += sites[n] && !points_find(&d->points, sites[n]);
	}
	pthread_mutex_unlock(&d->lock);
	return n;
}

void fate_sites_step(struct detect *d, struct fate_sites *sites, uint64_t now)
{
	double rate = RATE_SHARE * d->config.rate, most = SAVED_SECONDS * rate + 1;
	uint64_t chosen[SITES_A_STEP];
	unsigned n;

	if (sites->last_ns)
		sites->budget += (double)(now - sites->last_ns) / 1e9 * rate;
	sites->budget = sites->budget > most ? most : sites->budget;
	sites->last_ns = now;
	n = sites->budget > 0 ? choose(d, chosen) : 0;
	if (!n)
		return;
	target_enter(d->target);
	/* Other text may be at the address by now, if a module was unloaded. */
	for (unsigned i = 0; i < n && sites->budget > 0; i++)
		sites->budget -= pool_has_site(d->sampler.pool, chosen[i]) && arm_site(d, chosen[i], ARM_CHANCE) == ARMED;
	target_leave(d->target);
}
