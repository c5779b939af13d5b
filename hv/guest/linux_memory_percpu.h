/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds which CPU's copy of which per-CPU variable or allocation is at a kernel address. */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_PERCPU_H
#define OUTRIDER_GUEST_LINUX_MEMORY_PERCPU_H

#include "hv/guest/guest.h"

/* Locate per-CPU memory. */
void linux_find_percpu(struct guest *g);

/*
 * Describe the per-CPU memory at `gva` for an access of `size` bytes. `page` is the page of `gva`, or NULL if unknown. Returns
 * false and leaves *out alone if `gva` is not in per-CPU memory.
 */
bool linux_percpu_at(const struct guest *g, uint64_t gva, const struct guest_page *page, uint32_t size,
		     struct guest_memory *out);

#endif
