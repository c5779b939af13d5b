/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bus: finds the device for an access of the guest to a port (KVM_EXIT_IO) or to a guest-physical address that is not RAM
 * (KVM_EXIT_MMIO). One table holds the ranges of both address spaces. Any thread may add and remove ranges while vCPUs run,
 * because a guest may reprogram a PCI BAR at any time. A device may add and remove ranges from within its own read() or
 * write().
 *
 * Locking: an access finds its range under a sequence counter and takes no lock. The counter is odd during a change. An access
 * searches again if the counter was odd or has changed. A mutex serialises changes. Reasons for a sequence counter instead of a
 * reader-writer lock:
 *  - Every exit of every vCPU searches here, and changes are rare. A reader writes nothing, so no cache line moves between
 *    vCPUs.
 *  - A vCPU thread that the detector holds in the middle of an access holds no lock.
 *  - The table is part of struct bus, so no old table has to be freed after its last reader.
 * The device is called after the search. So a device may sleep, take its own lock, and change the bus. Each device locks its
 * own state.
 *
 * bus_remove() does not wait for accesses. When it returns, another thread that found the range earlier may still be calling
 * the device, or may be about to call it. So a device that was ever on the bus is freed only after the vCPU threads have ended.
 *
 * The guest chooses address, size, count and data. A device sees only accesses of 1, 2, 4 or 8 bytes that lie completely in its
 * range.
 */
#ifndef OUTRIDER_VMM_BUS_BUS_H
#define OUTRIDER_VMM_BUS_BUS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

#define BUS_MAX_RANGES 128
#define BUS_PORTS 0x10000u /* number of addresses in BUS_PORT */

enum bus_space {
	BUS_PORT, /* an address is a port number */
	BUS_MMIO, /* an address is a GPA */
};

/*
 * A device's functions for an access of `size` bytes at `offset` in the device's range. `size` is 1, 2, 4 or (in BUS_MMIO) 8,
 * and offset + size is at most the range's length. The value is little-endian, as the guest's registers are. The upper bytes of
 * the value, beyond `size`, are 0 for write(), and are ignored for read(). Several vCPU threads may call these functions at the
 * same time.
 */
struct bus_ops {
	uint64_t (*read)(void *dev, uint64_t offset, unsigned size);
	void (*write)(void *dev, uint64_t offset, unsigned size, uint64_t value);
};

struct bus_range {
	enum bus_space space;
	uint64_t base; /* the first address */
	uint64_t len;  /* bytes */
	const struct bus_ops *ops;
	void *dev; /* the first argument of `ops` */
};

/*
 * A range in the table. Each member is atomic, because an access may read the slot during a change. (The access then searches
 * again.)
 */
struct bus_slot {
	_Atomic(enum bus_space) space;
	_Atomic(uint64_t) base;
	_Atomic(uint64_t) len;
	_Atomic(const struct bus_ops *) ops;
	_Atomic(void *) dev;
};

struct bus {
	pthread_mutex_t lock;		      /* serialises bus_add() and bus_remove() */
	atomic_uint changes;		      /* counts up at the start and at the end of each change */
	atomic_uint count;		      /* slots in use, at most BUS_MAX_RANGES */
	struct bus_slot slot[BUS_MAX_RANGES]; /* sorted by space and address; no two ranges overlap */
};

void bus_init(struct bus *bus);

/* Destroy the bus, after the last bus_access(). Does not free the devices. */
void bus_destroy(struct bus *bus);

/*
 * Add a device's range to the bus. *range is copied; `ops` and `dev` must outlive every access. Returns 0, or -1 with
 * EXIT_INTERNAL and a message with the range and the reason: the range is empty, exceeds its address space or overlaps a range
 * on the bus, or the bus has BUS_MAX_RANGES ranges already. The bus is then unchanged. The caller must avoid the addresses of
 * RAM and of KVM's interrupt controllers: KVM serves them without an exit, so an access to them never reaches the bus.
 */
int bus_add(struct bus *bus, const struct bus_range *range, struct err *err);

/*
 * Remove the range that begins at `base`. An access that begins after this function has returned does not find the range.
 * Returns false if no range begins at `base`.
 */
bool bus_remove(struct bus *bus, enum bus_space space, uint64_t base);

/*
 * Make one access of `size` (1 to 8) bytes, in the form of KVM_EXIT_IO and KVM_EXIT_MMIO: a write takes the bytes from `data`,
 * a read stores them to `data`. Bytes that no range claims read as all ones, and a write to them is dropped, as on an ISA or
 * PCI bus. An access that a range claims only in part, or whose size is not a power of two (KVM splits an MMIO access at a
 * page's end), is made byte by byte. Any other access is one call of the device.
 */
void bus_access(const struct bus *bus, enum bus_space space, uint64_t address, bool write, unsigned size, uint8_t *data);

#endif
