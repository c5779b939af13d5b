/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines that connect a device to the machine besides the bus: an interrupt line, and the line by which the device ends the
 * machine.
 */
#ifndef OUTRIDER_VMM_BUS_LINES_H
#define OUTRIDER_VMM_BUS_LINES_H

#include <stdbool.h>

#include "hv/vmm/vmm.h"

/* An interrupt line into KVM's 8259s and I/O APIC. Any thread may call set(), even while it holds a device's lock. */
struct irq_line {
	void (*set)(void *ctx, unsigned gsi, bool level);
	void *ctx;
	unsigned gsi;
};

static inline void irq_set(const struct irq_line *line, bool level)
{
	line->set(line->ctx, line->gsi, level);
}

/* The line by which a device ends the machine: on power-off, on reset, or when the guest reports a panic. */
struct power_line {
	void (*end)(void *ctx, enum vm_end end, const char *why);
	void *ctx;
};

static inline void power_end(const struct power_line *line, enum vm_end end, const char *why)
{
	line->end(line->ctx, end, why);
}

#endif
