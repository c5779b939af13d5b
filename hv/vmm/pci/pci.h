/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI bus of the machine: bus 0, with a host bridge in slot 0 and up to 31 devices of one function each. The guest accesses
 * configuration space by mechanism 1 (PCI Local Bus 3.0, 3.2.2.3.2), or in memory at PCI_ECAM_GPA (PCI Express Base 3.0,
 * 7.2.2), where each function has 4 KiB: PCI_CONFIG_LEN bytes, then bytes that read as 0. This file also has the reset control
 * register, because its port 0xcf9 lies among the ports of mechanism 1.
 *
 * Interrupts: a function has MSI-X (msix.h) and INTA#. INTA# of slot n is the level-triggered GSI PCI_GSI_FIRST + (n - 1) %
 * PCI_GSI_COUNT, as _PRT in dsdt.asl says. The levels of slots that share a GSI are ORed.
 *
 * Locking: pci.lock guards all configuration spaces, and is held while the functions of struct pci_ops are called. pci.irq_lock
 * guards the INTA# lines; no other lock is taken under it.
 */
#ifndef OUTRIDER_VMM_PCI_PCI_H
#define OUTRIDER_VMM_PCI_PCI_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/bus/bus.h"
#include "hv/vmm/bus/lines.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/pci/function.h"

#define PCI_LEN 8 /* number of ports from PCI_PORT on */
#define PCI_SLOTS 32

struct pci {
	pthread_mutex_t lock;
	struct power_line power;
	struct irq_line irq; /* irq.gsi is not used */
	struct bus *bus;     /* the BARs are mapped on this bus */
	struct pci_host host;
	uint32_t address;  /* the CONFIG_ADDRESS register */
	uint8_t reset;	   /* the reset control register */
	uint64_t next_gpa; /* pci_plug() places the next BAR at this GPA or above */
	struct pci_function bridge;
	struct pci_function *slot[PCI_SLOTS]; /* NULL: the slot is empty */
	pthread_mutex_t irq_lock;
	uint32_t raised[PCI_GSI_COUNT]; /* a bit for each slot that drives the GSI PCI_GSI_FIRST + index */
};

/* The state of the bus that a guest can see, without the functions. */
struct pci_state {
	uint32_t address;
	uint8_t reset;
	uint8_t unused[3]; /* 0 */
};

extern const struct bus_ops pci_ops;	  /* the ports */
extern const struct bus_ops pci_ecam_ops; /* PCI_ECAM_LEN bytes of memory */

/*
 * Initialise the PCI bus with its host bridge. `irq` drives the GSIs of INTA#. *bus must outlive the PCI bus. `host` is copied.
 */
void pci_init(struct pci *pci, struct bus *bus, const struct power_line *power, const struct irq_line *irq,
	      const struct pci_host *host);

/* Destroy the PCI bus, after the vCPU threads have ended. Does not free the functions, which their owners free. */
void pci_destroy(struct pci *pci);

/*
 * Plug a function, which must have its BARs and capabilities, into the next free slot. Its BARs get addresses in the window
 * [PCI_WINDOW_GPA, PCI_WINDOW_END_GPA), and memory decoding is on, as firmware would leave it. *fn must outlive the vCPU
 * threads. To be called before the machine runs. Returns 0, or -1 with EXIT_USAGE when all 31 slots are taken, or with
 * EXIT_INTERNAL when the window is full.
 */
int pci_plug(struct pci *pci, struct pci_function *fn, struct err *err);

/* Save the registers of the bus; load them into a bus before its machine runs. */
void pci_save(struct pci *pci, struct pci_state *out);
void pci_load(struct pci *pci, const struct pci_state *state);

/*
 * Save the configuration space and the INTA# level of the function in a slot; load both into a function of the same kind,
 * before its machine runs. Loading copies only the bits of configuration space that a guest can write, and maps the BARs at
 * their addresses. Loading does not drive the interrupt line, because the interrupt controller's own saved state has the line's
 * level.
 */
void pci_function_save(struct pci *pci, unsigned slot, uint8_t config[PCI_CONFIG_LEN], bool *intx);
void pci_function_load(struct pci *pci, unsigned slot, const uint8_t config[PCI_CONFIG_LEN], bool intx);

/*
 * Set the level of the function's INTA#. The command register's Interrupt Disable masks the interrupt. May be called on any
 * thread.
 */
void pci_intx(struct pci_function *fn, bool level);

#endif
