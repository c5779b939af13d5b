// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "hv/export/locks.h"

void export_confirm(const struct suspicion *s, char out[EXPORT_CONFIRM_MAX])
{
	static const char *const words[] = {
		[CONFIRM_OPEN] = "not confirmed before the run ended; CPUs had reached the sites",
		[CONFIRM_GIVEN_UP] = "not confirmed; CPUs had reached the sites",
	};

	out[0] = '\0';
	if (s->confirm == CONFIRM_SEEN)
		snprintf(out, EXPORT_CONFIRM_MAX, "the race was seen");
	else if (s->confirm != CONFIRM_NONE)
		snprintf(out, EXPORT_CONFIRM_MAX, "%s %" PRIu64 " and %" PRIu64 " times", words[s->confirm], s->reached[0],
			 s->reached[1]);
}

bool export_locks_shows(const struct export_locks *locks, const struct chart_datum *d)
{
	return d->total && (locks->all || (d->lock[0] && d->writes));
}
