// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the kernel's metadata for pages of RAM (include/linux/mm_types.h, page-flags.h). A slab's pages are marked by a flag up
 * to Linux 6.9, by a cleared bit of page_type in 6.10 and 6.11, and by a number in the highest byte of page_type since 6.12.
 */
#include <stdio.h>
#include <string.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"
#include "hv/guest/linux_memory_page.h"

#define NO_TYPE UINT32_MAX /* page_type of a page that has no type, and is not mapped by user space (_mapcount of -1) */
#define ORDER_MAX 11	   /* a block of the buddy allocator has at most 2^11 pages (MAX_PAGE_ORDER) */
#define PAGES_TOGETHER_MAX (1u << 10) /* upper bound of a slab's pages; only compound pages of user memory are far larger */

static struct linux_page_type page_type(const struct guest *g, const char *number, const char *bit)
{
	int64_t value, base;

	if (btf_enumerator(g->btf, number, &value) == 0 && value > 0 && value <= UINT8_MAX)
		return (struct linux_page_type){0xff000000, (uint32_t)value << 24};
	/* If `bit` has a value below 64, this kernel uses `bit` as the number of a page flag, not as a page type. */
	if (btf_enumerator(g->btf, bit, &value) || btf_enumerator(g->btf, "PAGE_TYPE_BASE", &base) || (uint64_t)value < 64)
		return (struct linux_page_type){0};
	return (struct linux_page_type){(uint32_t)(base | value), (uint32_t)base};
}

/* Returns the offset of a list_head in struct page, or 0 if it is unknown. `size` is that of struct page. */
static uint32_t find_list(const struct guest *g, const char *type, const char *name, uint32_t size)
{
	struct btf_member list;

	return btf_member(g->btf, type, name, &list) == 0 && list.offset + 2 * sizeof(uint64_t) <= size ? list.offset : 0;
}

void linux_find_pages(struct guest *g)
{
	struct linux_page_layout *p = &g->memory.page;
	const char *slab;
	int64_t flag;
	uint32_t size;

	*p = (struct linux_page_layout){.slab_flag = -1, .reserved_flag = -1};
	size = g->btf ? btf_sizeof(g->btf, "page") : 0;
	if (!size || size > GUEST_PAGE_STRUCT_MAX || !g->memory.vmemmap)
		return;
	linux_find_member(g, "page", "flags", size, &p->flags);
	linux_find_member(g, "page", "page_type", size, &p->type);
	linux_find_member(g, "page", "compound_head", size, &p->head);
	if (!p->head.size)
		linux_find_member(g, "page", "compound_info", size, &p->head);
	linux_find_member(g, "slab", "slab_cache", size, &p->cache);
	linux_find_member(g, "slab", "objects", size, &p->objects);
	if (!p->cache.size) {
		linux_find_member(g, "page", "slab_cache", size, &p->cache);
		linux_find_member(g, "page", "objects", size, &p->objects);
	}
	slab = btf_sizeof(g->btf, "slab") ? "slab" : "page";
	linux_find_member(g, slab, "freelist", size, &p->free);
	linux_find_member(g, slab, "inuse", size, &p->inuse);
	linux_find_member(g, slab, "frozen", size, &p->frozen);
	p->slab_list = find_list(g, slab, "slab_list", size);
	linux_find_member(g, "page", "_refcount", size, &p->refs);
	linux_find_member(g, "page", "index", size, &p->owner[0]);
	linux_find_member(g, "page", "private", size, &p->owner[1]);
	p->list = find_list(g, "page", "lru", size);
	if (btf_enumerator(g->btf, "PG_slab", &flag) == 0 && flag >= 0 && flag < 64)
		p->slab_flag = (int)flag;
	if (btf_enumerator(g->btf, "PG_reserved", &flag) == 0 && flag >= 0 && flag < 64)
		p->reserved_flag = (int)flag;
	p->slab = page_type(g, "PGTY_slab", "PG_slab");
	p->table = page_type(g, "PGTY_table", "PG_table");
	p->buddy = page_type(g, "PGTY_buddy", "PG_buddy");
	/* Before Linux 6.10, PG_buddy is a macro (include/linux/page-flags.h). */
	if (!p->buddy.mask)
		p->buddy = (struct linux_page_type){0xf0000080, 0xf0000000};
	p->size = size;
}

int linux_page(const struct guest *g, uint64_t gpa, struct guest_page *out)
{
	const struct linux_memory *m = &g->memory;

	out->pfn = gpa / X86_PAGE_SIZE;
	if (!m->page.size || out->pfn >= m->pages_max)
		return -1;
	out->info = m->vmemmap + out->pfn * m->page.size;
	return guest_read(g, out->info, out->copy, m->page.size);
}

/*
 * Returns the address of the struct page of the head of a compound page. `info` is the address of the struct page of another
 * page in the compound page, and `link` is that page's link to the head, with bit 0 set. Without bit 0, `link` is the address
 * of the head's struct page. In kernels with compound_info, seen in Linux 7.3, `link` without bit 0 can be a mask instead, and
 * `info` & mask is this address. In a mask, all ones are above all zeros. Only the address of the struct of page 0 could have
 * this form, and page 0 is in no compound page.
 */
static uint64_t head_address(uint64_t info, uint64_t link)
{
	uint64_t rest = link - 1;

	return ~rest & (~rest + 1) ? rest : info & rest;
}

/*
 * Store in *out the head of the compound page that contains `page`. The head's struct page describes the whole compound page.
 * Returns 0, or -1 if the head is invalid or unreadable.
 */
static int page_head(const struct guest *g, const struct guest_page *page, struct guest_page *out)
{
	const struct linux_page_layout *p = &g->memory.page;
	uint64_t link = linux_member_value(page->copy, &p->head), head, before;

	*out = *page;
	if (!(link & 1))
		return 0;
	head = head_address(page->info, link);
	before = page->info - head;
	if (head > page->info || before % p->size || before / p->size >= PAGES_TOGETHER_MAX)
		return -1;
	return linux_page(g, (page->pfn - before / p->size) * X86_PAGE_SIZE, out);
}

static bool is_of_type(const struct guest *g, const struct guest_page *page, const struct linux_page_type *type)
{
	const struct btf_member *m = &g->memory.page.type;

	return type->mask && m->size && ((uint32_t)linux_member_value(page->copy, m) & type->mask) == type->value;
}

void guest_page_state(const struct guest *g, uint64_t gpa, struct guest_page_state *out)
{
	out->gpa = gpa;
	out->page_known = linux_page(g, gpa, &out->page) == 0;
	out->head_known = out->page_known && page_head(g, &out->page, &out->head) == 0;
}

bool linux_page_is_slab(const struct guest *g, const struct guest_page *head)
{
	const struct linux_page_layout *p = &g->memory.page;

	if (p->slab_flag >= 0)
		return p->flags.size && linux_member_value(head->copy, &p->flags) >> p->slab_flag & 1;
	return is_of_type(g, head, &p->slab);
}

bool linux_page_is_table(const struct guest *g, const struct guest_page *page)
{
	return is_of_type(g, page, &g->memory.page.table);
}

bool linux_page_is_on_list(const struct guest *g, const struct guest_page *page, uint32_t offset)
{
	uint64_t own = page->info + offset, list[2], back[2];

	if (!offset)
		return false;
	memcpy(list, page->copy + offset, sizeof(list));
	return guest_read(g, list[0] + sizeof(list[0]), &back[0], sizeof(back[0])) == 0 &&
	       guest_read(g, list[1], &back[1], sizeof(back[1])) == 0 && back[0] == own && back[1] == own;
}

uint64_t linux_free_pages(const struct guest *g, const struct guest_page *page)
{
	const struct linux_page_layout *p = &g->memory.page;
	uint64_t order;

	if (!p->refs.size || !p->type.size || linux_member_value(page->copy, &p->refs))
		return 0;
	if (is_of_type(g, page, &p->buddy)) {
		order = p->owner[1].size ? linux_member_value(page->copy, &p->owner[1]) : 0;
		return order <= ORDER_MAX ? UINT64_C(1) << order : 1;
	}
	return (uint32_t)linux_member_value(page->copy, &p->type) == NO_TYPE && linux_page_is_on_list(g, page, p->list);
}

bool linux_page_is_allocators(const struct guest *g, uint64_t gpa)
{
	const struct linux_page_layout *p = &g->memory.page;
	struct guest_page page;

	if (p->reserved_flag < 0 || !p->flags.size || linux_page(g, gpa, &page))
		return false;
	return !(linux_member_value(page.copy, &p->flags) >> p->reserved_flag & 1);
}
