// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the facts of a scenario that describe the guest's kernel and the date. */
#include <stdio.h>
#include <time.h>

#include "hv/replay/scenario/scenario.h"

void scenario_describe_kernel(struct scenario_facts *f, const char *banner, const uint8_t *id, size_t len, uint64_t slide)
{
	snprintf(f->version, sizeof(f->version), "%s", OUTRIDER_VERSION);
	snprintf(f->banner, sizeof(f->banner), "%s", banner);
	f->slide = slide;
	for (size_t i = 0; i < len && 2 * i + 2 < sizeof(f->build_id); i++)
		snprintf(f->build_id + 2 * i, 3, "%02x", id[i]);
}

void scenario_date(struct scenario_facts *f)
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(f->date, sizeof(f->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}
