/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the guest's accesses to the registers of a virtio device on PCI (virtio 1.2, 4.1.4): common configuration, ISR status,
 * device configuration, notify.
 */
#include <string.h>

#include "hv/vmm/virtio/internal.h"

/* Offsets in the common configuration. */
enum {
	OFFERED_SELECT = 0x00,
	OFFERED = 0x04,
	ACCEPTED_SELECT = 0x08,
	ACCEPTED = 0x0c,
	CONFIG_VECTOR = 0x10,
	NUM_QUEUES = 0x12,
	STATUS = 0x14,
	GENERATION = 0x15,
	QUEUE_SELECT = 0x16,
	QUEUE_SIZE = 0x18,
	QUEUE_VECTOR = 0x1a,
	QUEUE_ENABLE = 0x1c,
	QUEUE_NOTIFY_OFF = 0x1e,
	QUEUE_DESC = 0x20,
	QUEUE_DRIVER = 0x28,
	QUEUE_DEVICE = 0x30,
	QUEUE_END = 0x38, /* the registers after this belong to features that are not offered */
};

/* ---- reading the common configuration ---- */

static uint32_t feature_word(uint64_t features, uint32_t select)
{
	return select < 2 ? (uint32_t)(features >> 32 * select) : 0;
}

static uint8_t generation(struct virtio *v)
{
	uint8_t value;

	pthread_mutex_lock(&v->config_lock);
	value = v->generation;
	pthread_mutex_unlock(&v->config_lock);
	return value;
}

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	memcpy(at, &value, bytes);
}

static void queue_image(const struct virtio_queue *queue, uint8_t *image)
{
	put(image + QUEUE_SIZE, queue->size, 2);
	put(image + QUEUE_VECTOR, queue->vector, 2);
	put(image + QUEUE_ENABLE, queue->enabled, 2);
	put(image + QUEUE_NOTIFY_OFF, queue->q.by.queue, 2);
	put(image + QUEUE_DESC, queue->desc, 8);
	put(image + QUEUE_DRIVER, queue->avail, 8);
	put(image + QUEUE_DEVICE, queue->used, 8);
}

/*
 * Write all registers to `image`, as the driver sees them. A queue that does not exist has size 0. Called with virtio.lock
 * held.
 */
static void common_image(struct virtio *v, uint8_t image[VIRTIO_COMMON_LEN])
{
	memset(image, 0, VIRTIO_COMMON_LEN);
	put(image + OFFERED_SELECT, v->offered_select, 4);
	put(image + OFFERED, feature_word(v->offered, v->offered_select), 4);
	put(image + ACCEPTED_SELECT, v->accepted_select, 4);
	put(image + ACCEPTED, feature_word(v->accepted, v->accepted_select), 4);
	put(image + CONFIG_VECTOR, v->config_vector, 2);
	put(image + NUM_QUEUES, v->queues, 2);
	put(image + STATUS, v->status | (v->broken ? STATUS_NEEDS_RESET : 0), 1);
	put(image + GENERATION, generation(v), 1);
	put(image + QUEUE_SELECT, v->queue_select, 2);
	if (v->queue_select < v->queues)
		queue_image(&v->queue[v->queue_select], image);
}

static uint64_t common_read(struct virtio *v, unsigned offset, unsigned size)
{
	uint8_t image[VIRTIO_COMMON_LEN];
	uint64_t value = 0;

	pthread_mutex_lock(&v->lock);
	common_image(v, image);
	pthread_mutex_unlock(&v->lock);
	memcpy(&value, image + offset, size);
	return value;
}

/* ---- writing the common configuration: only writes of whole registers, or of halves of 64-bit ones, count (4.1.3.1) ---- */

static void accept_features(struct virtio *v, uint32_t word)
{
	unsigned shift = 32 * v->accepted_select;

	if (v->accepted_select < 2 && !(v->status & STATUS_FEATURES_OK))
		v->accepted = (v->accepted & ~(0xffffffffull << shift)) | (uint64_t)word << shift;
}

/*
 * Returns the vector, or VIRTIO_MSI_NO_VECTOR if the function does not have it. The driver reads the register back to see
 * whether the vector was accepted.
 */
static uint16_t checked_vector(const struct virtio *v, uint16_t vector)
{
	return vector < v->msix.count ? vector : PCI_MSIX_NONE;
}

static void set_queue_size(struct virtio_queue *queue, uint16_t size)
{
	if (size && size <= VIRTQ_MAX_SIZE && !(size & (size - 1)))
		queue->size = size;
}

static void set_address(uint64_t *address, unsigned offset, unsigned size, uint64_t value)
{
	memcpy((uint8_t *)address + offset, &value, size);
}

static void queue_write(struct virtio *v, unsigned offset, unsigned size, uint64_t value)
{
	struct virtio_queue *queue = &v->queue[v->queue_select % VIRTIO_MAX_QUEUES];

	if (v->queue_select >= v->queues)
		return;
	if (offset == QUEUE_VECTOR && size == 2)
		queue->vector = checked_vector(v, (uint16_t)value);
	/*
	 * Ignore writes to the other registers if the queue is enabled, because its size and addresses are in use. Ignore them
	 * after DRIVER_OK, too, because a driver must enable its queues before DRIVER_OK.
	 */
	if (queue->enabled || v->status & STATUS_DRIVER_OK)
		return;
	if (offset == QUEUE_SIZE && size == 2)
		set_queue_size(queue, (uint16_t)value);
	else if (offset == QUEUE_ENABLE && size == 2)
		queue->enabled = value == 1 && v->status & STATUS_FEATURES_OK;
	else if (offset >= QUEUE_DEVICE)
		set_address(&queue->used, offset - QUEUE_DEVICE, size, value);
	else if (offset >= QUEUE_DRIVER)
		set_address(&queue->avail, offset - QUEUE_DRIVER, size, value);
	else if (offset >= QUEUE_DESC)
		set_address(&queue->desc, offset - QUEUE_DESC, size, value);
}

/* Handle a write to the common configuration. Called with virtio.lock held. */
static void common_write_locked(struct virtio *v, unsigned offset, unsigned size, uint64_t value)
{
	if (offset == OFFERED_SELECT && size == 4)
		v->offered_select = (uint32_t)value;
	else if (offset == ACCEPTED_SELECT && size == 4)
		v->accepted_select = (uint32_t)value;
	else if (offset == ACCEPTED && size == 4)
		accept_features(v, (uint32_t)value);
	else if (offset == CONFIG_VECTOR && size == 2)
		v->config_vector = checked_vector(v, (uint16_t)value);
	else if (offset == STATUS && size == 1)
		virtio_set_status(v, (uint8_t)value);
	else if (offset == QUEUE_SELECT && size == 2)
		v->queue_select = (uint16_t)value;
	else if (offset < QUEUE_DESC ? offset >= QUEUE_SIZE : offset < QUEUE_END && size >= 4 && offset % size == 0)
		queue_write(v, offset, size, value);
}

static void common_write(struct virtio *v, unsigned offset, unsigned size, uint64_t value)
{
	pthread_mutex_lock(&v->lock);
	common_write_locked(v, offset, size, value);
	pthread_mutex_unlock(&v->lock);
}

/* ---- the device's configuration ---- */

static uint64_t device_read(struct virtio *v, unsigned offset, unsigned size)
{
	uint64_t value = 0;

	if (offset + size > v->ops->config_size)
		return 0;
	pthread_mutex_lock(&v->config_lock);
	v->ops->config_read(v->dev, offset, &value, size);
	pthread_mutex_unlock(&v->config_lock);
	return value;
}

static void device_write(struct virtio *v, unsigned offset, unsigned size, uint64_t value)
{
	if (offset + size > v->ops->config_size || !v->ops->config_write)
		return;
	pthread_mutex_lock(&v->config_lock);
	v->ops->config_write(v->dev, offset, &value, size);
	pthread_mutex_unlock(&v->config_lock);
}

/* ---- the BAR ---- */

static uint64_t regs_read(void *dev, uint64_t offset, unsigned size)
{
	struct virtio *v = dev;
	unsigned at = (unsigned)offset;

	if (at >= VIRTIO_NOTIFY)
		return 0;
	if (at >= VIRTIO_DEVICE)
		return device_read(v, at - VIRTIO_DEVICE, size);
	if (at >= VIRTIO_ISR)
		return at == VIRTIO_ISR ? virtio_isr(v) : 0;
	return at + size <= VIRTIO_COMMON_LEN ? common_read(v, at, size) : 0;
}

static void regs_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct virtio *v = dev;
	unsigned at = (unsigned)offset, queue;

	if (at >= VIRTIO_NOTIFY) {
		queue = (at - VIRTIO_NOTIFY) / VIRTIO_NOTIFY_STEP;
		if (queue < v->queues)
			virtio_kick(&v->queue[queue]);
	} else if (at >= VIRTIO_DEVICE) {
		device_write(v, at - VIRTIO_DEVICE, size, value);
	} else if (at + size <= VIRTIO_COMMON_LEN) {
		common_write(v, at, size, value);
	}
}

const struct bus_ops virtio_regs_ops = {.read = regs_read, .write = regs_write};
