// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/list/fill_internal.h"

#include "hv/campaign/list/sentences.h"
#include "hv/campaign/store/version.h"

const char *fill_text(struct fill *f, const char *text)
{
	return summary_text(f->m, text, f->err) ?: "";
}

const char *fill_line(struct fill *f, const char *text)
{
	return summary_line(f->m, text, f->err) ?: "";
}

const char *fill_time(struct fill *f, int64_t ms)
{
	return fill_text(f, list_stamp(ms, LIST_WORDS));
}

const char *fill_release(struct fill *f, const char *banner)
{
	char release[VERSION_TEXT_MAX];

	version_release(banner, release);
	return fill_text(f, release);
}
