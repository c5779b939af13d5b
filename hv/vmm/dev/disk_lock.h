/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks on an image file, by which outriders, QEMUs and libvirt keep out of each other's way.
 *
 * They are open file description locks (fcntl(2), F_OFD_SETLK): they end with the file descriptor, also when the process is
 * killed. QEMU locks single bytes of the file, whatever is in these bytes (block/file-posix.c). Byte 100 + N says that the
 * holder does N, and byte 200 + N that the holder does not bear that somebody else does N. N is 0 for consistent reads, 1 for
 * writes, 2 for writes of what is there already, and 3 for resizing. QEMU holds these bytes shared, and then asks whether
 * anybody holds a byte that speaks against it. Byte 0 is libvirt's (virtlockd), exclusive for who writes.
 *
 * A writer here takes bytes 0, 101 to 103 and 201 to 203 exclusively and byte 100 shared. A reader takes bytes 0, 100, 201 and
 * 203 shared. Each then looks whether anybody holds what speaks against it. So there is one writer or any number of readers,
 * and `qemu-img info -U`, which only wants byte 100, works all the time.
 */
#ifndef OUTRIDER_VMM_DEV_DISK_LOCK_H
#define OUTRIDER_VMM_DEV_DISK_LOCK_H

#include <stdbool.h>

#include "hv/base/err.h"

/*
 * Lock the image open at `fd`, for writing if `write` is set. `path` is for the message. Returns 0, or -1 with EXIT_INPUT when
 * somebody else uses the image. Where the file system has no locks the image is used without.
 */
int disk_lock(int fd, bool write, const char *path, struct err *err);

#endif
