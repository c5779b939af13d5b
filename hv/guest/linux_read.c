/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads kernel memory and translates kernel addresses, through the kernel's own page tables. */
#include "hv/guest/linux_guest.h"

int guest_read(const struct guest *g, uint64_t gva, void *buf, size_t len)
{
	return target_read(g->target, g->cr3, g->cr4, gva, buf, len);
}

int guest_translate(const struct guest *g, uint64_t gva, uint64_t *gpa)
{
	return target_translate(g->target, g->cr3, g->cr4, gva, gpa);
}
