/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses and structure layouts of a Linux kernel, from its symbols and BTF. Plain data, filled in once when the kernel's
 * text is final, and read-only after that. Offsets and sizes are in bytes. A struct btf_member with size 0 is unknown.
 */
#ifndef OUTRIDER_GUEST_LINUX_LAYOUT_H
#define OUTRIDER_GUEST_LINUX_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/btf/btf.h"

#define LINUX_EXCEPTION_STACKS_MAX 8
#define LINUX_UNKNOWN UINT64_MAX /* an unknown offset */

/* GVAs or offsets [start, end). */
struct text_range {
	uint64_t start, end;
};

/* The kernel's stacks (linux_stack.c). */
struct linux_stacks {
	/* Size of a task stack, and of an interrupt stack. */
	uint64_t size;
	/* Per-CPU offset of the pointer to the top of the CPU's interrupt stack, or LINUX_UNKNOWN. */
	uint64_t irq_top;
	/* Per-CPU offset of the pointer to the CPU's exception stacks, or LINUX_UNKNOWN. */
	uint64_t exceptions;
	/* Member of task_struct: the address of the task's stack. */
	struct btf_member task;
	/*
	 * Members of task_struct: its link in the list of all processes, and its stack pointer, which is valid while the task
	 * is on no CPU. Size 0: unknown.
	 */
	struct btf_member tasks, sp;
	/* Member of vm_struct: the address of its area. Size 0: unknown. */
	struct btf_member area;
	/* Task stacks are in the direct map: the kernel was built without CONFIG_VMAP_STACK. */
	bool direct;
	/* The range of each exception stack, in bytes from the address to which the pointer at `exceptions` points. */
	struct text_range exception[LINUX_EXCEPTION_STACKS_MAX];
	unsigned exception_count;
};

/* A page has this type if page_type & mask == value. mask 0: unknown. */
struct linux_page_type {
	uint32_t mask, value;
};

/*
 * struct page, and the structures that the kernel overlays on it, such as struct slab (linux_memory_page.c). All members are
 * within the first `size` bytes.
 */
struct linux_page_layout {
	/* Size of struct page, or 0 if unknown. */
	uint32_t size;
	struct btf_member flags, type, head, cache, objects;
	/* The count of a slab's objects that are not on its own list of free objects. */
	struct btf_member inuse;
	/* The bit that is set while a CPU owns the slab. */
	struct btf_member frozen;
	/* `free`: the pointer to the first object of a slab's list of free objects. `refs`: the count of a page's users. */
	struct btf_member free, refs;
	/* Members that may hold the pointer from a page of per-CPU memory to its chunk. */
	struct btf_member owner[2];
	/* Offset of the list_head (`lru`) by which a free page is on a list, or 0 if unknown. */
	uint32_t list;
	/* Offset of the list_head by which a slab is on a list of its NUMA node, or 0 if unknown. */
	uint32_t slab_list;
	/* Number of the bit in `flags` that marks slab pages, or -1 if slab pages are marked by their page type. */
	int slab_flag;
	/* Number of the bit in `flags` that marks pages which the page allocator does not own (PG_reserved), or -1 if unknown.
	 */
	int reserved_flag;
	struct linux_page_type slab, table, buddy;
};

/*
 * Where the sheaves of a slab cache are (linux_sheaves.c): a sheaf (struct slab_sheaf) has an array of pointers to free
 * objects, and a NUMA node keeps its sheaves in lists of its barn (struct node_barn).
 */
struct linux_sheaf_layout {
	/*
	 * `cpu`: member of kmem_cache, the per-CPU offset of a CPU's struct slub_percpu_sheaves. `of_cpu`: members of the
	 * latter struct that point to sheaves; size 0: no such member.
	 */
	struct btf_member cpu, of_cpu[3];
	/*
	 * Members of struct slab_sheaf. `count`: the number of objects; size 0: the layout is unknown. `objects`: offset of the
	 * array of pointers to objects. `link`: offset of the list_head by which the sheaf is on a list.
	 */
	struct btf_member count;
	uint32_t objects, link;
	/*
	 * The array of kmem_cache with an element for each NUMA node: its offset, the size of an element, and the number of
	 * elements. `by_pointer`: an element is a pointer to the node's struct, not the struct itself.
	 */
	uint32_t nodes, node_size, node_count;
	bool by_pointer;
	/*
	 * `barn`: member of a node's struct, the pointer to the node's barn. `lists`: offsets, in the struct of a barn, of the
	 * two lists of sheaves: lists[0] has the full sheaves, lists[1] the empty ones.
	 */
	struct btf_member barn;
	uint32_t lists[2];
};

/* struct kmem_cache (linux_memory_slab.c). */
struct linux_cache_layout {
	struct btf_member name, size, object_size, left_pad, aliases;
	/*
	 * Members of kmem_cache: the offset, in a free object, of the pointer to the next free object, and the key that encodes
	 * this pointer (CONFIG_SLAB_FREELIST_HARDENED).
	 */
	struct btf_member free_offset, random;
	/*
	 * `cpu_slab`: member of kmem_cache, the per-CPU offset of struct kmem_cache_cpu. `cpu_free`: member of that struct, the
	 * pointer to the first object of the CPU's list of free objects.
	 */
	struct btf_member cpu_slab, cpu_free;
	/*
	 * An object may be on a CPU's list and on its slab's list for a moment, while the CPU has turned interrupts off: up to
	 * Linux 5.14, deactivate_slab() in mm/slub.c clears the CPU's list last.
	 */
	bool shared_lists;
	/* The kernel keeps free objects in sheaves (since Linux 6.18). */
	bool sheaves;
	struct linux_sheaf_layout sheaf;
};

/*
 * Per-CPU memory (linux_memory_percpu.c). It consists of chunks with one unit per CPU. The units of the first chunk hold the
 * kernel's per-CPU variables.
 */
struct linux_percpu {
	/* GVA of __per_cpu_offset[]. */
	uint64_t offsets;
	/* Number of valid elements of __per_cpu_offset[], or 0 if per-CPU memory is unknown. */
	uint32_t cpus;
	/*
	 * `unit_size`: distance between units, in bytes. `first_used`: how many bytes of each unit of the first chunk, from the
	 * unit's start, are per-CPU memory.
	 */
	uint32_t unit_size, first_used;
	/* The range of the symbols of per-CPU variables: [start, end). */
	uint64_t start, end;
	/* GVA of the first chunk of per-CPU memory, or 0 if unknown. */
	uint64_t first;
	struct btf_member chunk_base;
};

/* Layout of the kernel half of the address space (Documentation/arch/x86/x86_64/mm.rst). */
struct linux_memory {
	/* The kernel image. */
	struct text_range image;
	/* GVAs at which the direct map, the vmalloc area and the array of struct pages begin. 0: unknown. */
	uint64_t page_offset, vmalloc, vmemmap;
	/* Maximum number of struct pages at vmemmap. */
	uint64_t pages_max;
	struct linux_page_layout page;
	struct linux_cache_layout cache;
	struct linux_percpu percpu;
};

/* The ring buffer of printk() (linux_log.c): where it is, and how its structures are laid out. */
struct linux_log {
	/* GVA of struct printk_ringbuffer. 0: the log cannot be read. */
	uint64_t ring;
	/* GVAs of the descriptors, of the array of struct printk_info, and of the text ring. */
	uint64_t descs, infos, data;
	/* log2 of the number of descriptors, and log2 of the size of the text ring in bytes. */
	unsigned count_bits, size_bits;
	/* Bytes of struct prb_desc and of struct printk_info. */
	uint32_t desc_size, info_size;
	/* Of struct printk_ringbuffer: the id of the newest descriptor. */
	struct btf_member head_id;
	/* Of struct prb_desc. */
	struct btf_member state, begin, next;
	/* Of struct printk_info. */
	struct btf_member seq, ts_ns, text_len, caller, facility;
};

/* A reader's position in the log. All zero at first. */
struct linux_log_position {
	bool started;
	/* The id of the descriptor that is read next. */
	uint64_t next_id;
};

#endif
