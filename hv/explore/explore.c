// SPDX-License-Identifier: GPL-2.0-or-later
/* Explores: boots the guest, records both programs, finds candidates, and runs the trials one after another (explore.h). */
#include "hv/explore/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/clock.h"
#include "hv/explore/base.h"
#include "hv/explore/candidates.h"
#include "hv/explore/kernel.h"
#include "hv/explore/message.h"
#include "hv/explore/record.h"
#include "hv/explore/trials.h"

#define NS_PER_MS 1000000u

struct explore {
	const struct explore_config *config;
	struct explore_result *result;
	struct base base;
	struct kernel kernel;
	struct recordings recordings;
};

/* ---- the candidates ---- */

static int find_kernel(struct explore *e, struct err *err)
{
	struct x86_regs regs;
	const uint8_t *id;
	size_t len;

	if (record_kernel(&e->base, e->config, &regs, err) < 0 || kernel_open(&e->kernel, &e->base, &regs, err) < 0)
		return -1;
	kernel_find_spins(&e->kernel, &e->base);
	if (kernel_find_also(&e->kernel, e->config, &e->base, err) < 0)
		return -1;
	snprintf(e->result->banner, sizeof(e->result->banner), "%s", guest_banner(e->kernel.guest));
	clean_field(e->result->banner, sizeof(e->result->banner));
	len = guest_build_id(e->kernel.guest, &id);
	for (size_t i = 0; 2 * i + 2 < EXPLORE_BUILD_MAX && i < len; i++)
		snprintf(e->result->build_id + 2 * i, 3, "%02x", id[i]);
	e->result->slide = guest_slide(e->kernel.guest);
	return 0;
}

static void say_recorded(const struct explore *e, const char *who, const struct explore_recording *r)
{
	explore_say(e->config,
		    "%s alone: %" PRIu64 " instructions of the kernel in %" PRIu64 " system calls, %" PRIu64
		    " accesses, %" PRIu64 " ms (%s)",
		    who, r->steps, r->entries, r->accesses, r->ns / NS_PER_MS, explore_recorded_word(r->end));
}

/* For each function that --a-also (side 0) or --b-also (side 1) names, say how many of its calls were recorded. */
static void say_calls(const struct explore *e, unsigned side)
{
	const char *const *names = e->config->also[side];

	for (unsigned i = 0; i < EXPLORE_ALSO_MAX && names[i]; i++)
		explore_say(e->config, "%c: calls of %s on CPU %u outside of the program: %" PRIu64, EXPLORE_SIDE_NAMES[side],
			    names[i], side, e->result->recording[side].calls[i]);
}

static int record_all(struct explore *e, struct err *err)
{
	for (unsigned side = 0; side < 2; side++) {
		e->recordings.side[side] = record_side(&e->base, e->config, &e->kernel, side, err);
		if (!e->recordings.side[side])
			return -1;
		e->result->recording[side] = e->recordings.side[side]->summary;
		say_recorded(e, side ? "B" : "A", &e->result->recording[side]);
		say_calls(e, side);
	}
	if (!e->config->baseline)
		return 0;
	e->recordings.baseline = record_baseline(&e->base, e->config, &e->kernel, err);
	if (!e->recordings.baseline)
		return -1;
	e->result->baseline = e->recordings.baseline->summary;
	say_recorded(e, "the baseline program", &e->result->baseline);
	return 0;
}

static int find_candidates(struct explore *e, struct err *err)
{
	if (candidates_find(&e->recordings, &e->kernel, e->result, err) < 0)
		return -1;
	explore_say(e->config, "%u candidates: pairs of instructions that access the same bytes", e->result->candidate_count);
	return 0;
}

/* ---- all ---- */

static int boot(struct explore *e, struct err *err)
{
	uint64_t start = monotonic_ns();

	explore_say(e->config, "booting the guest to the mark");
	if (base_open(&e->base, e->config, err) < 0)
		return -1;
	e->result->boot_ns = monotonic_ns() - start;
	explore_say(e->config, "both programs are at the mark after %" PRIu64 " ms", e->result->boot_ns / NS_PER_MS);
	return 0;
}

int explore_run(const struct explore_config *config, struct explore_result *result, struct err *err)
{
	struct explore e = {.config = config, .result = result, .base.kvm_fd = -1};
	int rc = -1;

	*result = EXPLORE_NOTHING;
	if (boot(&e, err) == 0 && find_kernel(&e, err) == 0 && record_all(&e, err) == 0 && find_candidates(&e, err) == 0)
		rc = config->trials ? trials_run(&e.base, config, &e.kernel, &e.recordings, result, err) : 0;
	for (unsigned side = 0; side < 2; side++)
		recorded_free(e.recordings.side[side]);
	recorded_free(e.recordings.baseline);
	kernel_close(&e.kernel);
	base_close(&e.base);
	return rc;
}

void explore_free(struct explore_result *result)
{
	free(result->candidates);
	free(result->trials);
	*result = EXPLORE_NOTHING;
}
