/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCI configuration mechanism 1 (PCI Local Bus 3.0, 3.2.2.3.2), and the reset control register at port 0xcf9, which lies in the
 * middle of its ports. The only PCI device is a host bridge: without any, Linux takes the lack of configuration space for a
 * fatal error.
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
	uint32_t address; /* the CONFIG_ADDRESS register */
	uint8_t reset;	  /* the reset control register */
};

extern const struct bus_ops pci_ops;

void pci_init(struct pci *pci, const struct power_line *power);
void pci_destroy(struct pci *pci);

#endif
