/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read access to guest memory through one checked callback, for code that is independent of a machine: symbols/ and hv/guest.
 */
#ifndef OUTRIDER_BASE_GUEST_READER_H
#define OUTRIDER_BASE_GUEST_READER_H

#include <stddef.h>
#include <stdint.h>

struct guest_reader {
	/*
	 * Copy `len` bytes at the kernel's GVA `gva` to `buf`. Returns 0, or -1 if any byte is unmapped or not RAM; the content
	 * of `buf` is then undefined. Never changes the guest. Accepts any address, since addresses come from untrusted guest
	 * memory.
	 */
	int (*read)(void *ctx, uint64_t gva, void *buf, size_t len);
	/* First argument of read(). */
	void *ctx;
};

#endif
