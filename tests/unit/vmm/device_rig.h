/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio device as its driver sees it, without a transport and without threads: rings in memory that a test writes as a
 * driver does, and a worker whose callbacks run when the test says so. It takes the place of hv/vmm/virtio's transport and
 * worker.
 */
#ifndef OUTRIDER_TESTS_UNIT_DEVICE_RIG_H
#define OUTRIDER_TESTS_UNIT_DEVICE_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/virtio/virtio.h"

#define RIG_QUEUES 3
#define RIG_SIZE 256	       /* entries of each queue */
#define RIG_RAM (16u << 20)    /* bytes at GPA 0 */
#define RIG_BUFFERS (1u << 20) /* GPA of memory that the rings leave alone */

struct rig_buffer {
	uint64_t gpa;
	uint32_t len;
	bool write; /* the device writes to it */
};

struct rig {
	struct ram ram;
	struct dma dma;
	struct workers workers;
	struct virtio_bus bus; /* what the device is made with */
	const struct virtio_ops *ops;
	void *dev;
	const char *why; /* why the device wants to be reset, or NULL */
	unsigned interrupts;
};

/* There is one rig. rig_init() empties it. */
struct rig *rig_init(void);
void rig_destroy(void);

/* Have the driver bring the device up, and reset it. */
void rig_activate(void);
void rig_reset(void);

/* The host address of guest memory. */
void *rig_at(uint64_t gpa);

/* Make a chain of buffers available, without notifying the device. Returns its head. */
uint16_t rig_add(unsigned queue, const struct rig_buffer *buffer, unsigned count);

/* Notify the device of the queue. */
void rig_kick(unsigned queue);

/* Take the next entry of the used ring. Returns false when there is none. */
bool rig_used(unsigned queue, uint16_t *head, uint32_t *len);

/* Call the callbacks of the worker's ready file descriptors, until no descriptor is ready. */
void rig_work(void);

#endif
