/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio 1.2 device on the PCI bus. The file of a device includes this header, queue.h and worker.h.
 *
 * The core does what all devices have in common: the status register, the negotiation of features, the queues' addresses,
 * notifications (ioeventfd), interrupts (MSI-X by irqfd, INTx as the fallback) and resets. A device provides struct virtio_ops.
 *
 * Threads: `queue_ready` runs on the queue's worker. All other functions of struct virtio_ops run on a vCPU's thread, one at a
 * time for each device. While `activate` and `reset` run, the device's workers are paused (worker_pause()), so both may access
 * data of the workers. `config_read` and `config_write` run while workers run; virtio_config_begin() describes how these two
 * functions and the workers share the configuration. A worker may call the functions of queue.h and of this header, because
 * they take no lock that another thread holds while it waits for workers to pause.
 */
#ifndef OUTRIDER_VMM_VIRTIO_VIRTIO_H
#define OUTRIDER_VMM_VIRTIO_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/virtio/queue.h"
#include "hv/vmm/virtio/worker.h"

struct pci;
struct virtio;

/* The parts of a machine that a virtio device uses. */
struct virtio_bus {
	struct pci *pci;
	struct dma *dma;
	struct workers *workers;
};

#define VIRTIO_MAX_QUEUES 32

/* Feature bits that the core offers and implements. A device's features() does not include them. */
#define VIRTIO_CORE_FEATURES (1ull << 28 | 1ull << 29 | 1ull << 32) /* indirect descriptors, event index, version 1 */

struct virtio_ops {
	const char *name; /* such as "virtio-blk"; the device's number is appended */
	uint16_t type;	  /* the device ID of virtio 1.2, chapter 5: 1 network, 2 block, 4 entropy, 19 socket */
	uint32_t class;	  /* PCI class code: 0x010000 storage, 0x020000 Ethernet, 0xff0000 none of these */
	/* Bytes of device configuration space; at most VIRTIO_MAX_CONFIG. */
	size_t config_size;

	/* Returns the feature bits that the device offers besides VIRTIO_CORE_FEATURES, the same in each call. */
	uint64_t (*features)(void *dev);
	/*
	 * Read or write `len` bytes at `offset` of the device's configuration space; offset + len is at most config_size, and
	 * fields are little-endian. `config_read` and `config_write` may be NULL if config_size is 0. If only `config_write` is
	 * NULL, writes are dropped.
	 */
	void (*config_read)(void *dev, size_t offset, void *buf, size_t len);
	void (*config_write)(void *dev, size_t offset, const void *buf, size_t len);
	/*
	 * The driver has set DRIVER_OK. `features` are the negotiated features. The queues that the driver enabled are served
	 * when `activate` has returned. May be NULL.
	 */
	void (*activate)(void *dev, uint64_t features);
	/*
	 * The queue may have requests: the device serves them until virtq_pop() returns none. Called on the queue's worker
	 * after a notification of the driver, and once after `activate`.
	 */
	void (*queue_ready)(void *dev, unsigned queue);
	/*
	 * The driver resets the device, which must return to its state before `activate`: drop the requests in flight
	 * (virtq_drop()), and wait until the host has finished their I/O. The queues are stopped afterwards. May be NULL.
	 */
	void (*reset)(void *dev);
	/* Returns the worker that serves the queue, the same in each call. Queues may share a worker. */
	struct worker *(*worker)(void *dev, unsigned queue);
};

#define VIRTIO_MAX_CONFIG 256

/*
 * Add a device with `queues` queues (at most VIRTIO_MAX_QUEUES) to the next free slot of the PCI bus. `index` is the number in
 * its name ("virtio-blk 0"). `ops` and `dev` must outlive the machine's threads. To be called before the machine runs. Returns
 * NULL with `err` set on failure, for example if the bus is full or KVM refuses.
 */
struct virtio *virtio_add(const struct virtio_bus *bus, const struct virtio_ops *ops, void *dev, unsigned index,
			  unsigned queues, struct err *err);

/*
 * Free what virtio_add() allocated, after the machine's threads have ended and before the device frees its workers. NULL is
 * allowed.
 */
void virtio_remove(struct virtio *v);

/* Returns the device's name with its number, such as "virtio-blk 0". Valid until virtio_remove(). */
const char *virtio_name(const struct virtio *v);

/* Returns the queue `queue`, which is below the count given to virtio_add(). Valid until virtio_remove(). */
struct virtq *virtio_queue(struct virtio *v, unsigned queue);

/*
 * Change the device's configuration between these two calls. The driver sees either the whole change or nothing of it, and gets
 * an interrupt. config_read, config_write, activate and reset are called under the same lock, so they need no lock for the
 * configuration. May be called on any thread, but not by these four functions.
 */
void virtio_config_begin(struct virtio *v);
void virtio_config_end(struct virtio *v);

/*
 * Returns the reason why NEEDS_RESET is set, or NULL while NEEDS_RESET is clear. The reason is a constant string. May be called
 * on any thread.
 */
const char *virtio_broken(const struct virtio *v);

#endif
