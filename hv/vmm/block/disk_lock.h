/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks on an image file that keep Outrider, QEMU and libvirt from using an image at the same time in conflicting ways.
 *
 * The locks are open file description locks (fcntl(2), F_OFD_SETLK): they end with the file descriptor, even if the process is
 * killed. QEMU locks single bytes of the file, independent of their content (block/file-posix.c). A shared lock on byte 100 + N
 * means that its holder uses permission N. A shared lock on byte 200 + N means that its holder does not share permission N with
 * other programs. Permission 0 is consistent reads, 1 writes, 2 writes of unchanged data, and 3 resizing. QEMU takes its locks
 * and then tests with F_OFD_GETLK that no other program holds a conflicting byte. libvirt's virtlockd locks byte 0, exclusively
 * for a writer.
 *
 * A writer here takes bytes 0, 101 to 103 and 201 to 203 exclusively, and byte 100 shared. A reader takes bytes 0, 100, 201 and
 * 203 shared. Both then test for conflicting locks. So an image has either one writer or any number of readers. `qemu-img info
 * -U`, which only takes byte 100, always works.
 */
#ifndef OUTRIDER_VMM_BLOCK_DISK_LOCK_H
#define OUTRIDER_VMM_BLOCK_DISK_LOCK_H

#include <stdbool.h>

#include "hv/base/err.h"

/*
 * Lock the image open at `fd`, for writing if `write` is set. `path` is for the message. Returns 0, or -1 with EXIT_INPUT when
 * another program uses the image. Returns 0 without a lock if the file system does not support locks.
 */
int disk_lock(int fd, bool write, const char *path, struct err *err);

#endif
