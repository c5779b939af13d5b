// SPDX-License-Identifier: GPL-2.0-or-later
/* Arms one site (arm.h): decodes its instruction, and plants a sample point there. */
#include "hv/detect/steer/arm.h"

#include "hv/base/clock.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "hv/detect/steer/callees.h"
#include "hv/detect/steer/pool.h"
#include "hv/race/site.h"

static bool is_armed(struct detect *d, uint64_t addr)
{
	bool armed;

	pthread_mutex_lock(&d->lock);
	armed = points_find(&d->points, addr);
	pthread_mutex_unlock(&d->lock);
	return armed;
}

/* Returns the coverage counts of the site at this address, or NULL if coverage is off or the address has no symbol. */
static struct coverage_counts *counts_of(struct detect *d, uint64_t addr)
{
	struct coverage_counts *counts;
	struct guest_symbol symbol = {0};
	char function[SITE_NAME_MAX];

	if (!d->coverage)
		return NULL;
	counts = coverage_find(d->coverage, addr);
	if (counts || guest_symbol_at(d->guest, addr, &symbol))
		return counts;
	site_function(&symbol, function);
	return coverage_add(d->coverage, addr, function, (uint32_t)(addr - symbol.addr),
			    pool_function_sites(d->sampler.pool, addr));
}

enum arm_result arm_site(struct detect *d, uint64_t addr, enum arm_why why)
{
	struct coverage_counts *counts;
	struct point *point = NULL;
	uint64_t gpa;
	size_t len = X86_PAGE_SIZE - (addr & (X86_PAGE_SIZE - 1)); /* the next page may be unmapped */
	uint8_t code[INSN_MAX_LEN];
	struct insn insn;
	enum arm_result result = REFUSED;

	if (!addr)
		return NONE;
	if (is_armed(d, addr))
		return ARMED_ALREADY;
	if (len >= sizeof(code) || detect_code(d, addr, code, sizeof(code)) == 0)
		len = sizeof(code);
	if (detect_code(d, addr, code, len) || guest_translate(d->guest, addr, &gpa) ||
	    !insn_decode(d->sampler.decoder, code, len, addr, &insn) || !pool_is_site(d->sampler.pool, &insn))
		return REFUSED;

	counts = counts_of(d, addr);
	detect_enter(d);
	if (points_find(&d->points, addr))
		result = ARMED_ALREADY;
	else if (guest_text_state(d->guest, addr) == GUEST_TEXT_FINAL)
		point = points_plant(&d->points, &insn, gpa);
	if (point) {
		point->again = why == ARM_AGAIN;
		point->steered = why == ARM_STEERED;
		point->callee = d->callees && callees_has(d->callees, addr);
		point->counts = counts;
		if (counts)
			counts->armed++;
		d->points.again += point->again;
		result = ARMED;
	}
	if (!d->life.started_ns && result == ARMED) {
		d->life.started_ns = monotonic_ns();
		target_stats(d->target, &d->life.stats_before);
	}
	detect_leave(d);
	return result;
}
