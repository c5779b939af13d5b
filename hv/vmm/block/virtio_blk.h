/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio block device (virtio 1.2, section 5.2): a disk of the guest, with the image that a struct vmm_disk names. Each queue
 * has a worker of its own, which serves the queue's requests in order, and copies directly between guest RAM and the image.
 *
 * The configuration offers: sectors of 512 bytes, in blocks of 4096, the page size of the host's page cache; a write-back cache
 * with flushes, or write-through if the driver chooses write-through or did not negotiate flushes; discards, and writes of
 * zeroes. The disk's serial number is "outrider-N", where N is the disk's number, so that udev names it
 * /dev/disk/by-id/virtio-outrider-N.
 *
 * A flush completes when all earlier writes are on the host's storage, safe from a crash of this process or of the host.
 */
#ifndef OUTRIDER_VMM_BLOCK_VIRTIO_BLK_H
#define OUTRIDER_VMM_BLOCK_VIRTIO_BLK_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/saved.h"
#include "hv/vmm/virtio/virtio.h"
#include "hv/vmm/vmm.h"

/* A disk whose configuration gives no number of queues gets one queue for each vCPU, but at most this number of queues. */
#define VIRTIO_BLK_QUEUES 4

struct disk;
struct virtio_blk;

/* Returns the number of queues of a disk with this configuration, in a machine with `cpus` vCPUs. */
unsigned virtio_blk_queues(const struct vmm_disk *config, unsigned cpus);

/*
 * Open the image, and add disk number `index` to the bus of a machine with `cpus` vCPUs. The object at messages->ctx must
 * outlive the device. Returns NULL with `err` set on failure; disk_open() lists the errors of images.
 */
struct virtio_blk *virtio_blk_new(const struct virtio_bus *bus, const struct vmm_disk *config, unsigned index, unsigned cpus,
				  const struct vmm_messages *messages, struct err *err);

/* Returns the device's image, which the device still owns. */
struct disk *virtio_blk_disk(struct virtio_blk *disk);

/*
 * Add the saved device to the bus of a copy of the machine. The device then owns `disk`, even if the call fails. Errors of the
 * disk are not reported to the user. Returns NULL with `err` set on failure.
 */
struct virtio_blk *virtio_blk_copy(const struct virtio_bus *bus, struct disk *disk, const struct virtio_saved *saved,
				   struct err *err);

/* Free the device and close the image, after the machine's threads have ended. NULL is allowed. */
void virtio_blk_free(struct virtio_blk *disk);

#endif
