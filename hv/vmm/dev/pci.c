/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/vmm/dev/pci.h"

#include <string.h>

enum { OFF_ADDRESS = 0, OFF_RESET = 1, OFF_DATA = 4 };

#define ADDRESS_ENABLE (1u << 31)
#define ADDRESS_MASK 0x80fffffcu
#define RESET_CPU 4 /* the machine is reset when this bit goes from 0 to 1 */

/* The configuration space of 00:00.0: Red Hat's generic host bridge (1b36:0008), class 06.00. Other registers are 0. */
static const uint32_t host_bridge[] = {0x00081b36, 0x00000000, 0x06000000, 0x00000000, [11] = 0x11001af4};

void pci_init(struct pci *pci, const struct power_line *power)
{
	memset(pci, 0, sizeof(*pci));
	pthread_mutex_init(&pci->lock, NULL);
	pci->power = *power;
}

void pci_destroy(struct pci *pci)
{
	pthread_mutex_destroy(&pci->lock);
}

static uint32_t config_dword(uint32_t address)
{
	unsigned reg = address >> 2 & 0x3f;

	if (!(address & ADDRESS_ENABLE) || (address & 0x00ffff00))
		return 0xffffffff; /* no device has that address */
	return reg < sizeof(host_bridge) / sizeof(host_bridge[0]) ? host_bridge[reg] : 0;
}

static uint64_t pci_read(void *dev, uint64_t offset, unsigned size)
{
	struct pci *pci = dev;
	uint32_t value = 0xffffffff;

	pthread_mutex_lock(&pci->lock);
	if (offset >= OFF_DATA)
		value = config_dword(pci->address) >> 8 * (offset - OFF_DATA);
	else if (offset == OFF_ADDRESS && size == 4)
		value = pci->address;
	else if (offset == OFF_RESET && size == 1)
		value = pci->reset;
	pthread_mutex_unlock(&pci->lock);
	return value;
}

static void pci_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct pci *pci = dev;
	bool reset = false;

	pthread_mutex_lock(&pci->lock);
	if (offset == OFF_ADDRESS && size == 4) {
		pci->address = value & ADDRESS_MASK;
	} else if (offset == OFF_RESET && size == 1) {
		reset = value & ~pci->reset & RESET_CPU;
		pci->reset = (uint8_t)value;
	}
	pthread_mutex_unlock(&pci->lock);
	if (reset)
		power_end(&pci->power, VM_END_REBOOT, "reset register");
}

const struct bus_ops pci_ops = {.read = pci_read, .write = pci_write};
