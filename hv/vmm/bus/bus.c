/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the device for each access of the guest to a port or a device register, in a table of address ranges. A search takes no
 * lock: it repeats if the table was changed meanwhile.
 */
#include "hv/vmm/bus/bus.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

void bus_init(struct bus *bus)
{
	memset(bus, 0, sizeof(*bus));
	pthread_mutex_init(&bus->lock, NULL);
}

void bus_destroy(struct bus *bus)
{
	pthread_mutex_destroy(&bus->lock);
}

/* ---- the table: each member is read and written atomically ---- */

static struct bus_range get_slot(const struct bus *bus, unsigned i)
{
	const struct bus_slot *slot = &bus->slot[i];

	return (struct bus_range){slot->space, slot->base, slot->len, slot->ops, slot->dev};
}

static void set_slot(struct bus *bus, unsigned i, const struct bus_range *range)
{
	struct bus_slot *slot = &bus->slot[i];

	slot->space = range->space;
	slot->base = range->base;
	slot->len = range->len;
	slot->ops = range->ops;
	slot->dev = range->dev;
}

/*
 * Returns the number of ranges that begin at or below the address. During a change of the table the result may be any number up
 * to BUS_MAX_RANGES.
 */
static unsigned count_up_to(const struct bus *bus, enum bus_space space, uint64_t address)
{
	unsigned low = 0, high = bus->count;

	while (low < high) {
		unsigned mid = (low + high) / 2;
		enum bus_space at = bus->slot[mid].space;

		if (at < space || (at == space && bus->slot[mid].base <= address))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool holds(const struct bus_range *range, enum bus_space space, uint64_t address, unsigned size)
{
	uint64_t offset = address - range->base;

	return range->space == space && address >= range->base && offset < range->len && size <= range->len - offset;
}

/* The part of an access that lies in a range. */
enum claim { CLAIM_NONE, CLAIM_PART, CLAIM_WHOLE };

/*
 * Find the range that claims an access. The ranges in the table are sorted and do not overlap. So it is enough to test the last
 * range that begins at or below the access's last byte: if that range does not contain a byte of the access, no range does.
 */
static enum claim search(const struct bus *bus, enum bus_space space, uint64_t address, unsigned size, struct bus_range *out)
{
	unsigned n = count_up_to(bus, space, address + size - 1);

	if (!n)
		return CLAIM_NONE;
	*out = get_slot(bus, n - 1);
	if (holds(out, space, address, size))
		return CLAIM_WHOLE;
	return holds(out, space, address, 1) || (out->space == space && out->base > address) ? CLAIM_PART : CLAIM_NONE;
}

static enum claim find_range(const struct bus *bus, enum bus_space space, uint64_t address, unsigned size,
			     struct bus_range *out)
{
	enum claim claim;
	unsigned before;

	do {
		/*
		 * The table is being changed. Yield, because the thread that changes the table may be waiting for this host
		 * CPU.
		 */
		while ((before = bus->changes) & 1)
			sched_yield();
		claim = search(bus, space, address, size, out);
	} while (bus->changes != before);
	return claim;
}

/* ---- changes ---- */

static int refuse(struct err *err, const struct bus_range *range, const char *why)
{
	return err_set(err, EXIT_INTERNAL, "%s range of %llu bytes at 0x%llx %s", range->space == BUS_PORT ? "port" : "MMIO",
		       (unsigned long long)range->len, (unsigned long long)range->base, why);
}

static int check_bounds(const struct bus_range *range, struct err *err)
{
	uint64_t last = range->space == BUS_PORT ? BUS_PORTS - 1 : UINT64_MAX;

	if (!range->len)
		return refuse(err, range, "is empty");
	if (range->base > last || range->len - 1 > last - range->base)
		return refuse(err, range, "reaches beyond its address space");
	return 0;
}

/* Returns true if the ranges overlap: then one range contains the first byte of the other range. */
static bool overlap(const struct bus_range *a, const struct bus_range *b)
{
	return holds(a, b->space, b->base, 1) || holds(b, a->space, a->base, 1);
}

/* Insert the range at the slot `at`. The ranges from that slot on move up by one slot. */
static void insert(struct bus *bus, unsigned at, const struct bus_range *range)
{
	bus->changes++;
	for (unsigned i = bus->count; i > at; i--) {
		struct bus_range moved = get_slot(bus, i - 1);

		set_slot(bus, i, &moved);
	}
	set_slot(bus, at, range);
	bus->count++;
	bus->changes++;
}

static void take_out(struct bus *bus, unsigned at)
{
	bus->changes++;
	bus->count--;
	for (unsigned i = at; i < bus->count; i++) {
		struct bus_range moved = get_slot(bus, i + 1);

		set_slot(bus, i, &moved);
	}
	bus->changes++;
}

static int add_locked(struct bus *bus, const struct bus_range *range, struct err *err)
{
	unsigned at = count_up_to(bus, range->space, range->base);
	char why[80];

	/* The ranges in the table are sorted and do not overlap, so only the neighbours can overlap the new range. */
	for (unsigned i = at ? at - 1 : 0; i < bus->count && i <= at; i++) {
		struct bus_range neighbour = get_slot(bus, i);

		if (overlap(range, &neighbour)) {
			snprintf(why, sizeof(why), "overlaps the %llu bytes at 0x%llx", (unsigned long long)neighbour.len,
				 (unsigned long long)neighbour.base);
			return refuse(err, range, why);
		}
	}
	if (bus->count == BUS_MAX_RANGES)
		return refuse(err, range, "is one too many for the bus");
	insert(bus, at, range);
	return 0;
}

int bus_add(struct bus *bus, const struct bus_range *range, struct err *err)
{
	int rc;

	if (check_bounds(range, err) < 0)
		return -1;
	pthread_mutex_lock(&bus->lock);
	rc = add_locked(bus, range, err);
	pthread_mutex_unlock(&bus->lock);
	return rc;
}

bool bus_remove(struct bus *bus, enum bus_space space, uint64_t base)
{
	unsigned n;
	bool found;

	pthread_mutex_lock(&bus->lock);
	n = count_up_to(bus, space, base);
	found = n && bus->slot[n - 1].space == space && bus->slot[n - 1].base == base;
	if (found)
		take_out(bus, n - 1);
	pthread_mutex_unlock(&bus->lock);
	return found;
}

/* ---- accesses ---- */

static void access_range(const struct bus_range *range, uint64_t address, bool write, unsigned size, uint8_t *data)
{
	uint64_t value = 0;

	if (write) {
		memcpy(&value, data, size);
		range->ops->write(range->dev, address - range->base, size, value);
	} else {
		value = range->ops->read(range->dev, address - range->base, size);
		memcpy(data, &value, size);
	}
}

static void access_bytes(const struct bus *bus, enum bus_space space, uint64_t address, bool write, unsigned size,
			 uint8_t *data)
{
	struct bus_range range;

	for (unsigned i = 0; i < size; i++) {
		if (find_range(bus, space, address + i, 1, &range) == CLAIM_WHOLE)
			access_range(&range, address + i, write, 1, data + i);
		else if (!write)
			data[i] = 0xff;
	}
}

void bus_access(const struct bus *bus, enum bus_space space, uint64_t address, bool write, unsigned size, uint8_t *data)
{
	struct bus_range range;
	enum claim claim = find_range(bus, space, address, size, &range);

	if (claim == CLAIM_NONE) {
		if (!write)
			memset(data, 0xff, size);
	} else if (claim == CLAIM_WHOLE && !(size & (size - 1))) {
		access_range(&range, address, write, size, data);
	} else {
		access_bytes(bus, space, address, write, size, data);
	}
}
