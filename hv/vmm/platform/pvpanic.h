/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pvpanic ISA device (QEMU docs/specs/pvpanic.rst): one port, through which a guest that has loaded the driver reports a
 * kernel panic.
 */
#ifndef OUTRIDER_VMM_PLATFORM_PVPANIC_H
#define OUTRIDER_VMM_PLATFORM_PVPANIC_H

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/bus/lines.h"

struct pvpanic {
	struct power_line power;
};

extern const struct bus_ops pvpanic_ops;

#endif
