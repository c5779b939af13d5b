/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that never runs: RAM and registers of CPUs, as a target that supports only reading of memory and registers. That is
 * all that hv/guest needs to find the kernel in the RAM, and all that functions such as target_read() need.
 *
 * The caller owns RAM and registers. They may come from a file, and nothing in them is trusted. Any thread may read.
 */
#ifndef OUTRIDER_REPLAY_IMAGE_H
#define OUTRIDER_REPLAY_IMAGE_H

#include "hv/base/x86.h"
#include "hv/target/target.h"
#include "hv/vmm/ram.h"

struct image {
	struct target target; /* only functions that read memory, target_peek_regs() and target_stand_still() may be called */
	const struct ram *ram;
	const struct x86_regs *regs; /* one element for each CPU */
};

/* Initialise the image with `ram` and with `cpus` CPUs, at least 1, with these registers. Allocates nothing. */
void image_init(struct image *image, const struct ram *ram, const struct x86_regs *regs, unsigned cpus);

#endif
