// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/detect/sampler_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/pool.h"

int sampler_rig_setup(void **state, unsigned rate, bool coverage)
{
	struct sampler_rig *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	f->r = rig_new(2, 4);
	if (!f->r)
		return -1;
	f->r->config.rate = rate;
	f->r->config.coverage = coverage;
	rig_remake(f->r);
	f->now = monotonic_ns();
	return 0;
}

int sampler_rig_teardown(void **state)
{
	struct sampler_rig *f = *state;

	rig_free(f->r);
	free(f);
	return 0;
}

int sampler_rig_begin(struct sampler_rig *f)
{
	int64_t n = pool_add(f->r->d->sampler.pool, f, f->r->guest.symtab, RIG_TEXT, RIG_TEXT + RIG_TEXT_SIZE, NULL);

	rate_init(f->r->d, &f->control);
	return (int)n;
}

void sampler_rig_tick(struct sampler_rig *f)
{
	f->now += TICK_NS;
	f->control.rest_until = 0; /* real time, which the test does without */
	rate_step(f->r->d, &f->control, f->now);
}
