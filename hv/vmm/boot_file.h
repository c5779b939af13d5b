/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the files a user gives: every read is checked against the file's size, and every failure names the file.
 */
#ifndef OUTRIDER_VMM_BOOT_FILE_H
#define OUTRIDER_VMM_BOOT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct boot_file {
	int fd;
	uint64_t size;
	const char *what; /* "kernel", "initrd": for messages */
	const char *path; /* the caller's */
};

/* Open a regular, non-empty file. EXIT_INPUT otherwise. `path` must outlive the input. */
int boot_file_open(struct boot_file *file, const char *what, const char *path, struct err *err);

/* Copy exactly `len` bytes from `offset` to `buf`; EXIT_INPUT "is truncated" when the file does not have them. */
int boot_file_read(const struct boot_file *file, uint64_t offset, void *buf, size_t len, struct err *err);

void boot_file_close(struct boot_file *file);

#endif
