/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A disk image: bytes at offsets, kept in a file or a block device of the host. This header is all that a device needs to know
 * of images. It knows neither guest memory nor virtio.
 *
 * Images are raw. An image in qcow2, VMDK, VDI, VHD, VHDX, QED or Parallels format is recognised by its magic number and
 * refused with the command that converts it. libqcow, the one library for qcow2 in Debian 12 (20201213-1), was not taken: it
 * calls itself experimental, reads versions 1 and 2 but not 3 (what qemu-img has made by default since 2.0), follows no backing
 * files and cannot write. QEMU's own block layer is no library; qemu-nbd would put a second process and a socket between the
 * guest and its disk.
 *
 * With an overlay the image is only read, and everything that is written goes to a temporary file without a name, which is gone
 * when this process is. The temporary file is in the folder that $TMPDIR names, or else beside the image unless that is a block
 * device, or else in /var/tmp.
 *
 * Locks keep an image from being written by one program while another uses it (disk_lock.h).
 *
 * Threads: disk_read() and the functions below it may be called by any number of threads at once. Requests that do not overlap
 * do not influence each other, however close they are. What two overlapping requests at the same time leave is some mix of
 * both, as on a real disk. All of them block, and may be slow.
 */
#ifndef OUTRIDER_VMM_DEV_DISK_H
#define OUTRIDER_VMM_DEV_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hv/base/err.h"
#include "hv/vmm/dev/disk_sector.h"
#include "hv/vmm/vmm.h"

struct disk;

/*
 * Open and lock the image of `config`. A disk that is read-only has no overlay,
 * whatever `config` says. Returns NULL with EXIT_INPUT, and one line that says what, where and what to do, when the image is
 * missing, empty, no file and no block device, of a size that is no multiple of DISK_SECTOR, in a format other than raw (unless
 * `config` says that it is raw), not
 * permitted, or in use; or when no place for the overlay is found. The image is never changed by this call.
 */
struct disk *disk_open(const struct vmm_disk *config, struct err *err);

/*
 * Let the disk tell what is written to it from now on, so that copies of the machine can have copies of the disk. To be called
 * before the machine runs. Returns 0, or -1 with EXIT_INPUT.
 */
int disk_allow_copies(struct disk *disk, struct err *err);

/* A copy of the machine is being made: nothing is under way on the disk, and a fork() follows before anything is. */
void disk_copy_begins(struct disk *disk);

/*
 * In a process that was forked since disk_copy_begins() for `live`: make a disk that has what `live` had at that time. What is
 * written to the new disk stays in memory. What was written to `live` by the other process since then is lost to the copy:
 * whoever asks for these bytes gets DISK_NEWER. `live` must outlive the copy. Returns NULL with `err` set.
 */
struct disk *disk_copy(struct disk *live, struct err *err);

/* The descriptors of the disk, at most 2, to be kept open where there is a copy of it. Returns how many there are. */
unsigned disk_descriptors(const struct disk *disk, int fds[2]);

/* An error, besides those of errno, of a copy: the bytes as they were are no more. */
#define DISK_NEWER (-1)

/* Release what disk_open() took; an overlay is gone then. Nothing may be under way. NULL is allowed. */
void disk_close(struct disk *disk);

/* The size in bytes, which does not change. */
uint64_t disk_size(const struct disk *disk);

bool disk_read_only(const struct disk *disk);

/* The path of the image, as it was given. It is valid as long as the disk. */
const char *disk_path(const struct disk *disk);

/*
 * The path of the image, or of the overlay's folder: what a message about a failed write names. It is valid as long as the
 * disk.
 */
const char *disk_written_path(const struct disk *disk);

/*
 * Copy between the disk from byte `offset` on and the `count` pieces of memory at `iov`, whose total must lie in the disk. The
 * pieces' addresses and lengths are used up by the call. Returns 0, or DISK_NEWER, or an errno number: EINVAL when the range is
 * not in the disk, EROFS when the disk is read-only, else what the host said, such as ENOSPC. After a failure any part may have
 * been copied; no byte outside the range has changed.
 */
int disk_read(struct disk *disk, struct iovec *iov, unsigned count, uint64_t offset);
int disk_write(struct disk *disk, struct iovec *iov, unsigned count, uint64_t offset);

/*
 * Say that the `len` bytes at `offset` will be read soon, so that the host begins to read them from its medium now. It does not
 * wait for that. A range that is not in the disk is no mistake.
 */
void disk_will_read(struct disk *disk, uint64_t offset, uint64_t len);

/*
 * Wait until all that was written by calls which have returned is on the host's medium (fdatasync). With an overlay this does
 * nothing, since an overlay does not outlive the process. Returns 0 or an errno number. Once it has failed it always fails: the
 * host's kernel may have dropped what it could not write, and a later fdatasync() would not know.
 */
int disk_flush(struct disk *disk);

/*
 * Give the `len` bytes at `offset` back to the host where the host can take them; what is read there later is not specified.
 * Returns as disk_write() does.
 */
int disk_discard(struct disk *disk, uint64_t offset, uint64_t len);

/*
 * Let the `len` bytes at `offset` read as zeroes. `unmap`: the host may also have the space back. Returns as disk_write() does.
 */
int disk_zero(struct disk *disk, uint64_t offset, uint64_t len, bool unmap);

#endif
