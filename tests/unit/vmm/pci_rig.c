/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/vmm/pci_rig.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/layout.h"

/* ---- the host's side ---- */

static int msi_open(void *ctx, unsigned *gsi, struct err *err)
{
	struct pci_rig *rig = ctx;

	for (unsigned i = 0; i < RIG_MESSAGES; i++) {
		if (rig->message[i].fd >= 0)
			continue;
		rig->message[i].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_true(rig->message[i].fd >= 0);
		*gsi = GSI_COUNT + i;
		return rig->message[i].fd;
	}
	return err_set(err, EXIT_INTERNAL, "no more messages");
}

static void msi_route(void *ctx, unsigned gsi, uint64_t address, uint32_t data)
{
	struct pci_rig *rig = ctx;
	struct rig_message *m = &rig->message[gsi - GSI_COUNT];

	assert_true(m->fd >= 0);
	m->address = address;
	m->data = data;
	m->routed++;
}

static void msi_close(void *ctx, unsigned gsi, int fd)
{
	struct pci_rig *rig = ctx;

	assert_int_equal(rig->message[gsi - GSI_COUNT].fd, fd);
	rig->message[gsi - GSI_COUNT].fd = -1;
	close(fd);
}

static bool doorbell(void *ctx, uint64_t gpa, int fd, bool on)
{
	struct pci_rig *rig = ctx;

	if (rig->no_bells)
		return false;
	for (unsigned i = 0; i < RIG_BELLS; i++) {
		if (rig->bell[i].gpa != (on ? 0 : gpa))
			continue;
		rig->bell[i].gpa = on ? gpa : 0;
		rig->bell[i].fd = fd;
		return true;
	}
	fail();
	return false;
}

static void set_line(void *ctx, unsigned gsi, bool level)
{
	struct pci_rig *rig = ctx;

	assert_in_range(gsi, 0, GSI_COUNT - 1);
	rig->level[gsi] = level;
}

static void end(void *ctx, enum vm_end how, const char *why)
{
	struct pci_rig *rig = ctx;

	assert_non_null(why);
	rig->end = (int)how;
}

void rig_init(struct pci_rig *rig)
{
	const struct power_line power = {.end = end, .ctx = rig};
	const struct irq_line irq = {.set = set_line, .ctx = rig};
	const struct pci_host host = {
		.ctx = rig, .msi_open = msi_open, .msi_route = msi_route, .msi_close = msi_close, .doorbell = doorbell};
	const struct bus_range ports = {BUS_PORT, PCI_PORT, PCI_LEN, &pci_ops, &rig->pci};
	const struct bus_range ecam = {BUS_MMIO, PCI_ECAM_GPA, PCI_ECAM_LEN, &pci_ecam_ops, &rig->pci};

	memset(rig, 0, sizeof(*rig));
	rig->end = -1;
	for (unsigned i = 0; i < RIG_MESSAGES; i++)
		rig->message[i].fd = -1;
	rig->memory = calloc(1, RIG_RAM);
	assert_non_null(rig->memory);
	rig->ram = (struct ram){.host = rig->memory, .low = RIG_RAM};
	dma_init(&rig->dma, &rig->ram);
	bus_init(&rig->bus);
	pci_init(&rig->pci, &rig->bus, &power, &irq, &host);
	assert_int_equal(bus_add(&rig->bus, &ports, NULL), 0);
	assert_int_equal(bus_add(&rig->bus, &ecam, NULL), 0);
	workers_init(&rig->workers, &rig->dma);
	rig->virtio = (struct virtio_bus){&rig->pci, &rig->dma, &rig->workers};
}

void rig_destroy(struct pci_rig *rig)
{
	for (unsigned i = 0; i < RIG_MESSAGES; i++)
		assert_int_equal(rig->message[i].fd, -1);
	for (unsigned i = 0; i < RIG_BELLS; i++)
		assert_int_equal(rig->bell[i].gpa, 0);
	pci_destroy(&rig->pci);
	bus_destroy(&rig->bus);
	workers_destroy(&rig->workers);
	dma_destroy(&rig->dma);
	free(rig->memory);
}

/* ---- the guest's side ---- */

static void address(struct pci_rig *rig, unsigned slot, unsigned offset)
{
	uint32_t value = 1u << 31 | slot << 11 | (offset & 0xfc);

	bus_access(&rig->bus, BUS_PORT, PCI_PORT, true, 4, (uint8_t *)&value);
}

uint32_t rig_config_read(struct pci_rig *rig, unsigned slot, unsigned offset, unsigned size)
{
	uint32_t value = 0;

	address(rig, slot, offset);
	bus_access(&rig->bus, BUS_PORT, PCI_PORT + 4 + (offset & 3), false, size, (uint8_t *)&value);
	return value;
}

void rig_config_write(struct pci_rig *rig, unsigned slot, unsigned offset, unsigned size, uint32_t value)
{
	address(rig, slot, offset);
	bus_access(&rig->bus, BUS_PORT, PCI_PORT + 4 + (offset & 3), true, size, (uint8_t *)&value);
}

uint64_t rig_mmio_read(struct pci_rig *rig, uint64_t gpa, unsigned size)
{
	uint64_t value = 0;

	bus_access(&rig->bus, BUS_MMIO, gpa, false, size, (uint8_t *)&value);
	return value;
}

void rig_mmio_write(struct pci_rig *rig, uint64_t gpa, unsigned size, uint64_t value)
{
	bus_access(&rig->bus, BUS_MMIO, gpa, true, size, (uint8_t *)&value);
}

unsigned rig_capability(struct pci_rig *rig, unsigned slot, uint8_t id, unsigned after)
{
	unsigned at = rig_config_read(rig, slot, after ? after + 1 : 0x34, 1);

	for (unsigned seen = 0; at; at = rig_config_read(rig, slot, at + 1, 1)) {
		assert_int_equal(at % 4, 0);
		assert_in_range(at, 0x40, 0xfc);
		assert_in_range(++seen, 1, 48);
		if (rig_config_read(rig, slot, at, 1) == id)
			break;
	}
	return at;
}

uint64_t rig_sent(struct pci_rig *rig, unsigned gsi)
{
	uint64_t count = 0;

	if (read(rig->message[gsi - GSI_COUNT].fd, &count, sizeof(count)) < 0)
		return 0;
	return count;
}

void rig_wait_sent(struct pci_rig *rig, unsigned gsi)
{
	struct pollfd fd = {.fd = rig->message[gsi - GSI_COUNT].fd, .events = POLLIN};

	assert_int_equal(poll(&fd, 1, 60000), 1);
	assert_true(rig_sent(rig, gsi) > 0);
}

bool rig_ring_bell(struct pci_rig *rig, uint64_t gpa)
{
	uint64_t one = 1;

	for (unsigned i = 0; i < RIG_BELLS; i++) {
		if (rig->bell[i].gpa == gpa)
			return write(rig->bell[i].fd, &one, sizeof(one)) == (ssize_t)sizeof(one);
	}
	return false;
}
