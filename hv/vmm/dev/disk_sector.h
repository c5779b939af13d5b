/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_VMM_DEV_DISK_SECTOR_H
#define OUTRIDER_VMM_DEV_DISK_SECTOR_H

/* The unit of a disk in bytes: the size of every image is a multiple of it, and virtio counts in it. */
#define DISK_SECTOR 512u

#endif
