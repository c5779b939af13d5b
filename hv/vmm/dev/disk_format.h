/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Image formats that are not raw, by their magic numbers. disk.h says why they are not read. */
#ifndef OUTRIDER_VMM_DEV_DISK_FORMAT_H
#define OUTRIDER_VMM_DEV_DISK_FORMAT_H

#include "hv/base/err.h"

/*
 * Look at the start of the image open at `fd`. Returns 0 when it is raw as far as one can see, or -1 with EXIT_INPUT: the
 * message has the command that makes a raw image of it. `path` is for the message.
 */
int disk_format_check(int fd, const char *path, struct err *err);

#endif
