// SPDX-License-Identifier: GPL-2.0-or-later
/* Arms the sites of the accesses whose data are followed (fate_sites.h). */
#include "hv/detect/steer/fate_sites.h"

#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/arm.h"

/* These sites may have up to a quarter of the requested hits/s. */
#define RATE_SHARE 0.25
/* Maximum number of hits that the budget saves up, in seconds of this rate. */
#define SAVED_SECONDS 0.1
/* Number of sites that one step tries to arm. */
#define SITES_A_STEP 8u

static uint64_t next_site(struct detect *d)
{
	uint64_t site;

	pthread_mutex_lock(&d->lock);
	site = fates_site(locks_fates(d->locks));
	pthread_mutex_unlock(&d->lock);
	return site;
}

void fate_sites_step(struct detect *d, struct fate_sites *sites, uint64_t now)
{
	double rate = RATE_SHARE * d->config.rate, most = SAVED_SECONDS * rate + 1;

	if (!d->locks)
		return;
	if (sites->last_ns)
		sites->budget += (double)(now - sites->last_ns) / 1e9 * rate;
	sites->budget = sites->budget > most ? most : sites->budget;
	sites->last_ns = now;
	for (unsigned i = 0; i < SITES_A_STEP && sites->budget > 0; i++)
		sites->budget -= arm_site(d, next_site(d), ARM_CHANCE) == ARMED;
}
