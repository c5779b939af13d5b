/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the struct page of a page of guest RAM, which tells what the kernel uses the page for. */
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

/*
 * Returns how many pages from this one on are known to be free, or 0. The page must be no tail of a compound page. The pages of
 * the buddy allocator and the pages on a CPU's list of free pages are known to be free. If an entry of a CPU's list stands for
 * several pages, only its first page counts. A count of 0 users does not show that a page is free: the second and later pages
 * of an allocation that is no compound page have no users either.
 */
uint64_t linux_free_pages(const struct guest *g, const struct guest_page *page);

/*
 * Returns whether the list_head at `offset` of the page's struct page is in a list: both neighbours point back to this
 * list_head. Returns false if the offset is 0.
 */
bool linux_page_is_on_list(const struct guest *g, const struct guest_page *page, uint32_t offset);

/*
 * Returns true if this page belongs to the page allocator, which may give it to any part of the kernel. At boot, the kernel
 * marks the pages of its image as reserved (PG_reserved). It clears the mark of a page that it frees (free_reserved_page()).
 * Returns false if the layout of struct page is unknown.
 */
bool linux_page_is_allocators(const struct guest *g, uint64_t gpa);

#endif
