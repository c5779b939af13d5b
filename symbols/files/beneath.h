/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens regular files for reading, and refuses everything else. Private to symbols/files. */
#ifndef OUTRIDER_SYMBOLS_FILES_BENEATH_H
#define OUTRIDER_SYMBOLS_FILES_BENEATH_H

#include <stddef.h>
#include <stdint.h>

/* Test whether openat2(2) works on this host. `fd` is a folder's descriptor. Returns 0, or -1 with errno set. */
int beneath_works(int fd);

/*
 * Open the regular file `path` of at most `max` bytes for reading. If `fd` is a folder's descriptor, the file must lie below
 * that folder after all links are resolved. If `fd` is AT_FDCWD and the path absolute, the file may lie anywhere. A FIFO or
 * device is refused before it is opened, because opening some devices has an effect.
 *
 * Returns a descriptor, which the caller closes, and the file's size in bytes in *size. Returns -1 with errno set on failure:
 * ENOENT or ENOTDIR if there is no such file, EXDEV or ELOOP if a link leads out of the folder, EINVAL if the file is not
 * regular, EFBIG if it is too large.
 */
int beneath_open(int fd, const char *path, size_t max, size_t *size);

#endif
