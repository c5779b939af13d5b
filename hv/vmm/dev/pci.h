/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCI configuration mechanism 1 (PCI Local Bus 3.0, 3.2.2.3.2) with nothing but a host bridge behind it, without which Linux
 * calls the lack of configuration space fatal; and the reset control register at port 0xcf9 that lies in its middle.
 */
#ifndef OUTRIDER_VMM_DEV_PCI_H
#define OUTRIDER_VMM_DEV_PCI_H

#include <pthread.h>
#include <stdint.h>

#include "hv/vmm/dev/bus.h"
#include "hv/vmm/dev/lines.h"

#define PCI_LEN 8 /* ports from PCI_PORT */

struct pci {
	pthread_mutex_t lock;
	struct power_line power;
	uint32_t address;
	uint8_t reset;
};

extern const struct bus_ops pci_ops;

void pci_init(struct pci *pci, const struct power_line *power);
void pci_destroy(struct pci *pci);

#endif
