/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MSI-X of a PCI function (PCI Local Bus 3.0, 6.8.2): the capability, and a BAR that holds the vector table and, from
 * PCI_MSIX_PBA on, the pending bits.
 *
 * A vector is masked by its own mask bit, by its function's mask bit, or while the function is not bus master. A masked vector
 * keeps at most one message pending, and sends it when it is unmasked. While MSI-X is off, pci_msix_send() returns false, and
 * the caller uses INTA#.
 *
 * Locking: each vector has a lock of its own, so that queues on several workers do not contend. Under a vector's lock, only the
 * lock of the host's routing table is taken. A changed message of a vector is passed to the host once the vector is unmasked.
 */
#ifndef OUTRIDER_VMM_PCI_MSIX_H
#define OUTRIDER_VMM_PCI_MSIX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/pci/function.h"

#define PCI_MSIX_MAX 64	    /* vectors of one function */
#define PCI_MSIX_PBA 2048   /* offset of the pending bits in the BAR */
#define PCI_MSIX_BAR 4096   /* bytes of the BAR */
#define PCI_MSIX_NONE 65535 /* "no vector" in virtio's registers (VIRTIO_MSI_NO_VECTOR) */

struct pci_msix_vector {
	pthread_mutex_t lock;
	uint32_t entry[4];  /* as in the table: address, upper address, data, vector control */
	uint32_t routed[3]; /* the message that the host's routing table has */
	bool pending;
	unsigned gsi;
	int fd; /* eventfd; a write sends the message */
};

struct pci_msix {
	struct pci_function *fn;
	struct pci_host host;
	unsigned capability; /* the capability's offset in configuration space */
	unsigned count;
	atomic_bool enabled; /* MSI-X Enable of the capability */
	atomic_bool masked;  /* Function Mask is set, or the function is not bus master */
	struct pci_msix_vector vector[PCI_MSIX_MAX];
};

/* The state of a vector that a guest can see. */
struct pci_msix_state {
	uint32_t entry[4]; /* as in struct pci_msix_vector */
	uint32_t pending;  /* 0 or 1 */
};

/*
 * Give the function `count` vectors (at most PCI_MSIX_MAX), in the BAR `bar`. To be called before pci_plug(). Returns 0, or -1
 * with `err` set if the host refuses. pci_msix_destroy() must be called in either case.
 */
int pci_msix_init(struct pci_msix *m, struct pci_function *fn, unsigned bar, unsigned count, const struct pci_host *host,
		  struct err *err);

/* Free the vectors, after the machine's threads have ended. Does nothing for a zeroed struct. */
void pci_msix_destroy(struct pci_msix *m);

/* Update the masks from configuration space. To be called from the function's pci_ops.config_written. */
void pci_msix_config_written(struct pci_msix *m);

/*
 * pci_msix_save() saves the state of all vectors of the function. pci_msix_load() loads it, after configuration space was
 * loaded, and sends each pending message whose vector is not masked. It returns false, and changes nothing, if no guest can
 * have brought the vectors into this state.
 */
void pci_msix_save(struct pci_msix *m, struct pci_msix_state *out);
bool pci_msix_load(struct pci_msix *m, const struct pci_msix_state *state);

/*
 * Send the vector's message, or make it pending. Does nothing for a vector that the function does not have. Returns false if
 * MSI-X is off. May be called on any thread.
 */
bool pci_msix_send(struct pci_msix *m, unsigned vector);

#endif
