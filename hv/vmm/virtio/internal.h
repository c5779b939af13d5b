/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of struct virtio, for the files of this folder.
 *
 * Locking: pci.lock, then virtio.lock, then one of virtio.config_lock, virtio.isr_lock and the lock of an MSI-X vector. A
 * worker takes only the last three, because virtio.lock is held while workers are paused.
 */
#ifndef OUTRIDER_VMM_VIRTIO_INTERNAL_H
#define OUTRIDER_VMM_VIRTIO_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/vmm/dev/pci.h"
#include "hv/vmm/dev/pci_msix.h"
#include "hv/vmm/virtio/virtio.h"

/* Virtio 1.2, 2.1: bits of the device status. */
enum {
	STATUS_FEATURES_OK = 8,
	STATUS_DRIVER_OK = 4,
	STATUS_NEEDS_RESET = 64,
};

/* The BARs, and the parts of the first one. */
#define VIRTIO_REGS_BAR 4
#define VIRTIO_MSIX_BAR 1
#define VIRTIO_REGS_LEN 0x4000
#define VIRTIO_COMMON 0x0000
#define VIRTIO_COMMON_LEN 0x40
#define VIRTIO_ISR 0x1000
#define VIRTIO_DEVICE 0x2000
#define VIRTIO_NOTIFY 0x3000
#define VIRTIO_NOTIFY_STEP 4 /* bytes from one queue's notification register to the next */

struct virtio_queue {
	struct virtio *v;
	struct virtq q;
	struct worker *worker;
	int kick_fd; /* eventfd that the driver's notification makes readable; it is never read, and waited for by EPOLLET */
	/* The registers of the queue, guarded by virtio.lock. */
	uint16_t size;
	uint64_t desc, avail, used;
	bool enabled;
	uint64_t bell; /* the GPA whose writes KVM turns into `kick_fd`; 0: none */
	/* The MSI-X vector, or PCI_MSIX_NONE. */
	_Atomic(uint16_t) vector;
};

struct virtio {
	const struct virtio_ops *ops;
	void *dev;
	char name[DEVICE_NAME_MAX];
	struct pci_function fn;
	struct pci_msix msix;

	pthread_mutex_t lock;	 /* guards the members up to `regs_gpa` */
	_Atomic(uint8_t) status; /* without NEEDS_RESET; workers read it */
	uint64_t offered, accepted;
	uint32_t offered_select, accepted_select;
	uint16_t queue_select;
	bool running;	   /* the driver is ready, the function is bus master, and notifications are served */
	uint64_t regs_gpa; /* where the registers are decoded; 0: nowhere */

	/* NEEDS_RESET: the reason, and what queues look at. */
	_Atomic(const char *) why_broken;
	atomic_bool broken;
	_Atomic(uint16_t) config_vector;

	pthread_mutex_t config_lock; /* guards the device's configuration, and `generation` */
	uint8_t generation;
	pthread_mutex_t isr_lock; /* guards `isr`, and INTA#, which it drives */
	uint8_t isr;

	unsigned queues;
	unsigned cap_access; /* offset of the configuration access capability */
	struct virtio_queue queue[VIRTIO_MAX_QUEUES];
};

/* ---- interrupt.c: any thread ---- */

/* Interrupt for a queue's used buffers. `ctx` is the struct virtio. */
void virtio_interrupt_queue(void *ctx, unsigned queue);

/* Interrupt for a change of the configuration or of NEEDS_RESET. */
void virtio_interrupt_config(struct virtio *v);

/* Read the ISR status, which clears it and INTA#. */
uint8_t virtio_isr(struct virtio *v);

/* INTA# or MSI-X was switched on or off: drive INTA# accordingly. */
void virtio_intx_changed(struct virtio *v);

/* ---- state.c: the device's life from reset to reset; virtio.lock is held ---- */

/* The driver writes the device status. */
void virtio_set_status(struct virtio *v, uint8_t status);

/* The bus master bit or the address of the registers has changed: serve notifications or not, and where they come from. */
void virtio_settle(struct virtio *v);

/* The driver broke a rule. `ctx` is the struct virtio. Called by workers, without the lock. */
void virtio_break_device(void *ctx, unsigned queue, const char *why);

/* Put the queues that the driver enabled into use. The workers are paused. */
void virtio_start_queues(struct virtio *v);

/* Whether the driver may go on with the features that it chose. */
bool virtio_features_are_good(const struct virtio *v);

/* The driver notifies a queue by a write that KVM did not take. Without the lock. */
void virtio_kick(struct virtio_queue *queue);

/* ---- regs.c ---- */

/* The registers BAR; its device is the struct virtio. */
extern const struct bus_ops virtio_regs_ops;

#endif
