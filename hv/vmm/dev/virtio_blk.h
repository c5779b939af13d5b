/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio block device (virtio 1.2, section 5.2): a disk of the guest, with the image that a struct vmm_disk names. Each of
 * its queues has a worker thread of its own, which serves one request after the other straight between guest RAM and the image.
 *
 * What a driver is told of the disk: sectors of 512 bytes in blocks of 4096, as the host's page cache has; a cache that is
 * written back by a flush, or through if the driver wishes so or knows no flushes; discards, and writes of zeroes. The disk's
 * serial number is "outrider-N", where N is the number of the disk, so that udev names it /dev/disk/by-id/virtio-outrider-N.
 *
 * A flush is done when the host has all that was written before on its medium, whatever happens to this process or the host
 * afterwards.
 */
#ifndef OUTRIDER_VMM_DEV_VIRTIO_BLK_H
#define OUTRIDER_VMM_DEV_VIRTIO_BLK_H

#include "hv/base/err.h"
#include "hv/vmm/virtio/saved.h"
#include "hv/vmm/virtio/virtio.h"
#include "hv/vmm/vmm.h"

/* The number of queues of a disk whose configuration does not give it is that of the vCPUs, but not above this. */
#define VIRTIO_BLK_QUEUES 4

struct disk;
struct virtio_blk;

/* The number of queues of a disk with this configuration, in a machine with `cpus` vCPUs. */
unsigned virtio_blk_queues(const struct vmm_disk *config, unsigned cpus);

/*
 * Open the image, and plug the disk into the bus as disk number `index` of a machine with `cpus` vCPUs. What
 * `notes` points to must outlive the disk. Returns NULL with `err` set; see disk_open() for what is wrong with images.
 */
struct virtio_blk *virtio_blk_new(const struct virtio_bus *bus, const struct vmm_disk *config, unsigned index, unsigned cpus,
				  const struct vmm_notes *notes, struct err *err);

/* The disk of a card. It stays the card's. */
struct disk *virtio_blk_disk(struct virtio_blk *disk);

/*
 * Plug the same card as the saved one into the bus of a copy of the machine, with a disk that the card takes, whatever comes of
 * it. Nobody is told of trouble. Returns NULL with `err` set.
 */
struct virtio_blk *virtio_blk_copy(const struct virtio_bus *bus, struct disk *disk, const struct virtio_saved *saved,
				   struct err *err);

/* Take the disk off the bus and close the image, after the machine's threads have ended. NULL is allowed. */
void virtio_blk_free(struct virtio_blk *disk);

#endif
