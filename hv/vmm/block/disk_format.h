/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recognises image formats other than raw by their magic numbers. disk.h says why they are not supported. */
#ifndef OUTRIDER_VMM_BLOCK_DISK_FORMAT_H
#define OUTRIDER_VMM_BLOCK_DISK_FORMAT_H

#include "hv/base/err.h"

/*
 * Read the start of the image open at `fd`. Returns 0 if the image has no known magic number, or -1 with EXIT_INPUT and a
 * message with the command that converts the image to raw. `path` is for the message.
 */
int disk_format_check(int fd, const char *path, struct err *err);

#endif
