/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports: a small table of ranges, filled while the machine is built and constant after that, so dispatch takes no lock; each
 * device locks its own state. The guest chooses port, size, count and data: a device sees only accesses inside its range.
 */
#ifndef OUTRIDER_VMM_DEV_BUS_H
#define OUTRIDER_VMM_DEV_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/vmm.h"

#define BUS_MAX_DEVICES 16

/* What a device does with an access of `size` (1, 2 or 4) bytes at `offset` in its range; offset + size <= the range's length.
 */
struct port_ops {
	uint32_t (*read)(void *dev, unsigned offset, unsigned size);
	void (*write)(void *dev, unsigned offset, unsigned size, uint32_t value);
};

struct port_range {
	uint16_t base, len;
	const struct port_ops *ops;
	void *dev;
};

struct bus {
	struct port_range range[BUS_MAX_DEVICES];
	unsigned n;
};

/* Add a range; of overlapping ones the first added wins. Building code only: more than BUS_MAX_DEVICES is a bug (assert). */
void bus_add(struct bus *bus, uint16_t base, uint16_t len, const struct port_ops *ops, void *dev);

/*
 * One port access as KVM_EXIT_IO describes it. An access that no range holds whole is split into bytes; what nobody decodes
 * reads as all ones and ignores writes, as an ISA bus does.
 */
void bus_access(const struct bus *bus, uint16_t port, bool write, unsigned size, uint8_t *data);

/* An interrupt line into the in-kernel 8259s and I/O APIC. set() may be called under the device's lock. */
struct irq_line {
	void (*set)(void *ctx, unsigned gsi, bool level);
	void *ctx;
	unsigned gsi;
};

static inline void irq_set(const struct irq_line *line, bool level)
{
	line->set(line->ctx, line->gsi, level);
}

/* How a device ends the machine: power-off, reset, reported panic. */
struct power_line {
	void (*end)(void *ctx, enum vm_end end, const char *why);
	void *ctx;
};

static inline void power_end(const struct power_line *line, enum vm_end end, const char *why)
{
	line->end(line->ctx, end, why);
}

#endif
