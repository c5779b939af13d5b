/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How layers without a machine in them (symbols, the guest-kernel knowledge) read guest memory: one checked callback.
 */
#ifndef OUTRIDER_BASE_GUEST_READER_H
#define OUTRIDER_BASE_GUEST_READER_H

#include <stddef.h>
#include <stdint.h>

struct guest_reader {
	/*
	 * Copy `len` bytes at kernel GVA `gva` to `buf`. Returns 0, or -1 when any byte is unmapped or not RAM; then `buf` is
	 * unspecified. Never touches the guest. Any address is allowed: the guest is untrusted and so is what its memory points
	 * to.
	 */
	int (*read)(void *ctx, uint64_t gva, void *buf, size_t len);
	void *ctx;
};

#endif
