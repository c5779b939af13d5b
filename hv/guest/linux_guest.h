/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a Linux guest: struct guest, shared by the files hv/guest/linux*.c only. */
#ifndef OUTRIDER_GUEST_LINUX_GUEST_H
#define OUTRIDER_GUEST_LINUX_GUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/guest/guest.h"
#include "hv/guest/linux_layout.h"
#include "symbols/modules/modules.h"
#include "symbols/unwind/orc.h"

enum linux_stage {
	LINUX_SEARCHING, /* no kernel has been seen yet */
	LINUX_BOOTING,	 /* the kernel is found, and its text may still change */
	LINUX_READY,	 /* the text is final, and what must be known of the kernel is known */
};

#define LINUX_RANGES_MAX 16

/* A module that is, or lately was, in the guest's list of modules. */
struct loaded_module {
	struct guest_module m;
	/* The GVA of its struct module. */
	uint64_t address;
	/* Its .noinstr.text and its .kprobes.text. */
	struct text_range unsafe[2];
	/* Its unwind table; count 0: it has none. */
	struct orc_table orc;
	/* The module is in the list that was walked last. */
	bool seen;
	/* The module was reported as gone. It is kept because its names are still needed for what was caught in it. */
	bool retired;
	/* What this module adds to module_bytes of struct guest. */
	size_t charge;
	/* The guest is freeing the module's text. */
	atomic_bool going;
};

/*
 * Written by guest_new() and guest_poll() until the stage is LINUX_READY. Later only the fields from modules_lock on change, as
 * said there.
 */
struct guest {
	struct target *target;
	enum linux_stage stage;
	struct symtab *symtab;
	/* Where the symbols are from: a path, or GUEST_OWN_TABLES. */
	const char *source;
	/* Why the symbols that were to be used, the user's file or the guest's tables, are not used. "": they are. */
	char refused[512];
	struct guest_symbol_files files;
	/* The symbols are a file's, not the guest's own tables. */
	bool from_file;
	/* NULL: the kernel has no BTF. */
	struct btf *btf;
	/* The value of system_state from which on the text is final. */
	int64_t running_state;
	/* How many looks at a CPU in kernel mode did not show the kernel. */
	unsigned misses;
	uint64_t slide;
	/* The kernel's own page tables. */
	uint64_t cr3, cr4;
	char banner[256];

	uint8_t build_id[MODULE_BUILD_ID_MAX];
	/* In bytes; 0: the build id is not known. */
	size_t build_id_len;

	/* Text that must carry no sample points. */
	struct text_range excluded[LINUX_RANGES_MAX];
	unsigned excluded_count;

	/* Per-CPU offsets, or LINUX_UNKNOWN. */
	uint64_t current_task, preempt_count;
	/* Members of struct task_struct. comm.size 0: neither is known. */
	struct btf_member pid, comm;
	/* task_struct's count of RCU sections. Size 0: the kernel keeps none (CONFIG_PREEMPT_RCU=n), or it is not known. */
	struct btf_member rcu_nesting;

	struct linux_stacks stacks;
	struct linux_memory memory;
	struct text_range kernel_text;
	/* size 0: the kernel has no unwind tables that can be read. */
	struct orc_format orc_format;
	/* The kernel's unwind table; count 0: it has none. */
	struct orc_table orc;

	/* guest_read() for readers in symbols/. */
	struct guest_reader reader;
	/* The same for what guest_poll() and guest_poll_modules() read. From guest_cancel_polls() on it reads nothing. */
	struct guest_reader poll_reader;
	atomic_bool polls_cancelled;

	/*
	 * Guards the list of modules and what it points to, except for `seen`, `retired` and `charge`, which belong to
	 * guest_poll_modules(). Only guest_poll_modules() takes it for writing.
	 */
	pthread_rwlock_t modules_lock;
	struct loaded_module **modules;
	size_t module_count;
	/* Changes whenever a module is added to the list or removed from it. */
	atomic_uint_least64_t modules_version;
	/* The bytes that the symbols of all modules take. Only guest_poll_modules() uses this. */
	size_t module_bytes;
	/* The generation that the next loaded module gets. Only guest_poll_modules() uses this. */
	uint64_t next_generation;
	/* modules_stamp() of the list as it was last walked. Only guest_poll_modules() uses this. */
	uint64_t modules_seen;
	/* Of that list, modules are left to be added. Only guest_poll_modules() uses this. */
	bool modules_left;
};

#endif
