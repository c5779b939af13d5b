/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/detect/core/code.h"

#include "hv/detect/core/state.h"

int detect_code(struct detect *d, uint64_t gva, void *buf, size_t len)
{
	int ret;

	/* Copy and overlay under one lock. Otherwise a point that is planted in between would leave its INT3 in the copy. */
	detect_enter(d);
	ret = guest_read(d->guest, gva, buf, len);
	if (!ret)
		points_overlay(&d->points, gva, buf, len);
	detect_leave(d);
	return ret;
}
