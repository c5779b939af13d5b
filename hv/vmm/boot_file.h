/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel and the initrd that the user gives. Every read is checked against the file's size, and every error names the
 * file.
 */
#ifndef OUTRIDER_VMM_BOOT_FILE_H
#define OUTRIDER_VMM_BOOT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct boot_file {
	int fd;
	uint64_t size;	  /* bytes */
	const char *what; /* "kernel" or "initrd", for messages; the caller owns it */
	const char *path; /* the file's path, for messages; the caller owns it */
};

/*
 * Open the file at `path`. `what` and `path` must outlive *file. Returns 0, or -1 with EXIT_INPUT if the file cannot be opened,
 * is not a regular file or is empty.
 */
int boot_file_open(struct boot_file *file, const char *what, const char *path, struct err *err);

/*
 * Copy exactly `len` bytes at `offset` of the file to `buf`. Returns 0, or -1 with EXIT_INPUT. The message says "is truncated"
 * if the file has fewer bytes.
 */
int boot_file_read(const struct boot_file *file, uint64_t offset, void *buf, size_t len, struct err *err);

void boot_file_close(struct boot_file *file);

#endif
