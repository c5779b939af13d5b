/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that never runs: RAM, and registers of CPUs. It is a target of which only memory and registers can be asked for,
 * which is all that hv/guest needs to find the kernel in it, and all that target_read() and its like need.
 *
 * RAM and registers are borrowed. They may come from a file, and nothing in them is trusted. Any thread may read.
 */
#ifndef OUTRIDER_REPLAY_IMAGE_H
#define OUTRIDER_REPLAY_IMAGE_H

#include "hv/base/x86.h"
#include "hv/target/target.h"
#include "hv/vmm/ram.h"

struct image {
	struct target target; /* Only what reads memory, target_peek_regs() and target_stand_still() may be called. */
	const struct ram *ram;
	const struct x86_regs *regs; /* of each CPU */
};

/* Make the image of `ram` and of `cpus` CPUs, at least 1, with these registers. Nothing is to be freed. */
void image_init(struct image *image, const struct ram *ram, const struct x86_regs *regs, unsigned cpus);

#endif
