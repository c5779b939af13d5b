/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How guest memory is read by what knows no machine, such as symbols/ and hv/guest: by one checked callback. */
#ifndef OUTRIDER_BASE_GUEST_READER_H
#define OUTRIDER_BASE_GUEST_READER_H

#include <stddef.h>
#include <stdint.h>

struct guest_reader {
	/*
	 * Copy `len` bytes at the kernel's GVA `gva` to `buf`. Returns 0, or -1 when any of them is not mapped or not RAM: then
	 * what is in `buf` is not specified. The guest is never changed. Any address is allowed: the guest is not trusted, and
	 * neither is what its memory points to.
	 */
	int (*read)(void *ctx, uint64_t gva, void *buf, size_t len);
	/* Handed to read(). */
	void *ctx;
};

#endif
