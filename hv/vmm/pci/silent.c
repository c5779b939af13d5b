/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A silent device: a virtio PCI device without a backend, which serves no request. In a copy of a machine, a silent device
 * replaces a device that cannot be copied.
 */
#include "hv/vmm/pci/silent.h"

#include <stdlib.h>
#include <string.h>

struct silent {
	struct virtio_ops ops;
	struct virtio_identity identity;
	uint8_t config[VIRTIO_MAX_CONFIG];
	struct worker *worker;
	struct virtio *virtio;
};

static uint64_t features(void *dev)
{
	return ((const struct silent *)dev)->identity.offered & ~VIRTIO_CORE_FEATURES;
}

static void config_read(void *dev, size_t offset, void *buf, size_t len)
{
	memcpy(buf, ((const struct silent *)dev)->config + offset, len);
}

static void queue_ready(void *dev, unsigned queue)
{
	(void)dev;
	(void)queue;
}

static struct worker *worker(void *dev, unsigned queue)
{
	(void)queue;
	return ((struct silent *)dev)->worker;
}

struct silent *silent_new(const struct virtio_bus *bus, const struct virtio_saved *saved, struct err *err)
{
	struct silent *device = calloc(1, sizeof(*device));

	if (!device) {
		err_set(err, EXIT_INTERNAL, "out of memory for a PCI device of the copy");
		return NULL;
	}
	device->identity = saved->identity;
	memcpy(device->config, saved->config, sizeof(device->config));
	device->ops = (struct virtio_ops){
		.name = device->identity.name,
		.type = device->identity.type,
		.class = device->identity.class,
		.config_size = device->identity.config_size,
		.features = features,
		.config_read = config_read,
		.queue_ready = queue_ready,
		.worker = worker,
	};
	/* The worker has nothing to serve, so it gets the narrowest confinement, that of the entropy device. */
	device->worker = worker_new(bus->workers, SANDBOX_RNG, "silent", err);
	if (device->worker)
		device->virtio = virtio_add(bus, &device->ops, device, device->identity.index, device->identity.queues, err);
	if (device->virtio)
		return device;
	silent_free(device);
	return NULL;
}

void silent_free(struct silent *device)
{
	if (!device)
		return;
	virtio_remove(device->virtio);
	worker_free(device->worker);
	free(device);
}
