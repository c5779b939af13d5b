/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio block device: its features, its configuration, and a worker for each of its queues. request.c serves the requests.
 * Numbers in parentheses are sections of virtio 1.2.
 */
#include "hv/vmm/block/virtio_blk.h"

#include <linux/virtio_blk.h>
#include <linux/virtio_ids.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/block/request.h"

#define FEATURE(n) (UINT64_C(1) << (n))

struct served_queue {
	struct worker *worker;
	struct blk_queue queue;
};

struct virtio_blk {
	struct blk blk;
	struct virtio *virtio;
	/* The negotiated features; 0 until the driver has set DRIVER_OK. They change only while the workers are paused. */
	uint64_t features;
	/* The configuration's writeback field: 1 or 0. */
	atomic_uchar writeback;
	unsigned queue_count;
	struct served_queue served[];
};

static uint64_t features(void *dev)
{
	const struct virtio_blk *d = dev;
	uint64_t all = FEATURE(VIRTIO_BLK_F_SIZE_MAX) | FEATURE(VIRTIO_BLK_F_SEG_MAX) | FEATURE(VIRTIO_BLK_F_BLK_SIZE) |
		       FEATURE(VIRTIO_BLK_F_TOPOLOGY) | FEATURE(VIRTIO_BLK_F_MQ);

	if (disk_read_only(d->blk.disk))
		return all | FEATURE(VIRTIO_BLK_F_RO);
	return all | FEATURE(VIRTIO_BLK_F_FLUSH) | FEATURE(VIRTIO_BLK_F_CONFIG_WCE) | FEATURE(VIRTIO_BLK_F_DISCARD) |
	       FEATURE(VIRTIO_BLK_F_WRITE_ZEROES);
}

static void config_read(void *dev, size_t offset, void *buf, size_t len)
{
	const struct virtio_blk *d = dev;
	const struct virtio_blk_config config = {
		.capacity = disk_size(d->blk.disk) / DISK_SECTOR,
		.size_max = BLK_SEGMENT_MAX,
		.seg_max = BLK_SEGMENTS_MAX,
		.blk_size = DISK_SECTOR,
		/*
		 * Physical blocks of 512 << 3 bytes, the page size of the host's page cache: the host need not read a page
		 * before the guest writes the whole page.
		 */
		.physical_block_exp = 3,
		.min_io_size = 8,
		.wce = atomic_load(&d->writeback),
		.num_queues = (uint16_t)d->queue_count,
		.max_discard_sectors = BLK_DISCARD_SECTORS,
		.max_discard_seg = BLK_DISCARD_SEGMENTS,
		.discard_sector_alignment = 8,
		.max_write_zeroes_sectors = BLK_ZERO_SECTORS,
		.max_write_zeroes_seg = BLK_ZERO_SEGMENTS,
		.write_zeroes_may_unmap = 1,
	};

	memcpy(buf, (const char *)&config + offset, len);
}

/*
 * Choose write-back or write-through. A driver that negotiated neither VIRTIO_BLK_F_FLUSH nor VIRTIO_BLK_F_CONFIG_WCE relies on
 * every completed write being on the medium (5.2.6.2).
 */
static void set_write_through(struct virtio_blk *d)
{
	bool back = d->features & FEATURE(VIRTIO_BLK_F_CONFIG_WCE) ? atomic_load(&d->writeback)
								   : d->features & FEATURE(VIRTIO_BLK_F_FLUSH);

	atomic_store(&d->blk.write_through, !back);
}

/* Handle a driver's write to the configuration. Only the field `writeback` may be written; other bytes are ignored. */
static void config_write(void *dev, size_t offset, const void *buf, size_t len)
{
	static const size_t field = offsetof(struct virtio_blk_config, wce);
	struct virtio_blk *d = dev;

	if (offset > field || field - offset >= len)
		return;
	atomic_store(&d->writeback, ((const uint8_t *)buf)[field - offset] ? 1 : 0);
	if (d->features)
		set_write_through(d);
}

static void activate(void *dev, uint64_t negotiated)
{
	struct virtio_blk *d = dev;

	d->features = negotiated;
	set_write_through(d);
}

static void queue_ready(void *dev, unsigned queue)
{
	struct virtio_blk *d = dev;

	blk_serve_queue(&d->blk, virtio_queue(d->virtio, queue), &d->served[queue].queue);
}

/* Reset at once: the workers are paused, so no request is being served for which the reset would have to wait. */
static void reset(void *dev)
{
	struct virtio_blk *d = dev;

	d->features = 0;
	atomic_store(&d->writeback, 1);
}

static struct worker *worker(void *dev, unsigned queue)
{
	return ((struct virtio_blk *)dev)->served[queue].worker;
}

static const struct virtio_ops ops = {
	.name = "virtio-blk",
	.type = VIRTIO_ID_BLOCK,
	.class = 0x010000,
	.config_size = sizeof(struct virtio_blk_config),
	.features = features,
	.config_read = config_read,
	.config_write = config_write,
	.activate = activate,
	.queue_ready = queue_ready,
	.reset = reset,
	.worker = worker,
};

static int make_workers(struct virtio_blk *d, struct workers *all, struct err *err)
{
	for (unsigned i = 0; i < d->queue_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "disk%u queue%u", d->blk.index, i);
		d->served[i].worker = worker_new(all, SANDBOX_BLK, name, err);
		if (!d->served[i].worker)
			return -1;
	}
	return 0;
}

unsigned virtio_blk_queues(const struct vmm_disk *config, unsigned cpus)
{
	return config->queues ? config->queues : cpus < VIRTIO_BLK_QUEUES ? cpus : VIRTIO_BLK_QUEUES;
}

/* Make the device struct, without a disk. */
static struct virtio_blk *new_device(unsigned index, unsigned queues, struct err *err)
{
	struct virtio_blk *d = calloc(1, sizeof(*d) + queues * sizeof(d->served[0]));

	if (!d) {
		err_set(err, EXIT_INTERNAL, "no memory for disk %u", index);
		return NULL;
	}
	d->blk.index = index;
	snprintf(d->blk.id, sizeof(d->blk.id), "outrider-%u", index);
	d->queue_count = queues;
	reset(d);
	return d;
}

/*
 * Make the workers and add the device to the bus. On failure, or if the device has no disk, frees the device and returns NULL.
 */
static struct virtio_blk *plug(struct virtio_blk *d, const struct virtio_bus *bus, struct err *err)
{
	if (d->blk.disk && make_workers(d, bus->workers, err) == 0)
		d->virtio = virtio_add(bus, &ops, d, d->blk.index, d->queue_count, err);
	if (d->virtio)
		return d;
	virtio_blk_free(d);
	return NULL;
}

struct virtio_blk *virtio_blk_new(const struct virtio_bus *bus, const struct vmm_disk *config, unsigned index, unsigned cpus,
				  const struct vmm_messages *messages, struct err *err)
{
	struct virtio_blk *d = new_device(index, virtio_blk_queues(config, cpus), err);

	if (!d)
		return NULL;
	d->blk.messages = *messages;
	d->blk.disk = disk_open(config, err);
	return plug(d, bus, err);
}

struct virtio_blk *virtio_blk_copy(const struct virtio_bus *bus, struct disk *disk, const struct virtio_saved *saved,
				   struct err *err)
{
	struct virtio_blk *d = new_device(saved->identity.index, saved->identity.queues, err);

	if (!d) {
		disk_close(disk);
		return NULL;
	}
	d->blk.disk = disk;
	atomic_store(&d->writeback, saved->config[offsetof(struct virtio_blk_config, wce)] ? 1 : 0);
	return plug(d, bus, err);
}

struct disk *virtio_blk_disk(struct virtio_blk *d)
{
	return d->blk.disk;
}

void virtio_blk_free(struct virtio_blk *d)
{
	if (!d)
		return;
	virtio_remove(d->virtio);
	for (unsigned i = 0; i < d->queue_count; i++)
		worker_free(d->served[i].worker);
	disk_close(d->blk.disk);
	free(d);
}
