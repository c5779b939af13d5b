/* SPDX-License-Identifier: GPL-2.0-or-later */
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
	struct silent *card = calloc(1, sizeof(*card));

	if (!card) {
		err_set(err, EXIT_INTERNAL, "out of memory for a card of the copy");
		return NULL;
	}
	card->identity = saved->identity;
	memcpy(card->config, saved->config, sizeof(card->config));
	card->ops = (struct virtio_ops){
		.name = card->identity.name,
		.type = card->identity.type,
		.class = card->identity.class,
		.config_size = card->identity.config_size,
		.features = features,
		.config_read = config_read,
		.queue_ready = queue_ready,
		.worker = worker,
	};
	/* The worker has nothing to serve, so it gets the narrowest confinement, that of the entropy device. */
	card->worker = worker_new(bus->workers, SANDBOX_RNG, "silent", err);
	if (card->worker)
		card->virtio = virtio_add(bus, &card->ops, card, card->identity.index, card->identity.queues, err);
	if (card->virtio)
		return card;
	silent_free(card);
	return NULL;
}

void silent_free(struct silent *card)
{
	if (!card)
		return;
	virtio_remove(card->virtio);
	worker_free(card->worker);
	free(card);
}
