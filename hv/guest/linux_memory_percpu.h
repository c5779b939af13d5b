/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_PERCPU_H
#define OUTRIDER_GUEST_LINUX_MEMORY_PERCPU_H

#include "hv/guest/guest.h"

/* Look up where per-CPU memory is. */
void linux_find_percpu(struct guest *g);

/*
 * Fill in the per-CPU memory at `gva`, for an access of `size` bytes. `page` is the page of `gva`, or NULL when it is not
 * known. False: it is no per-CPU memory, and *out is as it was.
 */
bool linux_percpu_at(const struct guest *g, uint64_t gva, const struct guest_page *page, uint32_t size,
		     struct guest_memory *out);

#endif
