/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A disk image: bytes at offsets, stored in a file or a block device of the host. A device that uses a disk includes only this
 * header. Disks use neither guest memory nor virtio.
 *
 * Images are raw. An image in qcow2, VMDK, VDI, VHD, VHDX, QED or Parallels format is recognised by its magic number, and
 * refused with the command that converts it. Outrider does not use libqcow, the only library for qcow2 in Debian 12
 * (20201213-1): libqcow calls itself experimental, reads versions 1 and 2 but not 3 (the default of qemu-img since 2.0),
 * follows no backing files and cannot write. QEMU's own block layer is no library; qemu-nbd would add a second process and a
 * socket between the guest and its disk.
 *
 * With an overlay the image is only read. All writes go to a temporary file without a name, which disappears with this process.
 * The temporary file is in the folder that $TMPDIR names. Without $TMPDIR it is in the image's folder, or in /var/tmp if the
 * image is a block device or its folder cannot be used.
 *
 * Locks keep one program from writing an image while another uses it (disk_lock.h).
 *
 * Threads: any number of threads may call disk_read() and the functions after it at the same time. Requests that do not overlap
 * do not affect each other, even in the same block. Two concurrent writes that overlap leave a mix of both, as on a real disk.
 * All of these functions may block for long.
 */
#ifndef OUTRIDER_VMM_BLOCK_DISK_H
#define OUTRIDER_VMM_BLOCK_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hv/base/err.h"
#include "hv/vmm/block/disk_sector.h"
#include "hv/vmm/vmm.h"

struct disk;

/*
 * Open and lock the image of `config`. A read-only disk has no overlay, whatever `config` says. Returns NULL with EXIT_INPUT if
 * the image is missing, empty, neither a file nor a block device, not accessible to the user, in use, of a size that is no
 * multiple of DISK_SECTOR, or in a format other than raw (unless `config` says that it is raw); or if no place for the overlay
 * is found. The message is one line that says what is wrong, where, and what to do. This call never changes the image.
 */
struct disk *disk_open(const struct vmm_disk *config, struct err *err);

/*
 * Mark each block of the disk that is written from now on, so that copies of the machine can have copies of the disk. To be
 * called before the machine runs. Returns 0, or -1 with EXIT_INPUT.
 */
int disk_allow_copies(struct disk *disk, struct err *err);

/* Record that a copy of the machine begins. No request may be in flight from this call until the fork() that follows. */
void disk_copy_begins(struct disk *disk);

/*
 * Make a disk with the content that `live` had at disk_copy_begins(). To be called in a process that was forked after that
 * call. Writes to the new disk stay in memory. When the process of the running machine writes a block of `live`, the new disk
 * loses the block's old content: reading the block from the new disk returns DISK_NEWER. `live` must outlive the new disk.
 * Returns NULL with `err` set.
 */
struct disk *disk_copy(struct disk *live, struct err *err);

/* Write to `fds` the file descriptors that a copy of the disk needs open. Returns their number, 1 or 2. */
unsigned disk_descriptors(const struct disk *disk, int fds[2]);

/*
 * Returned by the functions of a copied disk, in place of an errno number: the wanted bytes were overwritten on the original
 * disk after the copy was made.
 */
#define DISK_NEWER (-1)

/* Free the disk, and discard its overlay. No request may be in flight. NULL is allowed. */
void disk_close(struct disk *disk);

/* Returns the disk's size in bytes, which never changes. */
uint64_t disk_size(const struct disk *disk);

bool disk_read_only(const struct disk *disk);

/* Returns the path of the image as the user gave it. Valid as long as the disk. */
const char *disk_path(const struct disk *disk);

/*
 * Returns the path to name in a message about a failed write: the path of the image or, with an overlay, of the overlay's
 * folder. Valid as long as the disk.
 */
const char *disk_written_path(const struct disk *disk);

/*
 * Copy between the disk, from byte `offset` on, and the `count` pieces of memory at `iov`. The call changes the pieces'
 * addresses and lengths. Returns 0, or DISK_NEWER, or an errno number: EINVAL when the range is not in the disk, EROFS when the
 * disk is read-only, otherwise the host's error, such as ENOSPC. After a failure any part of the range may have been copied; no
 * byte outside the range has changed.
 */
int disk_read(struct disk *disk, struct iovec *iov, unsigned count, uint64_t offset);
int disk_write(struct disk *disk, struct iovec *iov, unsigned count, uint64_t offset);

/*
 * Announce that the `len` bytes at `offset` will be read soon, so that the host starts to read them from its storage now. Does
 * not wait for the data. Ignores a range that is not in the disk.
 */
void disk_will_read(struct disk *disk, uint64_t offset, uint64_t len);

/*
 * Wait until all data of completed writes is on the host's storage (fdatasync). Does nothing for an overlay, which does not
 * outlive the process. Returns 0 or an errno number. After a failure every later call fails too: the host's kernel may have
 * dropped the pages that it could not write, and a later fdatasync() would not report that.
 */
int disk_flush(struct disk *disk);

/*
 * Free the host's storage of the `len` bytes at `offset`, if the host supports that. Afterwards these bytes may read as any
 * values. Returns as disk_write() does.
 */
int disk_discard(struct disk *disk, uint64_t offset, uint64_t len);

/*
 * Make the `len` bytes at `offset` read as zeroes. `unmap`: the host may also free their storage. Returns as disk_write() does.
 */
int disk_zero(struct disk *disk, uint64_t offset, uint64_t len, bool unmap);

#endif
