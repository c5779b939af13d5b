/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a virtio device a PCI function (virtio 1.2, 4.1), with identity, capabilities and BARs, and removes it. */
#include "hv/vmm/virtio/virtio.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hv/vmm/virtio/internal.h"
#include "hv/vmm/virtio/saved.h"

#define VENDOR 0x1af4
#define DEVICE_BASE 0x1040 /* PCI device ID of virtio 1.x; the virtio device ID is added */
#define CAP_VENDOR 9

/* Types of capability (4.1.4). */
enum { CFG_COMMON = 1, CFG_NOTIFY, CFG_ISR, CFG_DEVICE, CFG_ACCESS };

/* Offsets in a capability of type CFG_ACCESS, through which the driver accesses a BAR by configuration space (4.1.4.9). */
enum { ACCESS_BAR = 4, ACCESS_OFFSET = 8, ACCESS_LENGTH = 12, ACCESS_DATA = 16 };

/* ---- the configuration access capability ---- */

static uint32_t config_u32(const struct virtio *v, unsigned field)
{
	uint32_t value;

	memcpy(&value, v->fn.config + v->cap_access + field, sizeof(value));
	return value;
}

/*
 * Returns the BAR that the driver has selected in the capability of type CFG_ACCESS. Returns NULL if the capability does not
 * point to 1, 2 or 4 aligned bytes in a BAR.
 */
static const struct pci_bar *accessed_bar(const struct virtio *v)
{
	unsigned bar = v->fn.config[v->cap_access + ACCESS_BAR];
	uint32_t offset = config_u32(v, ACCESS_OFFSET), len = config_u32(v, ACCESS_LENGTH);

	if (bar >= PCI_BARS || (len != 1 && len != 2 && len != 4) || offset % len || offset >= v->fn.bar[bar].len)
		return NULL;
	return &v->fn.bar[bar];
}

static bool touches_access_data(const struct virtio *v, unsigned offset, unsigned len)
{
	unsigned data = v->cap_access + ACCESS_DATA;

	return offset < data + 4 && offset + len > data;
}

static void config_read(void *ctx, unsigned offset, unsigned len)
{
	struct virtio *v = ctx;
	const struct pci_bar *bar;
	uint64_t value;

	if (!touches_access_data(v, offset, len))
		return;
	bar = accessed_bar(v);
	if (!bar)
		return;
	value = bar->ops->read(bar->dev, config_u32(v, ACCESS_OFFSET), config_u32(v, ACCESS_LENGTH));
	memcpy(v->fn.config + v->cap_access + ACCESS_DATA, &value, 4);
}

static void write_access_data(struct virtio *v)
{
	const struct pci_bar *bar = accessed_bar(v);
	uint32_t len = config_u32(v, ACCESS_LENGTH);

	if (bar)
		bar->ops->write(bar->dev, config_u32(v, ACCESS_OFFSET), len,
				config_u32(v, ACCESS_DATA) & (uint32_t)((1ull << 8 * len) - 1));
}

/* ---- callbacks from the PCI bus ---- */

static void config_written(void *ctx, unsigned offset, unsigned len)
{
	struct virtio *v = ctx;

	pci_msix_config_written(&v->msix);
	virtio_intx_changed(v);
	pthread_mutex_lock(&v->lock);
	virtio_settle(v);
	pthread_mutex_unlock(&v->lock);
	if (touches_access_data(v, offset, len))
		write_access_data(v);
}

static void bar_moved(void *ctx, unsigned bar, uint64_t gpa)
{
	struct virtio *v = ctx;

	if (bar != VIRTIO_REGS_BAR)
		return;
	pthread_mutex_lock(&v->lock);
	v->regs_gpa = gpa;
	virtio_settle(v);
	pthread_mutex_unlock(&v->lock);
}

static const struct pci_ops pci_function_ops = {
	.config_read = config_read, .config_written = config_written, .bar_moved = bar_moved};

struct virtio *virtio_in_slot(struct pci *pci, unsigned slot)
{
	const struct pci_function *fn = pci->slot[slot];

	return fn && fn->ops == &pci_function_ops ? fn->ctx : NULL;
}

/* ---- making the function ---- */

/*
 * A capability without its id and link: the other members of struct virtio_pci_cap, and `more`, which only the types CFG_NOTIFY
 * and CFG_ACCESS have.
 */
struct cap_body {
	uint8_t len, type, bar, id, padding[2];
	uint32_t offset, length, more;
} __attribute__((packed));

static unsigned add_cap(struct virtio *v, uint8_t type, uint32_t offset, uint32_t length)
{
	bool longer = type == CFG_NOTIFY || type == CFG_ACCESS;
	struct cap_body body = {
		.len = longer ? 20 : 16,
		.type = type,
		.bar = VIRTIO_REGS_BAR,
		.offset = offset,
		.length = length,
		.more = type == CFG_NOTIFY ? VIRTIO_NOTIFY_STEP : 0,
	};

	return pci_function_capability(&v->fn, CAP_VENDOR, &body, body.len - 2u);
}

static void make_function(struct virtio *v)
{
	const struct pci_id id = {
		.vendor = VENDOR,
		.device = (uint16_t)(DEVICE_BASE + v->ops->type),
		.subsystem_vendor = VENDOR,
		.subsystem = (uint16_t)(0x40 + v->ops->type),
		.class = v->ops->class,
		.revision = 1,
		.intx = true,
	};

	pci_function_init(&v->fn, &id, &pci_function_ops, v);
	pci_function_bar(&v->fn, VIRTIO_REGS_BAR, VIRTIO_REGS_LEN, true, &virtio_regs_ops, v);
	add_cap(v, CFG_COMMON, VIRTIO_COMMON, VIRTIO_COMMON_LEN);
	add_cap(v, CFG_NOTIFY, VIRTIO_NOTIFY, v->queues * VIRTIO_NOTIFY_STEP);
	add_cap(v, CFG_ISR, VIRTIO_ISR, 1);
	if (v->ops->config_size)
		add_cap(v, CFG_DEVICE, VIRTIO_DEVICE, (uint32_t)v->ops->config_size);
	v->cap_access = add_cap(v, CFG_ACCESS, 0, 0);
	v->fn.writable[v->cap_access + ACCESS_BAR] = 0xff;
	memset(v->fn.writable + v->cap_access + ACCESS_OFFSET, 0xff, 12);
}

static int make_queue(struct virtio *v, unsigned index, const struct virtio_bus *bus, unsigned device_index, struct err *err)
{
	struct virtio_queue *queue = &v->queue[index];
	struct device_request by = {.index = device_index, .queue = index};
	const struct virtq_wiring wiring = {
		.interrupt = virtio_interrupt_queue,
		.broken = virtio_break_device,
		.left = virtio_queue_left,
		.ctx = v,
		.device_broken = &v->broken,
		.standing = bus->workers ? &bus->workers->standing : NULL,
	};

	snprintf(by.type, sizeof(by.type), "%s", v->ops->name);
	virtq_init(&queue->q, bus->dma, &by, &wiring);
	virtq_hold(&queue->q, true);
	queue->v = v;
	queue->size = VIRTQ_MAX_SIZE;
	queue->vector = PCI_MSIX_NONE;
	queue->worker = v->ops->worker(v->dev, index);
	queue->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue->kick_fd < 0)
		return err_set(err, EXIT_INTERNAL, "%s: eventfd failed: %s", v->name, strerror(errno));
	return 0;
}

static int make_parts(struct virtio *v, const struct virtio_bus *bus, unsigned index, struct err *err)
{
	for (unsigned i = 0; i < v->queues; i++)
		if (make_queue(v, i, bus, index, err) < 0)
			return -1;
	/* One vector for each queue, and one for changes of the configuration. */
	if (pci_msix_init(&v->msix, &v->fn, VIRTIO_MSIX_BAR, v->queues + 1, &bus->pci->host, err) < 0)
		return -1;
	return pci_plug(bus->pci, &v->fn, err);
}

struct virtio *virtio_add(const struct virtio_bus *bus, const struct virtio_ops *ops, void *dev, unsigned index,
			  unsigned queues, struct err *err)
{
	struct virtio *v = calloc(1, sizeof(*v));

	assert(queues && queues <= VIRTIO_MAX_QUEUES && ops->config_size <= VIRTIO_MAX_CONFIG);
	if (!v) {
		err_set(err, EXIT_INTERNAL, "out of memory for %s %u", ops->name, index);
		return NULL;
	}
	v->ops = ops;
	v->dev = dev;
	snprintf(v->name, sizeof(v->name), "%s %u", ops->name, index);
	v->offered = VIRTIO_CORE_FEATURES | ops->features(dev);
	v->queues = queues;
	v->config_vector = PCI_MSIX_NONE;
	pthread_mutex_init(&v->lock, NULL);
	pthread_mutex_init(&v->config_lock, NULL);
	pthread_mutex_init(&v->isr_lock, NULL);
	for (unsigned i = 0; i < VIRTIO_MAX_QUEUES; i++)
		v->queue[i].kick_fd = -1;
	make_function(v);
	if (make_parts(v, bus, index, err) < 0) {
		virtio_remove(v);
		return NULL;
	}
	return v;
}

static void remove_queue(struct virtio_queue *queue)
{
	const struct pci_host *host = &queue->v->msix.host;

	if (queue->bell)
		host->doorbell(host->ctx, queue->bell, queue->kick_fd, false);
	virtq_stop(&queue->q);
	worker_unwatch(queue->worker, queue->kick_fd);
	close(queue->kick_fd);
}

void virtio_remove(struct virtio *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < v->queues; i++)
		if (v->queue[i].kick_fd >= 0)
			remove_queue(&v->queue[i]);
	pci_msix_destroy(&v->msix);
	pthread_mutex_destroy(&v->lock);
	pthread_mutex_destroy(&v->config_lock);
	pthread_mutex_destroy(&v->isr_lock);
	free(v);
}

const char *virtio_name(const struct virtio *v)
{
	return v->name;
}

struct virtq *virtio_queue(struct virtio *v, unsigned queue)
{
	return &v->queue[queue].q;
}

/* ---- called by workers ---- */

void virtio_config_begin(struct virtio *v)
{
	pthread_mutex_lock(&v->config_lock);
}

void virtio_config_end(struct virtio *v)
{
	v->generation++;
	pthread_mutex_unlock(&v->config_lock);
	virtio_interrupt_config(v);
}

const char *virtio_broken(const struct virtio *v)
{
	return v->why_broken;
}
