/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI bus with a virtio device: configuration space, BARs, MSI-X and the registers of virtio. Each access of the input is
 * eight bytes: what to do, an offset of two, and up to four of a value that is extended by its first byte.
 */
#include "hv/vmm/rng/virtio_rng.h"
#include "tests/fuzz/rig.h"

#define ACCESS 8

static uint64_t value_of(const uint8_t *in)
{
	uint64_t value = (uint64_t)in[4] | (uint64_t)in[5] << 8 | (uint64_t)in[6] << 16 | (uint64_t)in[7] << 24;

	return in[3] & 0x80 ? value << 32 | value : value;
}

/* An access to a BAR of the device, at its place of now. */
static void access_bar(struct rig *m, unsigned bar, unsigned offset, bool write, unsigned size, uint64_t value)
{
	uint64_t gpa = pci_function_bar_gpa(m->pci.slot[1], bar);

	bus_access(&m->bus, BUS_MMIO, gpa + offset, write, size, (uint8_t *)&value);
}

static void access_once(struct rig *m, const uint8_t *in)
{
	unsigned offset = in[1] | (unsigned)in[2] << 8, size = 1u << (in[3] & 3);
	bool write = in[0] & 0x80;
	uint64_t value = value_of(in);

	switch (in[0] & 7) {
	case 0: /* the ports themselves */
		bus_access(&m->bus, BUS_PORT, PCI_PORT + offset % PCI_LEN, write, 1 + in[3] % 4, (uint8_t *)&value);
		break;
	case 1: /* configuration space of the device */
		rig_config(m, 1, offset & 0xff, size > 4 ? 4 : size, (uint32_t)value);
		break;
	case 2: /* of any slot, by the ports or in memory */
		if (in[0] & 0x40) {
			uint64_t gpa = PCI_ECAM_GPA + ((uint64_t)offset << 4 | (in[3] >> 2 & 15)) % (PCI_ECAM_LEN + 8);

			bus_access(&m->bus, BUS_MMIO, gpa, write, size, (uint8_t *)&value);
			break;
		}
		rig_config(m, offset >> 8 & 31, offset & 0xff, size > 4 ? 4 : size, (uint32_t)value);
		break;
	case 3: /* the common configuration */
		access_bar(m, VIRTIO_REGS_BAR, VIRTIO_COMMON + offset % (VIRTIO_COMMON_LEN + 8), write, size, value);
		break;
	case 4:
		access_bar(m, VIRTIO_REGS_BAR, offset % (VIRTIO_REGS_LEN + 8), write, size, value);
		break;
	case 5:
		access_bar(m, VIRTIO_MSIX_BAR, offset % (PCI_MSIX_BAR + 8), write, size, value);
		break;
	case 6:
		rig_start(m, value, (uint16_t)offset);
		break;
	default:
		rig_serve(m, offset % 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig m;
	struct virtio_rng *rng;

	rig_open(&m);
	rng = virtio_rng_new(&m.virtio, 0, NULL);
	fuzz_require(rng);
	for (; size >= ACCESS; data += ACCESS, size -= ACCESS)
		access_once(&m, data);
	virtio_rng_free(rng);
	rig_close(&m);
	return 0;
}
