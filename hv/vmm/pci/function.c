/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A PCI function: its configuration space, its capabilities, and its BARs, which the bus maps where the guest places them. */
#include "hv/vmm/pci/function.h"

#include <assert.h>
#include <string.h>

#include "hv/vmm/layout.h"

/* Offsets of the type 0 header. */
enum {
	OFF_VENDOR = 0x00,
	OFF_DEVICE = 0x02,
	OFF_COMMAND = 0x04,
	OFF_STATUS = 0x06,
	OFF_REVISION = 0x08,
	OFF_CLASS = 0x09,
	OFF_CACHE_LINE = 0x0c,
	OFF_BAR = 0x10,
	OFF_BAR_END = 0x28,
	OFF_SUBSYSTEM_VENDOR = 0x2c,
	OFF_SUBSYSTEM = 0x2e,
	OFF_CAPABILITIES = 0x34,
	OFF_LINE = 0x3c,
	OFF_PIN = 0x3d,
	OFF_FIRST_CAPABILITY = 0x40,
};

#define STATUS_CAPABILITIES 0x10 /* the function has a capability list */
#define BAR_WIDE 4		 /* a 64-bit memory BAR */

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

void pci_function_init(struct pci_function *fn, const struct pci_id *id, const struct pci_ops *ops, void *ctx)
{
	memset(fn, 0, sizeof(*fn));
	fn->ops = ops;
	fn->ctx = ctx;
	fn->free = OFF_FIRST_CAPABILITY;
	put(fn->config + OFF_VENDOR, id->vendor, 2);
	put(fn->config + OFF_DEVICE, id->device, 2);
	put(fn->config + OFF_REVISION, id->revision, 1);
	put(fn->config + OFF_CLASS, id->class, 3);
	put(fn->config + OFF_SUBSYSTEM_VENDOR, id->subsystem_vendor, 2);
	put(fn->config + OFF_SUBSYSTEM, id->subsystem, 2);
	put(fn->config + OFF_PIN, id->intx, 1); /* 1: INTA# */
	put(fn->writable + OFF_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_NO_INTX, 2);
	put(fn->writable + OFF_CACHE_LINE, 0xff, 1);
	put(fn->writable + OFF_LINE, 0xff, 1);
}

void pci_function_bar(struct pci_function *fn, unsigned bar, uint64_t len, bool wide, const struct bus_ops *ops, void *dev)
{
	unsigned off = OFF_BAR + 4 * bar;

	assert(bar + wide < PCI_BARS && len >= 16 && !(len & (len - 1)));
	fn->bar[bar] = (struct pci_bar){.len = len, .wide = wide, .ops = ops, .dev = dev};
	put(fn->config + off, wide ? BAR_WIDE : 0, 4);
	put(fn->writable + off, ~(len - 1), wide ? 8 : 4);
}

unsigned pci_function_capability(struct pci_function *fn, uint8_t id, const void *body, size_t len)
{
	unsigned at = fn->free;

	assert(at + 2 + len <= PCI_CONFIG_LEN);
	fn->config[at] = id;
	memcpy(fn->config + at + 2, body, len);
	fn->config[fn->last_capability ? fn->last_capability + 1 : OFF_CAPABILITIES] = (uint8_t)at;
	fn->config[OFF_STATUS] |= STATUS_CAPABILITIES;
	fn->last_capability = at;
	fn->free = (unsigned)(at + 2 + len + 3) & ~3u;
	return at;
}

uint64_t pci_function_bar_gpa(const struct pci_function *fn, unsigned bar)
{
	return get(fn->config + OFF_BAR + 4 * bar, fn->bar[bar].wide ? 8 : 4) & ~(uint64_t)15;
}

void pci_function_place_bar(struct pci_function *fn, unsigned bar, uint64_t gpa)
{
	put(fn->config + OFF_BAR + 4 * bar, gpa | (fn->bar[bar].wide ? BAR_WIDE : 0), fn->bar[bar].wide ? 8 : 4);
}

uint32_t pci_function_read(struct pci_function *fn, unsigned offset, unsigned size)
{
	if (fn->ops->config_read)
		fn->ops->config_read(fn->ctx, offset, size);
	return (uint32_t)get(fn->config + offset, size);
}

static void put_byte(struct pci_function *fn, unsigned offset, uint8_t byte)
{
	uint8_t mask = fn->writable[offset];

	fn->config[offset] = (uint8_t)((fn->config[offset] & ~mask) | (byte & mask));
}

void pci_function_put(struct pci_function *fn, const uint8_t config[PCI_CONFIG_LEN])
{
	for (unsigned i = 0; i < PCI_CONFIG_LEN; i++)
		put_byte(fn, i, config[i]);
	fn->command = (uint16_t)get(fn->config + OFF_COMMAND, 2);
}

void pci_function_write(struct pci_function *fn, unsigned offset, unsigned size, uint32_t value)
{
	for (unsigned i = 0; i < size; i++)
		put_byte(fn, offset + i, (uint8_t)(value >> 8 * i));
	fn->command = (uint16_t)get(fn->config + OFF_COMMAND, 2);
	if (fn->ops->config_written)
		fn->ops->config_written(fn->ctx, offset, size);
}

/* ---- where the BARs are decoded ---- */

static uint64_t wanted_gpa(const struct pci_function *fn, unsigned bar)
{
	uint64_t gpa = pci_function_bar_gpa(fn, bar), len = fn->bar[bar].len;

	if (!(fn->command & PCI_COMMAND_MEMORY) || gpa < PCI_WINDOW_GPA || gpa >= PCI_WINDOW_END_GPA ||
	    len > PCI_WINDOW_END_GPA - gpa)
		return 0;
	return gpa;
}

static void move_bar(struct pci_function *fn, unsigned bar, uint64_t gpa, struct bus *bus)
{
	struct pci_bar *b = &fn->bar[bar];
	const struct bus_range range = {BUS_MMIO, gpa, b->len, b->ops, b->dev};

	if (b->gpa)
		bus_remove(bus, BUS_MMIO, b->gpa);
	/* If the guest sets two BARs to overlapping addresses, the bus refuses the second BAR, which then stays unmapped. */
	b->gpa = gpa && bus_add(bus, &range, NULL) == 0 ? gpa : 0;
	if (fn->ops->bar_moved)
		fn->ops->bar_moved(fn->ctx, bar, b->gpa);
}

void pci_function_map(struct pci_function *fn, struct bus *bus)
{
	for (unsigned i = 0; i < PCI_BARS; i++) {
		if (fn->bar[i].len && wanted_gpa(fn, i) != fn->bar[i].gpa)
			move_bar(fn, i, wanted_gpa(fn, i), bus);
	}
}
