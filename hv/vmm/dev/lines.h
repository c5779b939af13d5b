/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a device is wired to besides the bus: an interrupt line, and the line by which it ends the machine.
 */
#ifndef OUTRIDER_VMM_DEV_LINES_H
#define OUTRIDER_VMM_DEV_LINES_H

#include <stdbool.h>

#include "hv/vmm/vmm.h"

/* An interrupt line into KVM's 8259s and I/O APIC. `set` may be called by any thread, and under a device's lock. */
struct irq_line {
	void (*set)(void *ctx, unsigned gsi, bool level);
	void *ctx;
	unsigned gsi;
};

static inline void irq_set(const struct irq_line *line, bool level)
{
	line->set(line->ctx, line->gsi, level);
}

/* How a device ends the machine: by power-off, reset or a panic that the guest reported. */
struct power_line {
	void (*end)(void *ctx, enum vm_end end, const char *why);
	void *ctx;
};

static inline void power_end(const struct power_line *line, enum vm_end end, const char *why)
{
	line->end(line->ctx, end, why);
}

#endif
