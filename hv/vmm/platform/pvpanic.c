/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulates the pvpanic device: a port to which the guest's driver writes when its kernel panics. */
#include "hv/vmm/platform/pvpanic.h"

enum { PANICKED = 1, CRASH_LOADED = 2 };

static uint64_t pvpanic_read(void *dev, uint64_t offset, unsigned size)
{
	(void)dev;
	(void)offset;
	(void)size;
	return PANICKED | CRASH_LOADED; /* the events that the guest may report */
}

static void pvpanic_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct pvpanic *pv = dev;

	(void)offset;
	(void)size;
	/* After the event CRASH_LOADED the guest continues: it boots the crash kernel that it has loaded. */
	if (value & PANICKED)
		power_end(&pv->power, VM_END_PANIC, "the guest reported a kernel panic");
}

const struct bus_ops pvpanic_ops = {.read = pvpanic_read, .write = pvpanic_write};
