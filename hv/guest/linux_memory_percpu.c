// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Describes addresses in per-CPU memory (mm/percpu.c). This memory consists of chunks with one unit per CPU; the distances
 * between units are equal in all chunks. The units of the first chunk begin with the kernel's per-CPU variables. In every
 * chunk, a CPU's copy is at __per_cpu_offset[cpu] plus the variable's symbol, or plus the pointer that the allocation returned.
 * The kernel gives the unused end of each unit of the first chunk to the page allocator (pcpu_embed_first_chunk()), so slabs
 * can be there.
 */
#include <stdio.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"
#include "hv/guest/linux_memory_percpu.h"
#include "hv/guest/linux_names.h"

#define CPUS_MAX 8192	     /* highest NR_CPUS that x86-64 can be configured with */
#define UNIT_MAX (64u << 20) /* maximum size of a unit in bytes: bounds what a hostile guest can claim */
#define OFFSETS_AT_ONCE 64u  /* elements of __per_cpu_offset[] per read */

static uint64_t read_variable(const struct guest *g, const char *name, size_t size)
{
	uint64_t at = symtab_addr(g->symtab, name), value = 0;

	return at && guest_read(g, at, &value, size) == 0 ? value : 0;
}

/*
 * Returns how many bytes from the start of each unit of the first chunk are per-CPU memory: the variables, and the part after
 * them that pcpu_first_chunk manages. Returns the size of the whole unit if the size of this part is unknown.
 */
static uint32_t find_first_used(const struct guest *g, uint64_t least)
{
	const struct linux_percpu *p = &g->memory.percpu;
	uint64_t chunk = read_variable(g, "pcpu_first_chunk", sizeof(uint64_t)), base, pages, used;
	struct btf_member nr_pages;

	linux_find_member(g, "pcpu_chunk", "nr_pages", X86_PAGE_SIZE, &nr_pages);
	if (!chunk || linux_read_member(g, chunk, &p->chunk_base, &base) || linux_read_member(g, chunk, &nr_pages, &pages) ||
	    pages > UNIT_MAX / X86_PAGE_SIZE)
		return p->unit_size;
	used = base - p->first + pages * X86_PAGE_SIZE;
	return used >= least && used < p->unit_size ? (uint32_t)used : p->unit_size;
}

void linux_find_percpu(struct guest *g)
{
	struct linux_percpu *p = &g->memory.percpu;
	struct symbol offsets, start, end;
	uint64_t cpus, unit;

	*p = (struct linux_percpu){0};
	if (symtab_find(g->symtab, "__per_cpu_offset", &offsets) || symtab_find(g->symtab, "__per_cpu_start", &start) ||
	    symtab_find(g->symtab, "__per_cpu_end", &end) || end.addr <= start.addr || end.addr - start.addr > UNIT_MAX)
		return;
	unit = read_variable(g, "pcpu_unit_size", sizeof(uint32_t));
	cpus = read_variable(g, "nr_cpu_ids", sizeof(uint32_t));
	p->offsets = offsets.addr;
	p->start = start.addr;
	p->end = end.addr;
	p->unit_size = (uint32_t)(unit >= end.addr - start.addr && unit <= UNIT_MAX ? unit : end.addr - start.addr);
	p->cpus = (uint32_t)(cpus && cpus <= CPUS_MAX ? cpus : 0);
	p->first = read_variable(g, "pcpu_base_addr", sizeof(uint64_t));
	linux_find_member(g, "pcpu_chunk", "base_addr", X86_PAGE_SIZE, &p->chunk_base);
	p->first_used = find_first_used(g, end.addr - start.addr);
}

/*
 * Find the CPU whose unit of the first chunk has `gva` in its first `size` bytes. *symbol becomes the address that the
 * kernel's symbols give to a per-CPU variable at `gva`.
 */
static bool find_unit(const struct guest *g, uint64_t gva, uint32_t size, int *cpu, uint64_t *symbol)
{
	const struct linux_percpu *p = &g->memory.percpu;
	uint64_t offsets[OFFSETS_AT_ONCE];

	for (uint32_t at = 0; at < p->cpus; at += OFFSETS_AT_ONCE) {
		uint32_t n = p->cpus - at < OFFSETS_AT_ONCE ? p->cpus - at : OFFSETS_AT_ONCE;

		if (guest_read(g, p->offsets + at * sizeof(*offsets), offsets, n * sizeof(*offsets)))
			return false;
		for (uint32_t i = 0; i < n; i++) {
			if (gva - offsets[i] - p->start >= size)
				continue;
			*cpu = (int)(at + i);
			*symbol = gva - offsets[i];
			return true;
		}
	}
	return false;
}

/*
 * Do what find_unit() does, for a `gva` in a later chunk. `page` is the struct page of `gva`. The struct pages of a later chunk
 * point to its struct pcpu_chunk, which has the chunk's address.
 */
static bool find_later_unit(const struct guest *g, uint64_t gva, const struct guest_page *page, int *cpu, uint64_t *symbol)
{
	const struct linux_percpu *p = &g->memory.percpu;

	for (size_t i = 0; i < sizeof(g->memory.page.owner) / sizeof(g->memory.page.owner[0]) && p->first; i++) {
		uint64_t chunk = linux_member_value(page->copy, &g->memory.page.owner[i]), base;

		if (linux_read_member(g, chunk, &p->chunk_base, &base) || !x86_kernel_address(base) || base % X86_PAGE_SIZE ||
		    !find_unit(g, gva - base + p->first, p->unit_size, cpu, symbol))
			continue;
		*symbol += base - p->first;
		return true;
	}
	return false;
}

bool linux_percpu_at(const struct guest *g, uint64_t gva, const struct guest_page *page, uint32_t size,
		     struct guest_memory *out)
{
	const struct linux_percpu *p = &g->memory.percpu;
	uint64_t symbol;
	int cpu;

	if (!find_unit(g, gva, p->first_used, &cpu, &symbol) && !(page && find_later_unit(g, gva, page, &cpu, &symbol)))
		return false;
	out->kind = GUEST_MEMORY_PER_CPU;
	out->cpu = cpu;
	if (symbol - p->start < p->end - p->start ? guest_symbol_at(g, symbol, &out->symbol)
						  : linux_module_symbol_at(g, symbol, &out->symbol))
		return true;
	out->offset = (uint32_t)(symbol - out->symbol.addr);
	out->object = gva - out->offset;
	out->object_size = (uint32_t)out->symbol.size;
	if (g->btf && !out->symbol.module[0] &&
	    btf_variable_at(g->btf, out->symbol.name, out->offset, size, out->type, sizeof(out->type), out->member,
			    sizeof(out->member)))
		out->type[0] = out->member[0] = '\0';
	return true;
}
