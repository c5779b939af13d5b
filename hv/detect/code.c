/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/detect/code.h"

#include "hv/detect/state.h"

int detect_code(struct detect *d, uint64_t gva, void *buf, size_t len)
{
	int ret;

	/* The lock covers copy and overlay: a point planted or removed in between would be taken for the guest's own byte. */
	detect_enter(d);
	ret = guest_read(d->guest, gva, buf, len);
	if (!ret)
		points_overlay(&d->points, gva, buf, len);
	detect_leave(d);
	return ret;
}
