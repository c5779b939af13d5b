/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a machine that a virtio device needs: RAM, the PCI bus, and workers whose threads are never started. The fuzz
 * target calls the device on its own thread instead, so that an input always does the same.
 */
#ifndef OUTRIDER_TESTS_FUZZ_RIG_H
#define OUTRIDER_TESTS_FUZZ_RIG_H

#include <fcntl.h>

#include "hv/vmm/dma.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/virtio/internal.h"
#include "hv/vmm/virtio/virtio.h"
#include "tests/fuzz/fuzz.h"

#define RIG_RAM (64u << 20)

/* Where a queue's parts are put when an input does not say otherwise. Each queue has 64 KiB from RIG_RINGS on. */
#define RIG_RINGS 0x10000u
#define RIG_RING_STEP 0x10000u
#define RIG_AVAIL 0x2000u
#define RIG_USED 0x3000u
#define RIG_INDIRECT 0x4000u
/* Where requests' buffers are. */
#define RIG_DATA 0x100000u

/* A descriptor, and the flags of one (virtio 1.2, 2.7.5). */
struct rig_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};

enum { DESC_NEXT = 1, DESC_WRITE = 2, DESC_INDIRECT = 4 };

struct rig {
	struct ram ram;
	struct dma dma;
	struct bus bus;
	struct pci pci;
	struct workers workers;
	struct virtio_bus virtio;
	struct virtio *device;
	uint16_t avail[VIRTIO_MAX_QUEUES]; /* the available index of each queue, as the driver has it */
};

static inline int rig_msi_open(void *ctx, unsigned *gsi, struct err *err)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)ctx;
	(void)err;
	*gsi = 24;
	fuzz_require(fd >= 0);
	return fd;
}

static inline void rig_msi_route(void *ctx, unsigned gsi, uint64_t address, uint32_t data)
{
	(void)ctx;
	(void)address;
	(void)data;
	fuzz_require(gsi == 24);
}

static inline void rig_msi_close(void *ctx, unsigned gsi, int fd)
{
	(void)ctx;
	(void)gsi;
	close(fd);
}

static inline bool rig_doorbell(void *ctx, uint64_t gpa, int fd, bool on)
{
	(void)ctx;
	(void)on;
	fuzz_require(gpa >= PCI_WINDOW_GPA && gpa < PCI_WINDOW_END_GPA && fd >= 0);
	return false;
}

static inline void rig_irq(void *ctx, unsigned gsi, bool level)
{
	(void)ctx;
	(void)level;
	fuzz_require(gsi >= PCI_GSI_FIRST && gsi < PCI_GSI_FIRST + PCI_GSI_COUNT);
}

static inline void rig_end(void *ctx, enum vm_end how, const char *why)
{
	(void)ctx;
	(void)how;
	(void)why;
}

static const struct pci_host rig_host = {
	.msi_open = rig_msi_open, .msi_route = rig_msi_route, .msi_close = rig_msi_close, .doorbell = rig_doorbell};

/* Make the machine, without a device. Its RAM is zero. */
static inline void rig_open(struct rig *m)
{
	const struct power_line power = {.end = rig_end};
	const struct irq_line irq = {.set = rig_irq};
	const struct bus_range ports = {BUS_PORT, PCI_PORT, PCI_LEN, &pci_ops, &m->pci},
			       memory = {BUS_MMIO, PCI_ECAM_GPA, PCI_ECAM_LEN, &pci_ecam_ops, &m->pci};

	if (!m->ram.host) {
		fuzz_require(ram_map(&m->ram, RIG_RAM, NULL) == 0);
		/* What an input touched is given back after it, and that is little. */
		madvise(m->ram.host, RIG_RAM, MADV_NOHUGEPAGE);
	}
	dma_init(&m->dma, &m->ram);
	bus_init(&m->bus);
	workers_init(&m->workers, &m->dma);
	pci_init(&m->pci, &m->bus, &power, &irq, &rig_host);
	fuzz_require(bus_add(&m->bus, &ports, NULL) == 0 && bus_add(&m->bus, &memory, NULL) == 0);
	m->virtio = (struct virtio_bus){.pci = &m->pci, .dma = &m->dma, .workers = &m->workers};
	memset(m->avail, 0, sizeof(m->avail));
}

/* The device was freed before. */
static inline void rig_close(struct rig *m)
{
	pci_destroy(&m->pci);
	workers_destroy(&m->workers);
	bus_destroy(&m->bus);
	dma_destroy(&m->dma);
	madvise(m->ram.host, RIG_RAM, MADV_DONTNEED);
}

/* The device that was plugged in, in slot 1. */
static inline struct virtio *rig_device(struct rig *m)
{
	return m->pci.slot[1]->ctx;
}

/* ---- as the driver ---- */

static inline void rig_config(struct rig *m, unsigned slot, unsigned offset, unsigned size, uint32_t value)
{
	uint32_t address = 0x80000000u | slot << 11 | (offset & 0xfc);

	bus_access(&m->bus, BUS_PORT, PCI_PORT, true, 4, (uint8_t *)&address);
	bus_access(&m->bus, BUS_PORT, PCI_PORT + 4 + (offset & 3), true, size, (uint8_t *)&value);
}

/* A register of the device's, at `offset` in its registers BAR. */
static inline void rig_write(struct rig *m, unsigned offset, unsigned size, uint64_t value)
{
	bus_access(&m->bus, BUS_MMIO, rig_device(m)->regs_gpa + offset, true, size, (uint8_t *)&value);
}

static inline uint64_t rig_read(struct rig *m, unsigned offset, unsigned size)
{
	uint64_t value = 0;

	bus_access(&m->bus, BUS_MMIO, rig_device(m)->regs_gpa + offset, false, size, (uint8_t *)&value);
	return value;
}

static inline uint64_t rig_ring(unsigned queue)
{
	return RIG_RINGS + (uint64_t)queue * RIG_RING_STEP;
}

static inline void *rig_at(struct rig *m, uint64_t gpa, size_t len)
{
	return ram_at(&m->ram, gpa, len);
}

/* Initialise the device as a driver does (virtio 1.2, 3.1.1): it takes of the features what `features` has. */
static inline void rig_start(struct rig *m, uint64_t features, uint16_t size)
{
	struct virtio *v = rig_device(m);
	unsigned queues = v->queues;

	rig_config(m, 1, 4, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	rig_write(m, 0x14, 1, 0);
	rig_write(m, 0x14, 1, 1 | 2);
	for (unsigned word = 0; word < 2; word++) {
		rig_write(m, 0, 4, word);
		rig_write(m, 8, 4, word);
		rig_write(m, 0xc, 4, rig_read(m, 4, 4) & ((features | 1ull << 32) >> 32 * word));
	}
	rig_write(m, 0x14, 1, 1 | 2 | 8);
	for (unsigned i = 0; i < queues && i < 16; i++) {
		rig_write(m, 0x16, 2, i);
		rig_write(m, 0x18, 2, size);
		rig_write(m, 0x20, 8, rig_ring(i));
		rig_write(m, 0x28, 8, rig_ring(i) + RIG_AVAIL);
		rig_write(m, 0x30, 8, rig_ring(i) + RIG_USED);
		rig_write(m, 0x1c, 2, 1);
	}
	rig_write(m, 0x14, 1, 1 | 2 | 8 | 4);
}

/* Make the chain that begins at descriptor `head` available. */
static inline void rig_offer(struct rig *m, unsigned queue, uint16_t size, uint16_t head)
{
	uint16_t *ring = rig_at(m, rig_ring(queue) + RIG_AVAIL, 4 + 2 * (size_t)size);

	ring[2 + m->avail[queue] % size] = head;
	ring[1] = ++m->avail[queue];
}

/* Serve a queue as its worker does after a notification, if it does. */
static inline void rig_serve(struct rig *m, unsigned queue)
{
	struct virtio *v = rig_device(m);

	if (queue >= v->queues || !v->running || !v->queue[queue].enabled)
		return;
	dma_serve_begin(&m->dma);
	v->ops->queue_ready(v->dev, queue);
	dma_serve_end(&m->dma);
}

/*
 * Read the requests of an input, and serve them. Each is: a byte for the queue (low 4 bits) and what is special (0x10: the
 * table is indirect, 0x20: more follow before the queue is served, 0x40: the device is initialised again, 0x80: its
 * configuration is read and written), a byte for the number of segments, for each a byte of its flags and two of its length,
 * and what is left up to the next 0xff, or 44 bytes, is the content of the readable segments.
 */
static inline void rig_requests(struct rig *m, uint64_t features, uint16_t size, const uint8_t *data, size_t left)
{
	uint16_t next[16] = {0};

	while (left >= 2) {
		unsigned queue = data[0] & 15, count = 1 + data[1] % 8, special = data[0] & 0xf0;
		bool indirect = special & 0x10;
		uint64_t table = rig_ring(queue) + (indirect ? RIG_INDIRECT : 0), at = RIG_DATA + queue * 0x80000ull;
		struct rig_desc *desc = rig_at(m, table, sizeof(*desc) * 256);
		uint16_t first = indirect ? 0 : next[queue];

		data += 2;
		left -= 2;
		for (unsigned i = 0; i < count && left >= 3; i++) {
			uint16_t slot = (uint16_t)((first + i) % (indirect ? 8 : size));

			desc[slot] = (struct rig_desc){.addr = at,
						       .len = (uint32_t)(data[1] | data[2] << 8),
						       .flags = (uint16_t)((data[0] & DESC_WRITE) | (i + 1 < count)),
						       .next = (uint16_t)((slot + 1) % (indirect ? 8 : size))};
			/* Some descriptors are wrong: out of RAM, indirect inside, the next one is this one. */
			if (data[0] & 0x80)
				desc[slot].addr += (uint64_t)data[0] << 24;
			if (data[0] & 0x40)
				desc[slot].flags |= DESC_INDIRECT;
			if (data[0] & 0x20)
				desc[slot].next = slot;
			if (!(data[0] & 0x80) && !(desc[slot].flags & DESC_WRITE)) {
				size_t fill = desc[slot].len < left - 3 ? desc[slot].len : left - 3;

				fill = fill < 64 ? fill : 64;
				memcpy(rig_at(m, at, fill ? fill : 1), data + 3, fill);
				data += fill;
				left -= fill;
			}
			at += desc[slot].len;
			data += 3;
			left -= 3;
		}
		if (indirect) {
			struct rig_desc *outer = rig_at(m, rig_ring(queue), sizeof(*outer) * 256);

			outer[next[queue]] = (struct rig_desc){.addr = table, .len = 16 * count, .flags = DESC_INDIRECT};
		}
		rig_offer(m, queue, size, next[queue]);
		next[queue] = (uint16_t)((next[queue] + count) % size);
		/* The device's configuration is read, and written with the last byte of the request. */
		if (special & 0x80) {
			unsigned offset = count * 4 - 4;

			rig_write(m, VIRTIO_DEVICE + offset, 1u << count % 4,
				  rig_read(m, VIRTIO_DEVICE + offset, 4) ^ data[-1]);
		}
		if (!(special & 0x20))
			rig_serve(m, queue);
		if (special & 0x40) {
			rig_start(m, features, size);
			memset(m->avail, 0, sizeof(m->avail));
			for (unsigned i = 0; i < 16; i++)
				memset(rig_at(m, rig_ring(i), RIG_RING_STEP), 0, 0x4000);
		}
	}
	for (unsigned i = 0; i < 16; i++)
		rig_serve(m, i);
}

#endif
