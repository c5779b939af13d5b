/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a Linux kernel keeps what, as found in its symbols and its BTF: plain data, filled in once when the kernel's text is
 * final, and only read from then on. Offsets and sizes are in bytes. A struct btf_member of size 0 is a member that is not
 * known.
 */
#ifndef OUTRIDER_GUEST_LINUX_LAYOUT_H
#define OUTRIDER_GUEST_LINUX_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/btf/btf.h"

#define LINUX_EXCEPTION_STACKS_MAX 8
#define LINUX_UNKNOWN UINT64_MAX /* an offset that is not known */

/* Guest-virtual addresses, or offsets, from `start` up to but not including `end`. */
struct text_range {
	uint64_t start, end;
};

/* Where the kernel's stacks are (linux_stack.c). */
struct linux_stacks {
	/* The size of a task's stack and of an interrupt stack. */
	uint64_t size;
	/* The per-CPU offset of the pointer to the top of the CPU's interrupt stack, or LINUX_UNKNOWN. */
	uint64_t irq_top;
	/* The per-CPU offset of the pointer to the CPU's exception stacks, or LINUX_UNKNOWN. */
	uint64_t exceptions;
	/* The pointer to its stack in a struct task_struct. */
	struct btf_member task;
	/* Tasks' stacks lie in the direct map, because the kernel was built without CONFIG_VMAP_STACK. */
	bool direct;
	/* The exception stacks, as offsets from where the pointer at `exceptions` points to. */
	struct text_range exception[LINUX_EXCEPTION_STACKS_MAX];
	unsigned exception_count;
};

/* A page is of this type when the bits of its page_type that are set in `mask` have `value`. Mask 0: the type is not known. */
struct linux_page_type {
	uint32_t mask, value;
};

/* struct page and the structures that overlay it (linux_memory_page.c). All members lie within the first `size` bytes. */
struct linux_page_layout {
	/* The size of struct page, or 0 when nothing is known of pages. */
	uint32_t size;
	struct btf_member flags, type, head, cache, objects;
	/* Where a page of per-CPU memory may have the pointer to its chunk. */
	struct btf_member owner[2];
	/* The number of the bit in flags that a slab's pages have, or -1 when slab pages are told by their type instead. */
	int slab_flag;
	struct linux_page_type slab, table;
};

/* struct kmem_cache (linux_memory_slab.c). */
struct linux_cache_layout {
	struct btf_member name, size, object_size, left_pad, aliases;
};

/*
 * Per-CPU memory (linux_memory_percpu.c). It is made of chunks, and a chunk has one unit for each CPU. The units of the first
 * chunk hold the kernel's per-CPU variables.
 */
struct linux_percpu {
	/* The GVA of __per_cpu_offset[]. */
	uint64_t offsets;
	/* How many elements of __per_cpu_offset[] count, or 0 when nothing is known of per-CPU memory. */
	uint32_t cpus;
	/* The size of a unit. */
	uint32_t unit_size;
	/* The range of the variables' symbols. */
	uint64_t start, end;
	/* The GVA of the first chunk, or 0 when it is not known. */
	uint64_t first;
	struct btf_member chunk_base;
};

/* What is where in the kernel's half of the address space (Documentation/arch/x86/x86_64/mm.rst). */
struct linux_memory {
	/* The kernel image. */
	struct text_range image;
	/* The GVAs at which the direct map, the vmalloc area and the struct pages begin. 0: not known. */
	uint64_t page_offset, vmalloc, vmemmap;
	/* How many struct pages there may be at vmemmap. */
	uint64_t pages_max;
	struct linux_page_layout page;
	struct linux_cache_layout cache;
	struct linux_percpu percpu;
};

#endif
