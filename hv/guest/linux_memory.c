// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Determines what a kernel address belongs to: first by its area of the kernel's address space, whose location is randomised at
 * each boot (arch/x86/mm/kaslr.c), then by the kernel's own metadata for the memory.
 */
#include <stdio.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_memory.h"
#include "hv/guest/linux_memory_page.h"
#include "hv/guest/linux_memory_percpu.h"
#include "hv/guest/linux_memory_slab.h"
#include "hv/guest/linux_names.h"
#include "hv/guest/linux_sheaves.h"
#include "hv/guest/linux_stack.h"

/* Locations without randomisation, with 4-level page tables (Documentation/arch/x86/x86_64/mm.rst). */
#define PAGE_OFFSET 0xffff888000000000ull
#define VMALLOC_START 0xffffc90000000000ull
#define VMEMMAP_START 0xffffea0000000000ull
#define MODULES_END 0xffffffffff000000ull

#define PAGES_MAX_L4 (1ull << 34) /* number of pages in a 46-bit physical address space, with 4-level page tables */
#define PAGES_MAX_L5 (1ull << 40) /* number of pages in a 52-bit physical address space, with 5-level page tables */

#define STACK_END_MAGIC 0x57ac6e9dull /* lowest word of a task's stack (include/uapi/linux/magic.h) */

/* Returns the GVA of an area: the value of `variable`, or `fixed` if the kernel lacks that variable; 0 if unknown. */
static uint64_t find_part(const struct guest *g, const char *variable, uint64_t fixed)
{
	uint64_t at = symtab_addr(g->symtab, variable), value;

	if (!at)
		return g->cr4 & X86_CR4_LA57 ? 0 : fixed;
	return guest_read(g, at, &value, sizeof(value)) || !x86_kernel_address(value) ? 0 : value;
}

void linux_find_memory(struct guest *g)
{
	struct linux_memory *m = &g->memory;

	m->image = (struct text_range){symtab_addr(g->symtab, "_text"), symtab_addr(g->symtab, "_end")};
	m->page_offset = find_part(g, "page_offset_base", PAGE_OFFSET);
	m->vmalloc = find_part(g, "vmalloc_base", VMALLOC_START);
	m->vmemmap = find_part(g, "vmemmap_base", VMEMMAP_START);
	m->pages_max = g->cr4 & X86_CR4_LA57 ? PAGES_MAX_L5 : PAGES_MAX_L4;
	linux_find_pages(g);
	linux_find_caches(g);
	linux_find_sheaves(g);
	linux_find_percpu(g);
}

bool guest_is_at(const struct guest *g, uint64_t gva, uint64_t gpa)
{
	uint64_t there;

	return guest_translate(g, gva, &there) == 0 && there == gpa;
}

/*
 * Returns true for pages of the image that the kernel has given to the page allocator: gaps between sections, init memory,
 * decrypted variables that a machine without memory encryption does not need, and the rest of the memory for early allocations
 * (mark_rodata_ro(), free_initmem(), mem_encrypt_free_decrypted_mem() and reserve_brk() in arch/x86). The image's mapping of
 * these pages remains, but their new owners use the direct map.
 */
static bool is_given_away(const struct guest *g, uint64_t gva, uint64_t gpa)
{
	static const char *const parts[][2] = {{"_etext", "__start_rodata"},
					       {"__end_rodata", "_sdata"},
					       {"__init_begin", "__init_end"},
					       {"__start_bss_decrypted_unused", "__end_bss_decrypted"},
					       {"__brk_base", "_end"}};

	if (linux_page_is_allocators(g, gpa))
		return true;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		uint64_t start = symtab_addr(g->symtab, parts[i][0]), end = symtab_addr(g->symtab, parts[i][1]);

		start = (start + X86_PAGE_SIZE - 1) & ~(uint64_t)(X86_PAGE_SIZE - 1);
		if (start && gva >= start && gva < end)
			return true;
	}
	return false;
}

uint64_t guest_mapped_at(const struct guest *g, uint64_t gpa)
{
	const struct linux_memory *m = &g->memory;
	uint64_t start, gva;

	/* The image is physically contiguous. */
	if (m->image.start && guest_translate(g, m->image.start, &start) == 0 && gpa >= start) {
		gva = m->image.start + (gpa - start);
		if (gva < m->image.end && !is_given_away(g, gva, gpa) && guest_is_at(g, gva, gpa))
			return gva;
	}
	gva = m->page_offset + gpa;
	return m->page_offset && guest_is_at(g, gva, gpa) ? gva : 0;
}

static void set_object(struct guest_memory *out, uint64_t gva, uint64_t start, uint64_t size)
{
	if (gva - start > UINT32_MAX || size > UINT32_MAX)
		return;
	out->object = start;
	out->object_size = (uint32_t)size;
	out->offset = (uint32_t)(gva - start);
}

/* Recognise a task's stack, of any task, by the magic word at its lowest address. The kernel uses it to detect overruns. */
static bool marked_stack(const struct guest *g, uint64_t gva, struct text_range *out)
{
	uint64_t start = gva & ~(g->stacks.size - 1), mark;

	*out = (struct text_range){start, start + g->stacks.size};
	return g->stacks.size && guest_read(g, start, &mark, sizeof(mark)) == 0 && mark == STACK_END_MAGIC;
}

static void set_stack(uint64_t gva, const struct text_range *stack, struct guest_memory *out)
{
	out->kind = GUEST_MEMORY_STACK;
	set_object(out, gva, stack->start, stack->end - stack->start);
}

static bool variable_at(const struct guest *g, uint64_t gva, struct guest_memory *out)
{
	if (gva >= g->memory.image.start && gva < g->memory.image.end) {
		out->kind = GUEST_MEMORY_KERNEL;
		guest_symbol_at(g, gva, &out->symbol);
	} else if (linux_module_symbol_at(g, gva, &out->symbol) == 0) {
		out->kind = GUEST_MEMORY_MODULE;
	} else {
		return false;
	}
	if (out->symbol.name[0])
		set_object(out, gva, out->symbol.addr, out->symbol.size);
	return true;
}

/* Handle a `gva` in the array of struct pages. In kernels with struct slab, the struct page of a slab is a struct slab. */
static bool page_info_at(const struct guest *g, uint64_t gva, uint32_t size, struct guest_memory *out)
{
	const struct linux_memory *m = &g->memory;
	uint64_t index = m->page.size ? (gva - m->vmemmap) / m->page.size : 0;
	struct guest_page page;
	const char *type = "page";

	if (!m->page.size || !m->vmemmap || gva < m->vmemmap || index >= m->pages_max || linux_page(g, index << 12, &page))
		return false;
	if (linux_page_is_slab(g, &page) && btf_sizeof(g->btf, "slab"))
		type = "slab";
	out->kind = GUEST_MEMORY_PAGE_INFO;
	set_object(out, gva, page.info, m->page.size);
	snprintf(out->type, sizeof(out->type), "%s", type);
	if (btf_path_at(g->btf, type, out->offset, size, out->member, sizeof(out->member)))
		out->member[0] = '\0';
	return true;
}

/* Handle a `gva` in the direct map of all RAM. */
static void direct_at(const struct guest *g, const struct guest_page_state *page, uint64_t gva, uint32_t size,
		      struct guest_memory *out)
{
	struct text_range stack;

	if (page->head_known && linux_page_is_slab(g, &page->head) && linux_slab_at(g, &page->head, gva, size, out))
		return;
	if (page->page_known && linux_page_is_table(g, &page->page))
		out->kind = GUEST_MEMORY_PAGE_TABLE;
	/*
	 * Look for a stack only if stacks are in the direct map. Vmapped stacks are not physically contiguous, so the pages
	 * that follow a page with STACK_END_MAGIC may not belong to the stack.
	 */
	else if (g->stacks.direct && marked_stack(g, gva, &stack))
		set_stack(gva, &stack, out);
	else
		out->kind = GUEST_MEMORY_PAGE;
}

/* Handle a `gva` whose page metadata says what it belongs to. */
static void mapped_at(const struct guest *g, const struct guest_page_state *page, uint64_t gva, uint32_t size,
		      struct guest_memory *out)
{
	const struct linux_memory *m = &g->memory;
	struct text_range stack;
	bool mapped;

	mapped = (m->vmalloc && gva >= m->vmalloc && gva < m->vmemmap) ||
		 (m->image.end && gva >= m->image.end && gva < MODULES_END);
	if (linux_percpu_at(g, gva, mapped && page->page_known ? &page->page : NULL, size, out))
		return;
	if (m->page_offset && gva >= m->page_offset && gva - m->page_offset == page->gpa)
		direct_at(g, page, gva, size, out);
	else if (mapped && marked_stack(g, gva, &stack))
		set_stack(gva, &stack, out);
	else if (mapped)
		out->kind = GUEST_MEMORY_VMALLOC;
	else
		page_info_at(g, gva, size, out);
}

void guest_memory_at(const struct guest *g, const struct x86_regs *regs, const struct guest_page_state *page, uint64_t gva,
		     uint32_t size, struct guest_memory *out)
{
	struct text_range stack;

	*out = (struct guest_memory){.cpu = -1};
	if (!x86_kernel_address(gva))
		out->kind = GUEST_MEMORY_USER;
	else if (g->stage != LINUX_READY)
		return;
	else if (linux_stack_at(g, regs, gva, &stack))
		set_stack(gva, &stack, out);
	else if (!variable_at(g, gva, out))
		mapped_at(g, page, gva, size, out);
}
