/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by hv/guest/linux_*.c only: what is known of a Linux guest. */
#ifndef OUTRIDER_GUEST_LINUX_H
#define OUTRIDER_GUEST_LINUX_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "hv/guest/guest.h"
#include "symbols/btf/btf.h"
#include "symbols/modules/modules.h"
#include "symbols/unwind/orc.h"

enum linux_stage {
	LINUX_SEARCHING, /* no kernel seen yet */
	LINUX_BOOTING,	 /* found; its text may still change */
	LINUX_READY,
};

#define LINUX_RANGES_MAX 16
#define LINUX_EXCEPTION_STACKS_MAX 8
#define LINUX_UNKNOWN UINT64_MAX
#define LINUX_FINAL_IDT 0xfffffe0000000000ull /* the start of the CPU entry area, where the IDT is read-only to all CPUs */

struct text_range {
	uint64_t start, end;
};

/* Where the kernel's stacks are to be found (linux_stack.c). */
struct linux_stacks {
	uint64_t size;		/* of a task's and of an interrupt stack */
	uint64_t irq_top;	/* per-CPU offset of the pointer to the interrupt stack's top, or LINUX_UNKNOWN */
	uint64_t exceptions;	/* the same of the pointer to the exception stacks */
	struct btf_member task; /* the pointer in task_struct; size 0: not known */
	bool direct;		/* tasks' stacks are known to be where all RAM is mapped: built without CONFIG_VMAP_STACK */
	struct text_range exception[LINUX_EXCEPTION_STACKS_MAX]; /* offsets from where that points to */
	unsigned exception_count;
};

/* Pages of a type have value in the bits of page_type that are in mask; mask 0: not known. */
struct linux_page_type {
	uint32_t mask, value;
};

/* struct page and what overlays it (linux_memory_page.c); size 0 of a member: there is none. All lie within `size`. */
struct linux_page_layout {
	uint32_t size; /* of struct page; 0: nothing is known of pages */
	struct btf_member flags, type, head, cache, objects;
	struct btf_member owner[2]; /* where a page of per-CPU memory may have a pointer to its chunk */
	int slab_flag;		    /* bit in flags that slab pages have, or -1: they have a type, */
	struct linux_page_type slab, table;
};

/* struct kmem_cache (linux_memory_slab.c). */
struct linux_cache_layout {
	struct btf_member name, size, object_size, left_pad, aliases;
};

/* Per-CPU memory (linux_memory_percpu.c): a chunk has a unit for each CPU; the first chunk has the variables. */
struct linux_percpu {
	uint64_t offsets;    /* GVA of __per_cpu_offset[], and */
	uint32_t cpus;	     /* how many of its elements count; 0: nothing is known */
	uint32_t unit_size;  /* bytes */
	uint64_t start, end; /* of the variables, as symbols have them */
	uint64_t first;	     /* GVA of the first chunk; 0: not known */
	struct btf_member chunk_base;
};

/* What is where in the kernel's half of the address space (Documentation/arch/x86/x86_64/mm.rst). */
struct linux_memory {
	struct text_range image;
	uint64_t page_offset, vmalloc, vmemmap; /* 0: not known */
	uint64_t pages_max;			/* struct pages that there may be at vmemmap */
	struct linux_page_layout page;
	struct linux_cache_layout cache;
	struct linux_percpu percpu;
};

struct loaded_module {
	struct guest_module m;
	uint64_t address;	     /* of its struct module */
	struct text_range unsafe[2]; /* its .noinstr.text and .kprobes.text */
	struct orc_table orc;	     /* count 0: none */
	bool seen;		     /* in the list walked last */
	bool retired;		     /* reported as gone, kept for its names */
	size_t charge;		     /* its part of module_bytes */
	atomic_bool going;	     /* its text is being freed */
};

struct guest {
	struct target *target;
	enum linux_stage stage;
	struct symtab *symtab;
	const char *source; /* "vmlinux or System.map", or GUEST_OWN_TABLES */
	char refused[512];  /* why not the user's file, or not the guest's tables; "" if they are */
	struct guest_symbol_files files;
	bool from_file;
	struct btf *btf; /* NULL: the kernel has none */
	unsigned misses; /* looks in kernel mode that did not show the kernel */
	uint64_t slide;
	uint64_t cr3, cr4; /* kernel page tables */
	char banner[256];

	uint8_t build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_len; /* 0: not known */

	struct text_range excluded[LINUX_RANGES_MAX];
	unsigned excluded_count;

	/* Per-CPU offsets and structure offsets; 0 size or ~0 offset: not known. */
	uint64_t current_task, preempt_count;
	struct btf_member pid, comm;

	struct linux_stacks stacks;
	struct linux_memory memory;
	struct text_range kernel_text;
	struct orc_format orc_format;
	struct orc_table orc; /* of the kernel; count 0: none */

	struct guest_reader reader;

	pthread_rwlock_t modules_lock; /* guards the list below; written by guest_poll_modules() only */
	struct loaded_module **modules;
	size_t module_count;
	atomic_uint_least64_t modules_version;
	size_t module_bytes; /* of their symbols */
	uint64_t next_generation;
	uint64_t modules_seen; /* modules_stamp() of the list as last walked */
};

/*
 * linux_search.c: find the kernel with CPU 0 as `regs` say: its symbols, slide and banner. 1: found; 0: not yet; -1: err, there
 * is none that could be used, or the symbols the user gave are another one's.
 */
int linux_search(struct guest *g, const struct x86_regs *regs, struct err *err);

/* linux_search.c: read the kernel's build id. */
void linux_find_build_id(struct guest *g);

/* linux_exclude.c: collect the ranges once symbols are known. */
void linux_find_excluded(struct guest *g);

/* linux_context.c: look up where `current` and the preemption count are. */
void linux_find_context(struct guest *g);

/* Offset in the per-CPU area: a symbol of its own, or since 6.2 a member of pcpu_hot; LINUX_UNKNOWN: none. */
uint64_t linux_percpu_offset(const struct guest *g, const char *symbol, const char *hot_member);

/* linux_stack.c */
void linux_find_stacks(struct guest *g);

/* The stack that has `gva`, of those that the CPU with these registers may be on: its task's and its own. */
bool linux_stack_at(const struct guest *g, const struct x86_regs *regs, uint64_t gva, struct text_range *out);

/* linux_memory.c: look up what tells memory apart. */
void linux_find_memory(struct guest *g);

/* The type's member within `limit` bytes, a word at most; else size 0. */
void linux_find_member(const struct guest *g, const char *type, const char *path, uint32_t limit, struct btf_member *out);

/* Its value in a copy of the structure; of a bit-field, that. */
uint64_t linux_member_value(const uint8_t *copy, const struct btf_member *m);

/* Its value in the guest's structure at `gva`. 0 or -1. */
int linux_read_member(const struct guest *g, uint64_t gva, const struct btf_member *m, uint64_t *value);

/* linux_memory_page.c */
void linux_find_pages(struct guest *g);
int linux_page(const struct guest *g, uint64_t gpa, struct guest_page *out);
bool linux_page_is_slab(const struct guest *g, const struct guest_page *head);
bool linux_page_is_table(const struct guest *g, const struct guest_page *page);

/* linux_memory_slab.c: fill in an object of the slab with this head, `gva` in the direct map. False: no slab after all. */
void linux_find_caches(struct guest *g);
bool linux_slab_at(const struct guest *g, const struct guest_page *head, uint64_t gva, uint32_t size, struct guest_memory *out);

/* linux_memory_types.c: the struct that a cache's objects are, if they are one: perhaps that of the cache's own name. */
struct linux_cache_type {
	const char *type;
	const char *tail; /* the last member, of which objects may have only a part; or NULL */
};

struct linux_cache_type linux_cache_type(const char *cache);

/* linux_memory_percpu.c: fill in per-CPU memory; `page`: of `gva`, or NULL. False: it is none. */
void linux_find_percpu(struct guest *g);
bool linux_percpu_at(const struct guest *g, uint64_t gva, const struct guest_page *page, uint32_t size,
		     struct guest_memory *out);

/* linux_unwind.c: the unwind tables of the kernel; those of a module whose struct module is at `address`. */
void linux_find_unwind(struct guest *g);
void linux_find_module_unwind(const struct guest *g, uint64_t address, struct orc_table *out);

/* linux_modules.c; the symbol, of a function or a variable, with `addr` in any module's own table: 0 or -1. */
void linux_free_modules(struct guest *g);
int linux_module_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

#endif
