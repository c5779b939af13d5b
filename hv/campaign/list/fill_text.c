// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/list/fill_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *fill_text(struct fill *f, const char *text)
{
	return summary_text(f->m, text, f->err);
}

const char *fill_line(struct fill *f, const char *text)
{
	return summary_line(f->m, text, f->err);
}

const char *fill_time(struct fill *f, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm broken;
	char text[64] = "";

	if (ms && gmtime_r(&seconds, &broken))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &broken);
	return fill_text(f, text);
}

const char *fill_release(struct fill *f, const char *banner)
{
	static const char before[] = "Linux version ";
	char release[128];

	if (strncmp(banner, before, strlen(before)) != 0)
		return fill_text(f, "");
	banner += strlen(before);
	snprintf(release, sizeof(release), "%.*s", (int)strcspn(banner, " "), banner);
	return fill_text(f, release);
}
