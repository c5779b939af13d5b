/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_PAGE_H
#define OUTRIDER_GUEST_LINUX_MEMORY_PAGE_H

#include "hv/guest/guest.h"

/* Find the layout of struct page. Requires g->memory.vmemmap. */
void linux_find_pages(struct guest *g);

/* Copy the struct page of a GPA. Returns 0, or -1 if the layout is unknown or the struct is unreadable. */
int linux_page(const struct guest *g, uint64_t gpa, struct guest_page *out);

/* Returns true if `head` is the first page of a slab. */
bool linux_page_is_slab(const struct guest *g, const struct guest_page *head);

/* Returns true if this page is a page table. Kernels before 6.10 do not mark page tables, so the result is then false. */
bool linux_page_is_table(const struct guest *g, const struct guest_page *page);

#endif
