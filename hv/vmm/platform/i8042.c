/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulates the part of the i8042 keyboard controller by which Linux can reboot a PC without a keyboard. */
#include "hv/vmm/platform/i8042.h"

/* Commands 0xf0 to 0xff pulse the output lines whose bit is clear. Bit 0 is the reset line. */
#define COMMAND_PULSE 0xf0

static uint64_t i8042_read(void *dev, uint64_t offset, unsigned size)
{
	(void)dev;
	(void)offset;
	(void)size;
	return 0; /* On the data port, 0 means no data. On the status port, 0 means that both buffers are empty. */
}

static void data_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	(void)dev;
	(void)offset;
	(void)size;
	(void)value;
}

static void command_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct i8042 *kbc = dev;

	(void)offset;
	(void)size;
	if ((value & 0xf0) == COMMAND_PULSE && !(value & 1))
		power_end(&kbc->power, VM_END_REBOOT, "keyboard controller reset");
}

const struct bus_ops i8042_data_ops = {.read = i8042_read, .write = data_write};
const struct bus_ops i8042_command_ops = {.read = i8042_read, .write = command_write};
