/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of struct virtio, and the functions that the files of this folder share.
 *
 * Locking order: pci.lock, then virtio.lock, then one of virtio.config_lock, virtio.isr_lock and the lock of an MSI-X vector. A
 * worker may take only the last three of these locks, because another thread may hold virtio.lock while it waits for workers to
 * pause.
 */
#ifndef OUTRIDER_VMM_VIRTIO_INTERNAL_H
#define OUTRIDER_VMM_VIRTIO_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/vmm/pci/msix.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/virtio/virtio.h"

/* Bits of the device status (virtio 1.2, 2.1). */
enum {
	STATUS_FEATURES_OK = 8,
	STATUS_DRIVER_OK = 4,
	STATUS_NEEDS_RESET = 64,
};

/* The numbers of the BARs, and the offsets in the registers BAR. */
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
	int kick_fd; /* eventfd that a notification of the driver signals; never read, so it is watched with EPOLLET */
	/* The registers of the queue, guarded by virtio.lock. */
	uint16_t size;
	uint64_t desc, avail, used;
	bool enabled;
	uint64_t bell; /* GPA at which a write of the guest signals `kick_fd` (ioeventfd); 0: none */
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
	_Atomic(uint8_t) status; /* the device status without NEEDS_RESET; workers read it */
	uint64_t offered, accepted;
	uint32_t offered_select, accepted_select;
	uint16_t queue_select;
	bool running;	   /* DRIVER_OK is set, the function is bus master, and notifications are served */
	uint64_t regs_gpa; /* GPA at which the registers are decoded; 0: nowhere */

	/* While NEEDS_RESET is set: the reason, for the user; else NULL. The queues test the flag `broken`. */
	_Atomic(const char *) why_broken;
	atomic_bool broken;
	_Atomic(uint16_t) config_vector;

	pthread_mutex_t config_lock; /* guards the device's configuration, and `generation` */
	uint8_t generation;
	pthread_mutex_t isr_lock; /* guards `isr` and the level of INTA#, which depends on `isr` */
	uint8_t isr;

	unsigned queues;
	unsigned cap_access; /* offset of the configuration access capability */
	struct virtio_queue queue[VIRTIO_MAX_QUEUES];
};

/* ---- interrupt.c: called by any thread ---- */

/* Interrupt the driver for used buffers of a queue. `ctx` is the struct virtio. */
void virtio_interrupt_queue(void *ctx, unsigned queue);

/* Interrupt the driver for a change of the configuration, or because NEEDS_RESET was set. */
void virtio_interrupt_config(struct virtio *v);

/* Returns the ISR status, and clears it and INTA#. */
uint8_t virtio_isr(struct virtio *v);

/* Update the level of INTA# after MSI-X was enabled or disabled, because the device uses INTA# only while MSI-X is off. */
void virtio_intx_changed(struct virtio *v);

/* ---- state.c: status and reset; called with virtio.lock held, unless a function's comment says otherwise ---- */

/* Handle the driver's write of `status` to the device status. */
void virtio_set_status(struct virtio *v, uint8_t status);

/*
 * Start or stop serving notifications, and move the ioeventfds. To be called after a change of the device status, the bus
 * master bit or the address of the registers.
 */
void virtio_settle(struct virtio *v);

/* Set NEEDS_RESET, because the driver broke a rule. `ctx` is the struct virtio. Called by workers, without virtio.lock. */
void virtio_break_device(void *ctx, unsigned queue, const char *why);

/* Start the queues that the driver has enabled. The workers must be paused. */
void virtio_start_queues(struct virtio *v);

/* Returns true if the device accepts the features that the driver chose. */
bool virtio_features_are_good(const struct virtio *v);

/*
 * Notify the queue's worker. Called if the driver's write to the notification register was a KVM exit instead of an event of
 * the ioeventfd. Called without virtio.lock.
 */
void virtio_kick(struct virtio_queue *queue);

/*
 * Make the queue's worker serve the queue again later. Called when the worker stops although the queue may have more requests.
 * `ctx` is the struct virtio. Called by workers, without virtio.lock.
 */
void virtio_queue_left(void *ctx, unsigned queue);

/* ---- regs.c ---- */

/* The bus operations of the registers BAR; their `dev` is the struct virtio. */
extern const struct bus_ops virtio_regs_ops;

#endif
