/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bus: which device answers an access of the guest to a port (KVM_EXIT_IO) or to a guest-physical address that is not RAM
 * (KVM_EXIT_MMIO). Both address spaces are one table of ranges. Any thread may add and remove ranges while vCPUs run, which is
 * what reprogramming a PCI BAR needs; also a device may do so from within its own read() or write().
 *
 * Locking: an access finds its range under a sequence counter and takes no lock. The counter is odd while a change is made, and
 * an access that saw it odd, or saw it move, searches again. Changes take a mutex among themselves. A sequence counter and not
 * a reader-writer lock, because every exit of every vCPU passes here and changes are rare: a reader writes nothing, so vCPUs
 * share no cache line that moves; a vCPU thread that is held back in the middle of an access holds no lock; and no old table
 * has to be kept until its last reader is gone, since the table is part of struct bus. The device is called after the search,
 * so a device may sleep, take its own lock, and change the bus. Each device locks its own state.
 *
 * Hence bus_remove() does not wait: an access on another thread that found the range before may still be in the device, or be
 * about to enter it, when bus_remove() returns. A device that was ever on the bus is freed only after the vCPU threads have
 * ended.
 *
 * The guest chooses address, size, count and data. A device sees only accesses of 1, 2, 4 or 8 bytes that lie in its range as a
 * whole.
 */
#ifndef OUTRIDER_VMM_DEV_BUS_H
#define OUTRIDER_VMM_DEV_BUS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

#define BUS_MAX_RANGES 128
#define BUS_PORTS 0x10000u /* addresses in BUS_PORT */

enum bus_space {
	BUS_PORT, /* an address is a port number */
	BUS_MMIO, /* an address is a GPA */
};

/*
 * What a device does with an access to `size` bytes at `offset` in its range. `size` is 1, 2, 4 or (in BUS_MMIO) 8, and
 * offset + size is at most the range's length. The value is little-endian, as the guest's registers are; bytes of it above
 * `size` are 0 for write() and ignored from read(). Both are called on the vCPU's thread, on several at once.
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

/* A range in the table. Each member is atomic, since an access may read it in the middle of a change and then search again. */
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
	struct bus_slot slot[BUS_MAX_RANGES]; /* by space and address, ascending; no two overlap */
};

void bus_init(struct bus *bus);

/* Only after the last bus_access(). The devices are their owners'. */
void bus_destroy(struct bus *bus);

/*
 * Put a device's range on the bus; *range is copied, `ops` and `dev` must outlive every access. Returns 0, or -1 with
 * EXIT_INTERNAL, which names the range and what is wrong with it, when it is empty, reaches beyond its address space, overlaps
 * a range on the bus, or is one more than BUS_MAX_RANGES; the bus is then as it was. KVM serves RAM and its own interrupt
 * controllers by itself: a range over these is never reached there, and it is the caller who keeps clear of them.
 */
int bus_add(struct bus *bus, const struct bus_range *range, struct err *err);

/*
 * Take the range that begins at `base` off the bus, for every access that begins after this returns. Returns false when no
 * range begins there.
 */
bool bus_remove(struct bus *bus, enum bus_space space, uint64_t base);

/*
 * Make one access of `size` (1 to 8) bytes, as KVM_EXIT_IO and KVM_EXIT_MMIO describe it: a write takes the bytes at `data`, a
 * read leaves them there. Bytes that no range claims read as all ones, and a write to them is dropped, as on an ISA or PCI bus.
 * An access that is claimed in part, or whose size is not a power of two (KVM splits an MMIO access at a page's end), becomes
 * one access for each byte; any other is one, and finds the bus as it was at one moment.
 */
void bus_access(const struct bus *bus, enum bus_space space, uint64_t address, bool write, unsigned size, uint8_t *data);

#endif
