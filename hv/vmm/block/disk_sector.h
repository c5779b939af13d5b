/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_VMM_BLOCK_DISK_SECTOR_H
#define OUTRIDER_VMM_BLOCK_DISK_SECTOR_H

/*
 * Bytes of a sector. The size of every image is a multiple of a sector, and virtio numbers sectors of this size (virtio 1.2,
 * 5.2.4).
 */
#define DISK_SECTOR 512u

#endif
