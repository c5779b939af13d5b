/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/vmm/dev/bus.h"

#include <assert.h>
#include <string.h>

void bus_add(struct bus *bus, uint16_t base, uint16_t len, const struct port_ops *ops, void *dev)
{
	assert(bus->n < BUS_MAX_DEVICES);
	bus->range[bus->n++] = (struct port_range){base, len, ops, dev};
}

static const struct port_range *find(const struct bus *bus, uint32_t port, unsigned size)
{
	for (unsigned i = 0; i < bus->n; i++) {
		const struct port_range *r = &bus->range[i];

		if (port >= r->base && port + size <= (uint32_t)r->base + r->len)
			return r;
	}
	return NULL;
}

static void access_range(const struct port_range *r, uint16_t port, bool write, unsigned size, uint8_t *data)
{
	uint32_t value = 0;

	if (write) {
		memcpy(&value, data, size);
		r->ops->write(r->dev, port - r->base, size, value);
	} else {
		value = r->ops->read(r->dev, port - r->base, size);
		memcpy(data, &value, size);
	}
}

void bus_access(const struct bus *bus, uint16_t port, bool write, unsigned size, uint8_t *data)
{
	const struct port_range *r = find(bus, port, size);

	if (r) {
		access_range(r, port, write, size, data);
		return;
	}
	for (unsigned i = 0; i < size; i++) {
		r = find(bus, (uint32_t)port + i, 1);
		if (r)
			access_range(r, (uint16_t)(port + i), write, 1, data + i);
		else if (!write)
			data[i] = 0xff;
	}
}
