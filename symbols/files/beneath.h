/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening regular files, and nothing else, for reading. Only symbols/files uses this header. */
#ifndef OUTRIDER_SYMBOLS_FILES_BENEATH_H
#define OUTRIDER_SYMBOLS_FILES_BENEATH_H

#include <stddef.h>
#include <stdint.h>

/* Whether the host's kernel has openat2(2): 0, or -1 with errno set. `fd` is a folder's descriptor. */
int beneath_works(int fd);

/*
 * Open the regular file `path` of at most `max` bytes for reading. With `fd` a folder's descriptor the file lies below that
 * folder, whatever links there are on the way. With `fd` AT_FDCWD and an absolute path it lies anywhere. A FIFO or a device is
 * never opened, not even for a moment, since opening some devices has an effect.
 *
 * Returns a descriptor, which the caller closes, and the file's size in bytes in *size. Returns -1 with errno set otherwise:
 * ENOENT or ENOTDIR when there is no such file, EXDEV or ELOOP when a link leads out of the folder, EINVAL when the file is no
 * regular file, EFBIG when it is too large.
 */
int beneath_open(int fd, const char *path, size_t max, size_t *size);

#endif
