/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by hv/guest/linux_*.c only: what is known of a Linux guest. */
#ifndef OUTRIDER_GUEST_LINUX_H
#define OUTRIDER_GUEST_LINUX_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "hv/guest/guest.h"
#include "symbols/btf.h"
#include "symbols/modules.h"
#include "symbols/orc.h"

enum linux_stage {
	LINUX_SEARCHING, /* no kernel seen yet */
	LINUX_BOOTING,	 /* found; its text may still change */
	LINUX_READY,
};

#define LINUX_RANGES_MAX 16
#define LINUX_EXCEPTION_STACKS_MAX 8
#define LINUX_UNKNOWN UINT64_MAX

struct text_range {
	uint64_t start, end;
};

/* Where the kernel's stacks are to be found (linux_stack.c). */
struct linux_stacks {
	uint64_t size;		/* of a task's and of an interrupt stack */
	uint64_t irq_top;	/* per-CPU offset of the pointer to the interrupt stack's top, or LINUX_UNKNOWN */
	uint64_t exceptions;	/* the same of the pointer to the exception stacks */
	struct btf_member task; /* the pointer in task_struct; size 0: not known */
	struct text_range exception[LINUX_EXCEPTION_STACKS_MAX]; /* offsets from where that points to */
	unsigned exception_count;
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

/* linux_unwind.c: the unwind tables of the kernel; those of a module whose struct module is at `address`. */
void linux_find_unwind(struct guest *g);
void linux_find_module_unwind(const struct guest *g, uint64_t address, struct orc_table *out);

/* linux_modules.c */
void linux_free_modules(struct guest *g);

#endif
