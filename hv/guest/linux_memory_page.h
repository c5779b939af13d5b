/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_PAGE_H
#define OUTRIDER_GUEST_LINUX_MEMORY_PAGE_H

#include "hv/guest/guest.h"

/* Look up the layout of struct page. g->memory.vmemmap must be known already. */
void linux_find_pages(struct guest *g);

/* Copy the struct page of a GPA. Returns 0, or -1 when struct pages are not known or this one cannot be read. */
int linux_page(const struct guest *g, uint64_t gpa, struct guest_page *out);

/* Whether this is the first of a slab's pages. */
bool linux_page_is_slab(const struct guest *g, const struct guest_page *head);

/* Whether this page holds a page table. Kernels before 6.10 do not say so: then it is false. */
bool linux_page_is_table(const struct guest *g, const struct guest_page *page);

#endif
