/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the i8042 keyboard controller that a PC without a keyboard needs: a status register that is never busy, and the
 * command that pulses the reset line. Linux reboots by that command if other ways fail.
 */
#ifndef OUTRIDER_VMM_PLATFORM_I8042_H
#define OUTRIDER_VMM_PLATFORM_I8042_H

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/bus/lines.h"

struct i8042 {
	struct power_line power;
};

extern const struct bus_ops i8042_data_ops, i8042_command_ops;

#endif
