/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the guest's code with the original bytes in place of the INT3s of the detector. */
#include "hv/detect/core/code.h"

#include "hv/detect/core/state.h"

int detect_code(struct detect *d, uint64_t gva, void *buf, size_t len)
{
	int ret;

	/*
	 * Copy the code, and replace the detector's INT3s in the copy, without releasing the lock in between. Otherwise the
	 * INT3 of a point that another thread plants in between would stay in the copy.
	 */
	detect_enter(d);
	ret = guest_read(d->guest, gva, buf, len);
	if (!ret)
		points_overlay(&d->points, gva, buf, len);
	detect_leave(d);
	return ret;
}
